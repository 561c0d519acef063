/* session/alone/alone.h - a session without a drain thread: JSPROF_NO_THREAD.
 *
 * The handler does the drain's work in the sampled thread. It does so after a sample,
 * some times a second or when the ring fills up, if the interrupted code could have called
 * any function (callable.h).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALONE_ALONE_H
#define JSP_SESSION_ALONE_ALONE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct jsp_sampled;
struct jsp_session_setup;
struct jsp_thread;
struct jsprof;

struct jsp_alone { /* of a session */
    bool is_possible;                 /* constant after open: the host asked for it, too */
    const struct jsp_thread *drained; /* under `lock`: the thread whose handler drains */
    _Atomic uint64_t passed_ns;       /* time of the last pass in a handler, or of a try */
};

/* Drain in the handler, if it is time to and allowed there. */
typedef void jsp_alone_sigsafe_fn(struct jsp_sampled *self, const void *ucontext);

/* Return the C library's variable that is not 0 while this process has one thread, or NULL if it
 * has none or there are more threads by now. */
const volatile char *jsp_alone_flag(void);

/* Find out whether the session can do without a drain thread. Return the function that its
 * threads call after each sample, or NULL. */
jsp_alone_sigsafe_fn *jsp_alone_open(struct jsp_alone *alone,
                                     const struct jsp_session_setup *setup);

/* Return true if a run that begins now, or continues, needs no drain thread. The caller
 * holds `lock`. */
bool jsp_alone_serves(const struct jsprof *p);

#endif
