/* session/child.h - sessions that continue in the child of a fork, in files of their own.
 *
 * Only on request (JSPROF_CHILDREN). The session is made anew in the same memory, so the
 * host's pointers to it and to the thread that forked stay valid. It keeps: the names,
 * the host's entries, descriptor and walker, interpreters' ranges, the numbers of
 * counters, and registered code; the last two are lost if another thread was changing
 * them during the fork. It loses listings, and the counts of calls. The data of the
 * parent's other threads stay where they are, untouched and never freed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CHILD_H
#define JSP_SESSION_CHILD_H

#include "session.h"

/* Continue the session. Call this after a fork, in the child's one thread, when the locks
 * of the process are new. If the session cannot continue, it stays as without this: each
 * call returns -ECHILD. */
void jsp_child_go_on(struct jsprof *p);

#endif
