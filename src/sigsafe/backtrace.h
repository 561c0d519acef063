/* sigsafe/backtrace.h - the calling thread's stack on demand; see jsprof_backtrace.
 * The thread itself, also in a signal handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_BACKTRACE_H
#define JSP_SIGSAFE_BACKTRACE_H

#include "sample.h"

/* Where the call came from. */
struct jsp_backtrace_from {
    const void *ucontext;
    struct jsp_regs_core here; /* when ucontext is NULL; and so is */
    stack_t alt;               /* the alternate signal stack, if the caller is on it */
};

/* Frames written, or -EBUSY: this thread was interrupted in a sample or in another; or
 * -EINVAL: the session was closed; or -EOVERFLOW: too little stack is left. VM frames are
 * left out while the thread is paused. */
int jsp_backtrace(struct jsp_sampled *self, const struct jsp_backtrace_from *from,
                  jsprof_backtrace_frame *out, uint32_t max);

/* As text; 0 or a negative errno. */
int jsp_backtrace_print(struct jsp_sampled *self, const struct jsp_backtrace_from *from, int fd);

#endif
