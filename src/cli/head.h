/* cli/head.h - the head of an answer, and its end: which capture, and how much of it counts.
 *
 * SPDX-License-Identifier: MIT
 *
 * Samples and value are those that the command's options chose. Text and JSON print them from
 * the same struct, so they can not differ from the rows, nor from each other.
 */
#ifndef JSP_CLI_HEAD_H
#define JSP_CLI_HEAD_H

#include "cli/table.h"

struct cli_head {
    const struct cli_capture *capture;
    uint64_t samples, value; /* that count */
};

/* The columns of a struct cli_head. */
extern const struct cli_column cli_head_columns[];

/* All that `unit` may be; ends with NULL. */
extern const char *const cli_head_units[];

/* The head of a command that does not count samples itself. CLI_OK, or CLI_FAILED: no memory,
 * which is reported. */
int cli_head_of(struct cli_head *out, struct cli_capture *c);

/* The first lines of text: what ran, how much of it counts, for how long. */
void cli_heading(const struct cli_head *h);

/* The last lines of text: what shares are of, and what was lost. */
void cli_closing(const struct cli_head *h);

#endif
