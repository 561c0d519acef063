/* session/gone.h - threads that ended without detaching, and without a destructor.
 *
 * A thread that ends by the raw system call (or is killed by a sandbox) takes nothing with
 * it: its record, its ring and its timer stay. So the drain asks the kernel once a second
 * whether each thread still is. One that is not has its timer deleted, its samples are kept
 * as those of any thread that detached, and the session forgets it.
 *
 * All calls under the session's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_GONE_H
#define JSP_SESSION_GONE_H

#include "session.h"

/* Let go of all that are gone; the next pass pops their last samples. */
void jsp_gone_collect(struct jsprof *p);

/* The same, but at most once a second. */
void jsp_gone_look(struct jsprof *p, uint64_t now_ns);

#endif
