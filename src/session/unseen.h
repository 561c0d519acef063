/* session/unseen.h - the reasons why a signal that is due does not come.
 *
 * The mask of a thread and the handler of a signal are read from outside, and only if an
 * expiration is late: the usual path costs nothing.
 *
 *                       any thread, with the session's lock
 *   jsp_unseen_waits             yes
 *   jsp_unseen_is_taken          yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_UNSEEN_H
#define JSP_SESSION_UNSEEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A signal later than this is not delayed by the processor's tick: two ticks of the
 * slowest. */
enum { JSP_UNSEEN_LATE_NS = 25000000 };

/* Return true if the signal waits for this thread to unblock it. Return false if that is
 * unknown: the thread has ended, or it is another one and there is no /proc. */
bool jsp_unseen_waits(pid_t tid, int signo);

/* Return true if the signal is ignored or has another handler. A handler that was put on
 * top of ours and passes signals on counts as another one, too; the caller decides by the
 * delay. */
bool jsp_unseen_is_taken(int signo);

#endif
