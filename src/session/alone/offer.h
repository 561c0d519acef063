/* session/alone/offer.h - the drain's work in the handler of a sampled thread, for
 * programs that must have no thread of ours: JSPROF_NO_THREAD.
 *
 * The handler offers the moment after each sample. The offer is taken some times a
 * second, or when the ring fills up, if the interrupted code could have called any
 * function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALONE_OFFER_H
#define JSP_SESSION_ALONE_OFFER_H

#include "session/session.h"

/* Return true if a write to it always ends. A pipe or a terminal may take nothing for
 * ever, even with all signals blocked. */
bool jsp_offer_never_waits(int fd);

/* Return true if a run that begins now, or continues, needs no drain thread. The caller
 * holds `lock`. */
bool jsp_offer_serves(const struct jsprof *p);

/* The offer_sigsafe function of the session's threads. */
void jsp_offer_sigsafe(struct jsp_sampled *self, const void *ucontext);

#endif
