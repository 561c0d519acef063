/* control/coming.h - descriptors on their way into this process: a connection's, one that came
 * over it, and one that a session takes over. The child of a fork is to have none of them.
 *
 * A fork waits until one has its place, or has lost it: the child closes those that have one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CONTROL_COMING_H
#define JSP_CONTROL_COMING_H

#include "peer.h"
#include "session/session.h"

/* Keep forks of this process away until jsp_coming_end. The handlers of fork call it, too. */
void jsp_coming_begin(void);

/* Let this process fork again. */
void jsp_coming_end(void);

/* Let the session take over what the peer passed, as `aim->fd`, and begin its recording. Return
 * 0, or a negative errno value. */
int jsp_coming_hand(struct jsp_peer *peer, jsprof *p, struct jsp_session_aim *aim);

/* In the child of a fork: close what was being taken over, whether the session has it already or
 * not. */
void jsp_coming_drop(void);

#endif
