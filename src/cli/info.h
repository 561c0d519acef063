/* cli/info.h - the parts of `jsprof info` that speak of threads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_INFO_H
#define JSP_CLI_INFO_H

#include "table.h"
#include "threads.h"

/* Print a line for each thread: samples, rate reached, time, losses by cause. CLI_OK, or
 * CLI_FAILED: no memory, which is reported. */
int cli_info_threads(const struct cli_capture *c);

/* The same for programs: open the table, then add a row for each thread of a capture.
 * cli_info_rows returns CLI_OK, or CLI_FAILED where the counts of a thread do not add up,
 * which is reported. */
extern const struct cli_document cli_info_document;
struct cli_table *cli_info_open(const struct cli_form *form);
int cli_info_rows(const struct cli_capture *c, struct cli_table *t);

/* Check that the counts of a thread add up. CLI_OK, or CLI_FAILED, which is reported. */
int cli_info_adds_up(const struct cli_capture *c, const struct jsp_account_thread *t);

/* Return how the samples are stored: "plain", "compact" or "partly compact". */
extern const char *const cli_info_forms[]; /* ends with NULL */
const char *cli_info_form(const struct jsp_profile *p);

/* Check that every missing sample is counted, and print the result. CLI_OK or CLI_FAILED. */
int cli_info_balance(const struct cli_capture *c);

#endif
