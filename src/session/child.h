/* session/child.h - sessions that go on in the child of a fork, into files of their own.
 *
 * On request alone (JSPROF_CHILDREN). The session is made anew in the same memory, so that
 * the host's pointers to it and to the thread that forked stay good. Kept are: the names,
 * the host's entries, descriptor and walker, interpreters' ranges, the numbers of counters,
 * and registered code; of these two nothing, where another thread was changing them as the
 * fork came. Not kept are listings, and counting of calls. What the parent's other threads
 * had of it stays where it is, untouched and never freed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CHILD_H
#define JSP_SESSION_CHILD_H

#include "session.h"

/* After a fork, in the child's one thread, when the locks of the process are made anew. A
 * session that can not go on stays as it is without this: each call answers -ECHILD. */
void jsp_child_go_on(struct jsprof *p);

#endif
