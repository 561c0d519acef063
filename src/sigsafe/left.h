/* sigsafe/left.h - how much stack is left for the code that asks.
 *
 * The handler runs where the kernel puts it: on the thread's alternate signal stack, which may
 * have 2 KiB, or else on the stack that it interrupted, which may be a coroutine's. Code
 * that steps over the end of a stack overwrites what is there. So nothing of a sample runs
 * before the room for it was looked at.
 *
 *                    SIGPROF handler   owner thread
 *   jsp_stack_left         yes             yes
 *   jsp_stack_need         yes             yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_LEFT_H
#define JSP_SIGSAFE_LEFT_H

#include "sample.h"

/* In bytes below the frame of jsp_sample_handle. tests/check/rooms.sh adds up the frames of the
 * functions on each way down and compares. */
enum {
    JSP_STACK_ENTRY = 256,  /* the handler looks, counts and returns */
    JSP_STACK_COUNT = 1024, /* it reads the clocks and sets the timer */
    JSP_STACK_NEED = 4096,  /* it takes a sample; jsprof_backtrace */
    JSP_STACK_HOST = 8192,  /* more for the host's callbacks: what jsprof.h promises them */
};

/* Bytes from `here` down to the end of the stack that the caller runs on: `alt`, or the one
 * that `sp` is in; less than 0 where the kernel's frame is over the end already. PTRDIFF_MAX:
 * nobody knows that stack. */
ptrdiff_t jsp_stack_left(const struct jsp_sampled *self, const stack_t *alt, uintptr_t sp,
                         uintptr_t here);

/* What a sample needs, with the callbacks that the thread has. */
static inline ptrdiff_t jsp_stack_need(const struct jsp_sampled *self)
{
    bool calls_host = self->vm.walk_sigsafe || self->vm.host.decode_sigsafe;
    return JSP_STACK_NEED + (calls_host ? JSP_STACK_HOST : 0);
}

#endif
