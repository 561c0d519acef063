/* sigsafe/resume.h - the C stacks of coroutines: the stack on which the thread runs, and
 * the places where its resumers left theirs.
 *
 * The code that resumes a coroutine calls jsprof_stack_switch first, and waits in its
 * function until the coroutine comes back. So the walk can continue with the registers of
 * that moment and the stack as it is, when it has reached the coroutine's end.
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

/* Do the work of jsprof_stack_switch; `here` are the registers in it. */
void jsp_resume_switch(struct jsp_sampled *self, const jsprof_cstack *stack,
                       const struct jsp_regs_core *here);

/* Continue a walk that ended on the stack on which the thread runs, with the stacks of
 * its resumers, as far as they are known. Return how the whole walk ended: if a part gave
 * up, the reason of the first such part. */
enum jsp_unwind_stop jsp_resume_walk(struct jsp_sampled *self, const struct jsp_unwind_map *map,
                                     struct jsp_unwound *out, enum jsp_unwind_stop stop);

#endif
