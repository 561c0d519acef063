/* cli/dump_rows.h - the frames of a capture, for programs.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_DUMP_ROWS_H
#define JSP_CLI_DUMP_ROWS_H

#include "head.h"

/* The words of `jsprof dump` for the types of frames, by enum jsp_wire_type. */
extern const char *const cli_dump_types[17];

extern const struct cli_document cli_dump_document;

/* Print a row for each frame of the open capture. CLI_OK or CLI_FAILED. */
int cli_dump_rows(struct cli_capture *c, const struct cli_form *form);

#endif
