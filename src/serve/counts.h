/* serve/counts.h - exact calls of a process that runs, for `jsprof calls PROCESS`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_COUNTS_H
#define JSP_SERVE_COUNTS_H

#include "remote.h"

/* Switch counting on or off. CLI_OK; or CLI_FAILED, which is reported. */
int serve_counts_switch(const char *command, pid_t pid, bool is_on);

/* Take what it has counted so far, as a capture in memory: *fd is the caller's. CLI_OK; or
 * CLI_FAILED, which is reported, and *fd is -1. */
int serve_counts_take(const char *command, pid_t pid, int *fd);

#endif
