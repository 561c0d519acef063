/* cli/task_stack.h - the functions on whose stack a task was made, as one text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_TASK_STACK_H
#define JSP_CLI_TASK_STACK_H

#include "analyze/tasks.h"

struct cli_task_stack {
    const struct jsp_tasks *tasks;
    struct jsp_profile *profile;
    struct jsp_profile_frame *frames; /* room for a stack */
    const char *between;              /* two names */
    bool is_vm;                       /* those of the VM alone, if there are any */
    int most;                         /* so many, then "..."; 0: all */
};

/* Return the names of the stack's functions, leaf first, or an empty text if the stack is
 * JSP_TASK_NONE. The caller frees it. NULL: no memory, which is noted. */
char *cli_task_stack(const struct cli_task_stack *s, uint32_t stack);

#endif
