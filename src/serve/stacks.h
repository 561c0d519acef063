/* serve/stacks.h - `jsprof dump PID`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_STACKS_H
#define JSP_SERVE_STACKS_H

#include <sys/types.h>

#include "cli/table.h"

/* Print the stack of each attached thread of a process. Return the exit status. */
int serve_stacks(pid_t pid, const struct cli_form *form);

extern const struct cli_document serve_stacks_document;

#endif
