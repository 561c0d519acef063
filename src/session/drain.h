/* session/drain.h - from the threads' rings to the capture, while the session runs.
 *
 *                     drain thread    with p->lock, no drain thread
 *   jsp_drain_pass        yes                 yes
 *   jsp_drain_tell        yes                 yes
 *   jsp_drain_look        yes                 yes
 *   jsp_drain_here         -                  yes, also in the handler: see offer.h
 *   jsp_drain_spawn        -                  yes
 *   jsp_drain_write        -                  yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_DRAIN_H
#define JSP_SESSION_DRAIN_H

#include "session.h"

/* Pop what is there, forget threads that are gone. False: the output is full and
 * more waits. `dropping`: the file takes nothing, so do not wait for it. */
bool jsp_drain_pass(struct jsprof *p, bool dropping);

/* Look again at what the process has loaded, and forget what no sample and no
 * handler from before this moment can ask for. It reads files: the drain does so
 * without the session's lock. */
void jsp_drain_look(struct jsprof *p, uint64_t quiet_ns);

/* Append what the losses are now. */
void jsp_drain_tell(struct jsprof *p, const char *state);

/* What all threads together came to, as of the last flush: a line of JSP_LOSSES_LINE bytes for
 * the reserved place in the file. With `lock` held. Returns its bytes. */
size_t jsp_drain_total(const struct jsprof *p, const char *state, char *line);

/* Write what waits, from a host's thread. */
int jsp_drain_write(struct jsprof *p, int (*flush)(struct jsp_output *));

/* A pass, and a flush where one is due, while the session runs. */
void jsp_drain_here(struct jsprof *p, uint64_t now);

/* Start the thread: it passes and flushes until p->quit. -EAGAIN. */
int jsp_drain_spawn(struct jsprof *p);

#endif
