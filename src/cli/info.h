/* cli/info.h - the parts of `jsprof info` that speak of threads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_INFO_H
#define JSP_CLI_INFO_H

#include "cli/table.h"
#include "cli/threads.h"

/* A line for each thread: samples, rate reached, time, losses by cause. CLI_OK, or
 * CLI_FAILED: no memory, which has been said. */
int cli_info_threads(const struct cli_capture *c);

/* The same for programs: a table of them, and a row for each thread, with what was recorded.
 * cli_info_rows returns CLI_OK, or CLI_FAILED where they do not add up, which is reported. */
extern const struct cli_document cli_info_document;
struct cli_table *cli_info_open(const struct cli_form *form);
int cli_info_rows(const struct cli_capture *c, struct cli_table *t);

/* Of one thread; what does not add up is said. CLI_OK or CLI_FAILED. */
int cli_info_adds_up(const struct cli_capture *c, const struct jsp_account_thread *t);

/* "plain", "compact" or "partly compact": how the samples stand in the file. */
extern const char *const cli_info_forms[]; /* ends with NULL */
const char *cli_info_form(const struct jsp_profile *p);

/* Check that nothing went missing unsaid, and say so; CLI_OK or CLI_FAILED. */
int cli_info_balance(const struct cli_capture *c);

#endif
