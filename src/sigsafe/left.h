/* sigsafe/left.h - how many bytes of stack the calling code has left.
 *
 * The kernel runs the handler on the thread's alternate signal stack, which may have only
 * 2 KiB, or on the stack that it interrupted, which may be a coroutine's. Code that runs
 * past the end of a stack overwrites other memory. So the handler checks the room before
 * it takes any part of a sample.
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

/* Bytes below the frame of jsp_sample_handle. tests/check/rooms.sh adds up the frames of
 * the functions on each call path and compares. */
enum {
    JSP_STACK_ENTRY = 256,  /* the handler checks the room, counts and returns */
    JSP_STACK_COUNT = 1024, /* the handler reads the clocks and sets the timer */
    JSP_STACK_NEED = 4096,  /* the handler takes a sample; also for jsprof_backtrace */
    /* additional room for the host's callbacks, as jsprof.h promises */
    JSP_STACK_HOST = 8192,
};

/* Return the bytes from `here` down to the end of the stack that the caller runs on:
 * `alt`, or the stack that contains `sp`. Return a negative number if the kernel's frame
 * is past the end already, and PTRDIFF_MAX if that stack is unknown. */
ptrdiff_t jsp_stack_left(const struct jsp_sampled *self, const stack_t *alt, uintptr_t sp,
                         uintptr_t here);

/* Return the bytes that a sample needs, including the thread's callbacks. */
static inline ptrdiff_t jsp_stack_need(const struct jsp_sampled *self)
{
    bool calls_host = self->vm.walk_sigsafe || self->vm.host.decode_sigsafe;
    return JSP_STACK_NEED + (calls_host ? JSP_STACK_HOST : 0);
}

#endif
