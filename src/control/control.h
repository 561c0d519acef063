/* control/control.h - lets other processes of the user look at the sessions of this one, and
 * record them: the server of the control socket. docs/control.md describes what is said there.
 *
 * One thread sleeps until a peer comes. It begins with the first session that asks for it and ends
 * with the last one. `lock` guards the list of sessions; the thread holds it while it works for a
 * peer, so a session stays open during that time. It is taken before any lock of a session.
 *
 * The child of a fork closes its copies of the descriptors before fork returns there. It listens
 * again, under its own name, if a session continues there (JSPROF_CHILDREN).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CONTROL_CONTROL_H
#define JSP_CONTROL_CONTROL_H

#include "jsprof.h"

/* Let peers see this session, whose program calls itself `vm` (may be NULL). Listen, if nobody
 * does. Return 0 or a negative errno, which is explained. */
int jsp_control_join(jsprof *p, const char *vm);

/* Name the program's interpreter anew. Any session; it may not have joined. */
void jsp_control_name(const jsprof *p, const char *vm);

/* Before the session is closed: end its recording, and let no peer see it. Any session; it may not
 * have joined. */
void jsp_control_leave(const jsprof *p);

#endif
