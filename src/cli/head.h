/* cli/head.h - the head of a command's JSON: which command, of which capture.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_HEAD_H
#define JSP_CLI_HEAD_H

#include "cli/table.h"

struct cli_head {
    const char *command;
    const struct cli_capture *capture;
    uint64_t samples, value;
};

/* The columns of a struct cli_head; of the command alone. */
extern const struct cli_column cli_head_columns[], cli_head_command[];

/* All that `unit` may be; ends with NULL. */
extern const char *const cli_head_units[];

struct cli_head cli_head_of(const char *command, const struct cli_capture *c);

#endif
