/* public/public.h - the begin and the end of every public function; used by src/public alone.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PUBLIC_H
#define JSP_PUBLIC_H

#include <errno.h>
#include <pthread.h>

#include "session/alone/callable.h"
#include "session/session.h"

/* State of the calling thread that a public function restores. Cancellation is disabled,
 * because a cancelled thread would keep a lock; and a signal that interrupts the function
 * must leave our locks alone. */
struct public_host {
    int saved_errno, cancel;
};

/* Enter a public function that is cold: disable cancellation, and keep errno. Return what
 * public_leave restores. */
static inline struct public_host public_enter(void)
{
    struct public_host host = { .saved_errno = errno };
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &host.cancel);
    jsp_callable_not(1);
    return host;
}

/* Leave the function, and restore the thread's state. */
static inline void public_leave(const struct public_host *host)
{
    jsp_callable_not(-1);
    pthread_setcancelstate(host->cancel, NULL);
    errno = host->saved_errno;
}

/* Return the record of which the host sees the first part. */
static inline struct jsp_thread *public_thread(jsprof_thread *t)
{
    return (struct jsp_thread *)(void *)t;
}

#endif
