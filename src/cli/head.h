/* cli/head.h - the first and last lines of an answer: the capture, and how much of it counts.
 *
 * Samples and value are sums over the samples that the command's options select. Text and
 * JSON print them from the same struct, so they can not differ from the rows, nor from each
 * other.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_HEAD_H
#define JSP_CLI_HEAD_H

#include "table.h"

struct cli_head {
    const struct cli_capture *capture;
    uint64_t samples, value; /* of the selected samples */
};

/* The columns of a struct cli_head. */
extern const struct cli_column cli_head_columns[];

#define CLI_HEAD_IDLE_SAMPLES "Samples that do not count, because they wait in an event loop."
#define CLI_HEAD_IDLE "The value of these idle samples."

/* All values that `unit` may have; ends with NULL. */
extern const char *const cli_head_units[];

/* Fill the head for a command that does not count samples itself. Return CLI_OK, or
 * CLI_FAILED without memory, which is reported. */
int cli_head_of(struct cli_head *out, struct cli_capture *c);

/* Print a line about the idle time that does not count, if there is any. */
void cli_head_idle(const struct cli_head *h);

/* Return the command line of the chosen process, or the host's name; borrowed. */
struct cli_span cli_head_command(const struct cli_capture *c);

/* Print the line with the number of samples, their time and its span, and the chosen thread: in
 * Markdown without its name, which could be Markdown. */
void cli_head_counts(const struct cli_head *h, bool is_markdown);

/* Print the first lines of text: program, number of samples, their time and its span. */
void cli_heading(const struct cli_head *h);

/* Print the lines on the capture's sampled allocations: how many, and of how much. */
void cli_allocations(const struct cli_capture *c);

/* Print the last lines of text: the basis of all shares, the idle time beside it, and the
 * losses. */
void cli_closing(const struct cli_head *h);

#endif
