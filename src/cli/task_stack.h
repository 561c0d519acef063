/* cli/task_stack.h - the functions on whose stack a task was made, as one text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_TASK_STACK_H
#define JSP_CLI_TASK_STACK_H

#include "jsprof-read.h"

/* The stack of a link of a chain; or, with `chains` NULL, of one of the tasks. */
struct cli_task_stack {
    const jsprof_read_chains *chains;
    uint64_t chain, link;
    const jsprof_read_tasks *tasks;
    uint32_t task;
    const char *between; /* two names */
    bool is_vm;          /* those of the VM alone, if there are any */
    int most;            /* so many, then "..."; 0: all */
};

/* Return the names of the stack's functions, leaf first, or an empty text without a stack. The
 * caller frees it. NULL: no memory, which is noted. */
char *cli_task_stack(const struct cli_task_stack *s);

/* Print the kind and name of a task. */
struct cli_style;
void cli_task_name(const struct cli_style *s, const char *kind, const char *name);

#endif
