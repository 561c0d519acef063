/* session/unseen.h - why a signal that is due does not come.
 *
 * The mask of a thread and the owner of a signal are looked at from outside, and only when
 * an expiration is late: on the usual path nobody asks.
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

/* Later than this a signal is not because of the processor's tick: two of the slowest. */
enum { JSP_UNSEEN_LATE_NS = 25000000 };

/* Does the signal wait for this thread to unblock it? False where nobody can tell: the
 * thread is gone, or is another one and there is no /proc. */
bool jsp_unseen_waits(pid_t tid, int signo);

/* Is the signal ignored, or another handler's? One that was put on top of ours and passes
 * on what it does not know is another one too: only a signal that is late says more. */
bool jsp_unseen_is_taken(int signo);

#endif
