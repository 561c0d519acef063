/* cli/info.h - the parts of `jsprof info` that speak of threads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_INFO_H
#define JSP_CLI_INFO_H

#include "cli/threads.h"

/* A line for each thread: samples, rate reached, time, losses by cause. */
void cli_info_threads(const struct cli_capture *c);

/* Check that nothing went missing unsaid, and say so; CLI_OK or CLI_FAILED. */
int cli_info_balance(const struct cli_capture *c);

#endif
