/* session/live.h - the list of sessions, and the number of calls inside each.
 *
 * A thread may close a session while another one is inside a call on it, or closes it as
 * well. So each call that may take long is counted in and out. A close first marks the
 * session, so that later calls get an error, then waits for those inside. Once the
 * session is off the list, no call reads any of it. Frequent calls (marks, counters,
 * code) are not counted. Any thread.
 *
 * In the child of a fork the list is the parent's: calls on its sessions return -ECHILD.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_LIVE_H
#define JSP_SESSION_LIVE_H

#include "session.h"

/* The first of the list, for debuggers; live.c alone uses it. */
extern struct jsprof *_Atomic jsp_live_first;

/* Add a session, which is now complete. */
void jsp_live_add(struct jsprof *p);

/* Enter a call. Return 0, -EINVAL (no such session, or another thread closes it) or -ECHILD
 * (it is the parent's). */
int jsp_live_enter(struct jsprof *p);

/* Leave the call. The last one wakes a thread that closes the session. */
void jsp_live_leave(struct jsprof *p);

/* Begin the end of a session: the caller alone closes it, no thread is inside and none
 * can enter. Errors as enter. */
int jsp_live_end(struct jsprof *p);

/* Remove it from the list, after end, and before its file is closed and its memory
 * freed. */
void jsp_live_remove(const struct jsprof *p);

/* Call `each` for all sessions of the list, in the child of a fork, whose one thread
 * needs no lock. */
void jsp_live_each(void (*each)(struct jsprof *p));

#endif
