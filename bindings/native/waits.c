/* waits.c - what a thread does between two waits is a turn. See waits.h.
 *
 * SPDX-License-Identifier: MIT
 */
#undef _FORTIFY_SOURCE /* with it these functions have bodies in the system's headers */
#include "waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/select.h>

#define WAITS_EXPORT __attribute__((visibility("default")))

/* What a program calls that was compiled with _FORTIFY_SOURCE, and what older headers lack. */
WAITS_EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t bytes);
WAITS_EXPORT int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                             const sigset_t *mask, size_t bytes);
WAITS_EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int n,
                              const struct timespec *timeout, const sigset_t *mask);

static _Atomic bool waits_on;
static __thread jsprof_thread *waits_self;
static __thread bool waits_in_turn;

void native_waits_of(jsprof_thread *t)
{
    waits_self = t;
    waits_in_turn = false;
}

void native_waits_start(void)
{
    /* ORDER: relaxed. A thread that sees it late misses a turn, or hands over one too many. */
    atomic_store_explicit(&waits_on, true, memory_order_relaxed);
}

void native_waits_stop(void)
{
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(&waits_on, false, memory_order_relaxed);
}

static void waits_begin(void)
{
    /* ORDER: relaxed, as above. */
    bool is_on = waits_self && atomic_load_explicit(&waits_on, memory_order_relaxed);
    if (is_on && waits_in_turn)
        jsprof_turn_end(waits_self);
    waits_in_turn = false;
}

static void waits_end(void)
{
    waits_begin(); /* a signal handler that waited meanwhile has begun a turn */
    /* ORDER: relaxed, as above. */
    waits_in_turn = waits_self && atomic_load_explicit(&waits_on, memory_order_relaxed);
    if (waits_in_turn)
        jsprof_turn_begin(waits_self);
}

/* Define one that calls the next function of its name. */
#define WAITS(name, parameters, arguments)                                                \
    WAITS_EXPORT int name parameters                                                      \
    {                                                                                     \
        static int (*_Atomic known) parameters;                                           \
        /* ORDER: relaxed. All threads find the same function. */                         \
        int (*next) parameters = atomic_load_explicit(&known, memory_order_relaxed);      \
        if (!next) {                                                                      \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                    \
            /* ORDER: relaxed, as above. */                                               \
            atomic_store_explicit(&known, next, memory_order_relaxed);                    \
        }                                                                                 \
        if (!next) { /* an older libc */                                                  \
            errno = ENOSYS;                                                               \
            return -1;                                                                    \
        }                                                                                 \
        waits_begin();                                                                    \
        int result = next arguments;                                                      \
        waits_end();                                                                      \
        return result;                                                                    \
    }

WAITS(poll, (struct pollfd *fds, nfds_t n, int timeout), (fds, n, timeout))
WAITS(ppoll, (struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
      (fds, n, timeout, mask))
WAITS(select, (int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout),
      (n, in, out, bad, timeout))
WAITS(pselect, (int n, fd_set *in, fd_set *out, fd_set *bad, const struct timespec *timeout,
                const sigset_t *mask), (n, in, out, bad, timeout, mask))
WAITS(epoll_wait, (int epoll, struct epoll_event *events, int n, int timeout),
      (epoll, events, n, timeout))
WAITS(epoll_pwait, (int epoll, struct epoll_event *events, int n, int timeout,
                    const sigset_t *mask), (epoll, events, n, timeout, mask))
WAITS(epoll_pwait2, (int epoll, struct epoll_event *events, int n, const struct timespec *timeout,
                     const sigset_t *mask), (epoll, events, n, timeout, mask))
WAITS(__poll_chk, (struct pollfd *fds, nfds_t n, int timeout, size_t bytes),
      (fds, n, timeout, bytes))
WAITS(__ppoll_chk, (struct pollfd *fds, nfds_t n, const struct timespec *timeout,
                    const sigset_t *mask, size_t bytes), (fds, n, timeout, mask, bytes))
