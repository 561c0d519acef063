/* cli/schema.h - the JSON Schema of what a command prints with --json.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_SCHEMA_H
#define JSP_CLI_SCHEMA_H

#include "command.h"

/* Print the schema (draft 2020-12) of the documents of the command. Return the exit status. */
int cli_schema(const struct cli_command *c);

#endif
