/* session/child.h - sessions that continue in the child of a fork, in files of their own.
 *
 * This happens only with JSPROF_CHILDREN. The child makes the session anew in the same
 * memory, so the host's pointers to it and to the thread that forked stay valid. The
 * session keeps the names, the host's entries, descriptor and walker, interpreters'
 * ranges, the numbers of counters, and registered code: data of which every moment is
 * consistent. It loses listings, and the counts of calls. The child never uses or frees
 * the data of the parent's other threads.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CHILD_H
#define JSP_SESSION_CHILD_H

#include "session.h"

/* Continue the session. Call this after a fork, in the child's one thread, when the locks
 * of the process are new. If the session cannot continue, each
 * call on it returns -ECHILD. */
void jsp_child_go_on(struct jsprof *p);

#endif
