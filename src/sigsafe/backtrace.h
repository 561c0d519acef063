/* sigsafe/backtrace.h - the calling thread's stack on demand; see jsprof_backtrace. The
 * thread itself calls these functions, also from a signal handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_BACKTRACE_H
#define JSP_SIGSAFE_BACKTRACE_H

#include "sample.h"

/* The place from which a backtrace was asked for. */
struct jsp_backtrace_from {
    const void *ucontext;
    struct jsp_regs_core here; /* the caller's registers when ucontext is NULL */
    /* the alternate signal stack, if the caller runs on it and ucontext is NULL */
    stack_t alt;
};

/* Return the number of frames written, or
 *   -EBUSY      this thread was interrupted during a sample or during another backtrace,
 *   -EINVAL     the session was closed,
 *   -EOVERFLOW  too little stack is left.
 * The result has no VM frames while the thread is paused. */
int jsp_backtrace(struct jsp_sampled *self, const struct jsp_backtrace_from *from,
                  jsprof_backtrace_frame *out, uint32_t max);

/* Write the backtrace to `fd` as text. Return 0 or a negative errno. */
int jsp_backtrace_print(struct jsp_sampled *self, const struct jsp_backtrace_from *from, int fd);

/* Write the backtrace to `fd` as one line of JSON. Return 0 or a negative errno. */
int jsp_backtrace_json(struct jsp_sampled *self, const struct jsp_backtrace_from *from, int fd);

#endif
