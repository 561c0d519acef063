/* session/ending.h - the end of a session, and its memory. For session.c, when no other
 * thread uses the session any more.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ENDING_H
#define JSP_SESSION_ENDING_H

#include "session.h"

/* Free everything but the output, which is closed. */
void jsp_session_free(struct jsprof *p);

#endif
