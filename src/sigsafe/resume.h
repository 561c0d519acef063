/* sigsafe/resume.h - the C stacks of coroutines: which one the thread stands on, and where
 * those that resumed it were left.
 *
 * Who resumes a coroutine calls jsprof_stack_switch first, and waits in the function that
 * called it until the coroutine comes back. So its registers of that moment, with the
 * stack as it is, are where the walk goes on when it has reached the coroutine's end.
 *
 *                       SIGPROF handler   owner thread
 *   jsp_resume_switch         -               yes
 *   jsp_resume_walk          yes              yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_RESUME_H
#define JSP_SIGSAFE_RESUME_H

#include "sample.h"

/* See jsprof_stack_switch; `here` are the registers in it. */
void jsp_resume_switch(struct jsp_sampled *self, const jsprof_cstack *stack,
                       const struct jsp_regs_core *here);

/* A walk came to its end on the stack that the thread stands on: on with its resumers', as
 * far as they are known. Returns how the whole walk ended: if one of its parts had to give
 * up, why the first of them did. */
enum jsp_unwind_stop jsp_resume_walk(struct jsp_sampled *self, const struct jsp_unwind_map *map,
                                     struct jsp_unwound *out, enum jsp_unwind_stop stop);

#endif
