/* session/drain.h - the way from the threads' rings to the capture, while the session
 * runs.
 *
 *                     drain thread    with p->lock, no drain thread
 *   jsp_drain_pass        yes                 yes
 *   jsp_drain_report      yes                 yes
 *   jsp_drain_look        yes                 yes
 *   jsp_drain_thread      yes                 yes
 *   jsp_drain_open        yes                 yes
 *   jsp_drain_counts      yes                 yes
 *   jsp_drain_tally       yes                 yes
 *   jsp_drain_here         -                  yes, also in the handler: see alone/alone.h
 *   jsp_drain_spawn        -                  yes
 *   jsp_drain_write        -                  yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_DRAIN_H
#define JSP_SESSION_DRAIN_H

#include "session.h"

/* Pop all samples, and remove threads that have ended. Return false if the output is full
 * and more samples wait. `dropping`: the file takes nothing, so do not wait for it. */
bool jsp_drain_pass(struct jsprof *p, bool dropping);

/* A thread has left, and the next pass removes it. If there are so many, that pass comes
 * at once, so that the next threads can use their records. */
enum { JSP_DRAIN_LEFT = JSP_SPARES / 2 };
static inline void jsp_drain_left(struct jsprof *p, struct jsp_thread *t)
{
    t->owned = false;
    if (++p->n_left == JSP_DRAIN_LEFT)
        jsp_ask_ring(&p->ask);
}

/* Look again for loaded objects, and drop data that no sample and no handler from
 * before this moment can need. This reads files: the drain calls it without the
 * session's lock. */
void jsp_drain_look(struct jsprof *p, uint64_t quiet_ns);

/* Append the current losses. */
void jsp_drain_report(struct jsprof *p, const char *state);

/* Sum the counters over all threads, gone ones included, as of the last pass. The caller holds
 * `lock`. */
void jsp_drain_counts(const struct jsprof *p, struct jsp_counts *sum);

/* Return what became of the samples of all threads, gone ones included, as of the last pass
 * and the last flush. The caller holds `lock`. Waiting samples count as kept until the file
 * refuses data. */
struct jsp_tally jsp_drain_tally(const struct jsprof *p);

/* Write all waiting data, on a thread of the host. */
int jsp_drain_write(struct jsprof *p, int (*flush)(struct jsp_output *));

/* Make a pass, and a flush if one is due, while the session runs. */
void jsp_drain_here(struct jsprof *p, uint64_t now);

/* Start the thread: it makes passes and flushes until p->quit. Return 0 or -EAGAIN. */
int jsp_drain_spawn(struct jsprof *p);

/* -- drain_thread.c: drain everything up to one moment between two signals, so that the counts of
 * that moment and the samples in the capture agree. Return false if the output is full; they
 * agree then, too, as of an earlier moment. */
bool jsp_drain_thread(struct jsprof *p, struct jsp_thread_link *link, bool dropping);

/* Return true if the looker has sent the thread no signal, and has stored no sample, since a
 * pass that found none under way. */
bool jsp_drain_is_still(const struct jsp_thread_link *link);

/* Write the runs of a thread that have not ended, if they are others than the last time. */
void jsp_drain_open(struct jsprof *p, struct jsp_thread *t);

/* -- gone.c: threads that ended without detaching, and without a destructor.
 *
 * A thread that ends by the raw system call (or is killed by a sandbox) frees none of
 * its resources: its record, its ring and its timer remain. So once a second the drain
 * asks the kernel whether each thread still exists. Where there are hundreds, it asks about a
 * part of them, so that each has its turn within some seconds. For a thread that is gone, it
 * deletes the timer and keeps the samples as for a thread that detached; then the
 * session removes it. The caller holds the session's lock. */

/* Detach all threads that have ended; the next pass pops their last samples. */
void jsp_gone_collect(struct jsprof *p);

/* Do the same, but at most once a second, for a part of many threads. */
void jsp_gone_look(struct jsprof *p, uint64_t now_ns);

/* -- spawn.c: start `run(arg)` as a thread of that name, and return after `prepare(arg)`, which the
 * thread calls first. Return 0, -EAGAIN or -ENOMEM. The thread takes no signal of the host, and
 * has a stack of our choice: the default size is the host's, and may be 16 KiB (RLIMIT_STACK,
 * pthread_setattr_default_np). `prepare` takes no lock that the caller may hold. */
struct jsp_spawn {
    void *(*run)(void *arg);
    void *arg;
    const char *name;
    void (*prepare)(void *arg); /* or NULL */
};
int jsp_spawn(pthread_t *out, const struct jsp_spawn *what);

#endif
