/* sigsafe/backtrace.h - the calling thread's stack on demand; see jsprof_backtrace.
 * The thread itself, also in a signal handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_BACKTRACE_H
#define JSP_SIGSAFE_BACKTRACE_H

#include "sample.h"

/* Where the call came from: one of the two. */
struct jsp_backtrace_from {
    const void *ucontext;
    struct jsp_regs_core here; /* used when ucontext is NULL */
};

/* Frames written, or -EBUSY: this thread's handler was interrupted in a sample. */
int jsp_backtrace(struct jsp_sampled *self, const struct jsp_backtrace_from *from,
                  jsprof_backtrace_frame *out, uint32_t max);

/* As text; 0 or a negative errno. */
int jsp_backtrace_print(struct jsp_sampled *self, const struct jsp_backtrace_from *from, int fd);

#endif
