/* session/live.h - which sessions there are, and how many calls are inside each.
 *
 * A close may come while another thread is in a call on the session, or closes it as well.
 * So each call that may take long is counted in and out. A close marks the session first, so
 * that later calls get an error, then it waits for those inside. When it is off the list,
 * no call reads anything of it. Frequent calls (marks, counters, code) are not counted. Any
 * thread.
 *
 * In the child of a fork the list is the parent's: each session there answers -ECHILD.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_LIVE_H
#define JSP_SESSION_LIVE_H

#include "session.h"

/* The session is whole now. */
void jsp_live_add(struct jsprof *p);

/* -EINVAL: there is no such session, or another thread closes it; -ECHILD: it is the
 * parent's. */
int jsp_live_enter(struct jsprof *p);
void jsp_live_leave(struct jsprof *p);

/* The caller closes it: nobody else will, nobody is inside, nobody enters. Errors as enter. */
int jsp_live_end(struct jsprof *p);

/* Take it off the list, after end: before its file is closed, and its memory goes. */
void jsp_live_remove(const struct jsprof *p);

/* For each on the list, in the child of a fork, whose one thread needs no lock. */
void jsp_live_each(void (*each)(struct jsprof *p));

#endif
