/* session/alone/callable.h - a test whether a handler may call any function at the
 * interrupted place.
 *
 * A function must not be called from a signal handler if the interrupted code may be in
 * the middle of it: holding malloc's lock, or with a half-changed list. So if the program
 * counter is neither in the C library nor in the loader, and this thread is not inside of
 * our functions, a handler may call any function that the interrupted code may call. The
 * same holds if the thread waits in a system call around which no code holds a lock.
 *
 * All code between the program and the C library counts as the C library: each object to
 * which the name of a function that we call leads (jsp_callable_names), each preloaded
 * object, and all objects that those need. If the process has such an object, the answer is
 * no during every wait, because the object may hold a lock around any system call. The answer
 * is also no if the objects cannot be found.
 *
 * A handler that interrupted the C library, and is interrupted itself, looks harmless.
 * The caller has walked the stack and checks jsp_unwinder.n_crossed.
 *
 *                         handler   any thread
 *   jsp_callable_init        -         yes
 *   jsp_callable            yes        yes
 *   jsp_callable_not        yes        yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALONE_CALLABLE_H
#define JSP_SESSION_ALONE_CALLABLE_H

#include <stdbool.h>

/* Find these objects; only the first call does. Return false if it cannot be found out:
 * the program is linked statically, contains its allocator, or has more than 32 objects
 * between; or another thread forks now. */
bool jsp_callable_init(void);

/* Return true if a handler may call any function now. Before init it returns false. */
bool jsp_callable(const void *ucontext);

/* The names of all C library functions that we call, then NULL.
 *
 * A library that is loaded before the C library may replace any of them: an allocator,
 * fakeroot, a preload that counts writes. It may hold a lock of its own when it is
 * interrupted. So callable.c looks up where each name leads in this process.
 * tests/check/callable.sh proves on the object files that the list is complete. */
extern const char *const jsp_callable_names[];

/* Nonzero while the calling thread is inside one of our functions: +1 on entry, -1 on
 * return. */
extern _Thread_local volatile int jsp_callable_inside;

/* Enter (1) or leave (-1) a function of the library, on the calling thread. */
static inline void jsp_callable_not(int by)
{
    jsp_callable_inside = jsp_callable_inside + by;
}

#endif
