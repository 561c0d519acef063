/* session/alone/callable.h - could the code that a signal interrupted have called any function?
 *
 * What must not be called from a signal handler must not because the interrupted code may
 * be in the middle of it: holding malloc's lock, or with half of a list changed. So where
 * the program counter is neither in the C library nor in the loader, and this thread is not
 * inside of ours, a handler may call what a function called from there may call. So it may
 * where the thread waits in a system call, of those that nothing holds a lock around.
 *
 * Whatever is between the program and the C library counts as the C library: each object
 * where the name of a function that we call leads (callable_names.h), each that was
 * preloaded, and all that those need. With one of them in the process no wait counts, for
 * it may hold a lock around any. Where that can not be found out, the answer is no.
 *
 * A handler that interrupted the C library, and is interrupted itself, looks harmless: who
 * has walked the stack asks the walk (jsp_unwinder.n_crossed).
 *
 *                         handler   any thread
 *   jsp_callable_init        -         yes
 *   jsp_callable            yes        yes
 *   jsp_callable_not         -         yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALONE_CALLABLE_H
#define JSP_SESSION_ALONE_CALLABLE_H

#include <stdbool.h>

/* Find out where those are; the first call counts. False: it can not be found out, as in a
 * program that is linked statically, brings its allocator along, or has more than 32 objects
 * between; or now, because another thread forks. */
bool jsp_callable_init(void);

/* False also before init. */
bool jsp_callable(const void *ucontext);

/* Within one of our functions, by the calling thread: +1 on its way in, -1 out. */
extern _Thread_local volatile int jsp_callable_inside;

static inline void jsp_callable_not(int by)
{
    jsp_callable_inside = jsp_callable_inside + by;
}

#endif
