/* session/gone.h - threads that ended without detaching, and without a destructor.
 *
 * A thread that ends by the raw system call (or is killed by a sandbox) frees none of
 * its resources: its record, its ring and its timer remain. So once a second the drain
 * asks the kernel whether each thread still exists. For a thread that does not, it
 * deletes the timer and keeps the samples as for a thread that detached; then the
 * session removes it.
 *
 * The caller holds the session's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_GONE_H
#define JSP_SESSION_GONE_H

#include "session.h"

/* Detach all threads that have ended; the next pass pops their last samples. */
void jsp_gone_collect(struct jsprof *p);

/* Do the same, but at most once a second. */
void jsp_gone_look(struct jsprof *p, uint64_t now_ns);

#endif
