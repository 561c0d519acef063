/* session/alone/offer.h - the drain's work on a sampled thread, in the handler, where the program
 * shall have no thread of ours: JSPROF_NO_THREAD.
 *
 * The handler offers every moment behind a sample. It is taken some times a second, or when
 * the ring fills up, where the interrupted code could have called any function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALONE_OFFER_H
#define JSP_SESSION_ALONE_OFFER_H

#include "session/session.h"

/* A write to it ends by itself: a pipe or a terminal may take nothing for ever, and with all
 * signals blocked. */
bool jsp_offer_never_waits(int fd);

/* May a run that begins now, or goes on, do without a drain thread? With `lock` held. */
bool jsp_offer_serves(const struct jsprof *p);

/* struct jsp_sampled.offer_sigsafe of the session's threads. */
void jsp_offer_sigsafe(struct jsp_sampled *self, const void *ucontext);

#endif
