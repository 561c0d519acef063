/* session/retarget.c - see session.h for the contract.
 *
 * What the host has registered stays: names, code, ranges of interpreters, listings, symbols,
 * counters and attached threads. Everything that says what the last file holds begins anew, and
 * so do the counts, which otherwise grow as long as a thread is attached.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drain.h"
#include "live.h"
#include "losses.h"
#include "process.h"
#include "signals.h"

/* The parts of an output that belong to one file. */
struct retarget_parts {
    struct jsp_writer writer;
    struct jsp_bundle *bundle;
    struct jsp_compact *compact; /* NULL: samples become SAMPLE frames */
};

static void retarget_free(const struct retarget_parts *parts)
{
    if (parts->bundle)
        jsp_bundle_close(parts->bundle);
    jsp_compact_close(parts->compact);
}

static int retarget_make(struct retarget_parts *parts, const struct jsp_session_aim *aim)
{
    bool folds = aim->fold_ns != 0, packs = aim->compact || folds;
    *parts = (struct retarget_parts){ .compact = packs ? jsp_compact_open(folds) : NULL };
    int err = packs && !parts->compact ? -ENOMEM : jsp_bundle_open(&parts->bundle);
    if (!err)
        err = aim->fd < 0 ? jsp_writer_open_nowhere(&parts->writer, getpid())
                          : jsp_writer_open(&parts->writer, aim->fd, getpid());
    parts->writer.is_locked = !err && aim->fold_ns; /* see jsp_keep_next */
    parts->writer.limit = aim->most_bytes;
    if (err)
        retarget_free(parts);
    return err;
}

/* Put the parts into the output, whose writer is closed. */
static void retarget_put(struct jsp_output *out, const struct retarget_parts *parts)
{
    jsp_natives_renew(&out->natives, parts->bundle);
    jsp_compact_close(out->compact);
    out->compact = parts->compact;
    out->writer = parts->writer;
}

/* Drop the tasks of the time without a file, and their stacks. */
static void retarget_tasks(struct jsprof *p, struct jsp_thread *t)
{
    struct jsp_tasks_made rec;
    uint64_t most = jsp_ring_used(&t->tasks.ring), stacks = jsp_ring_used(&t->sampled.ring);
    while (most-- && jsp_tasks_pop(&t->tasks, &rec))
        continue;
    while (stacks-- && jsp_ring_pop(&t->sampled.ring, p->popped, sizeof p->popped / 8) > 0)
        continue;
    jsp_tasks_counts(&t->tasks, &t->tasks_before);
    memset(&t->task_counts, 0, sizeof t->task_counts);
    memset(&t->tasks_written, 0, sizeof t->tasks_written);
    memset(&t->open_written, 0, sizeof t->open_written);
    t->dropped = 0;
}

/* Count from 0. The thread is not armed. */
static void retarget_thread(struct jsprof *p, struct jsp_thread *t)
{
    struct jsp_counts now;
    retarget_tasks(p, t);
    if (jsp_thread_counts(t, true, &now)) {
        jsp_counts_add(&t->before, &now);
        t->before.ring_tail = now.ring_tail;
    }
    memset(&t->counts, 0, sizeof t->counts);
    t->link->labels_cut = 0;
    memset(&t->written, 0, sizeof t->written);
    memset(t->armed_ns, 0, sizeof t->armed_ns);
    free(t->last);
    t->last = NULL;
}

static void retarget_counts(struct jsprof *p)
{
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        retarget_thread(p, t);
    p->output.tasks.first = jsp_counted(&p->tasks.last_task) + 1;
    memset(&p->gone, 0, sizeof p->gone);
    p->write_error = p->flush_error = 0;
    p->unwritten = (struct jsp_tally){ .kept = 0 };
    p->looks[0] = 0;
    p->labels_lost_before = jsp_counted(&p->arena.n_lost);
    p->stray_before = jsp_tags_stray();
    p->tags_gone_before = jsp_counted(&p->tasks.n_tags_gone);
    p->forks_before = jsp_process_forks();
}

static void retarget_setup(struct jsprof *p, const struct jsp_session_aim *aim)
{
    p->hz = p->given.hz = aim->hz;
    p->given.clock = p->setup.clock = aim->clock;
    p->given.looker = aim->looker;
    p->given.compact = aim->compact;
    p->fold_ns = aim->fold_ns;
    p->described = false;
    p->setup.period_ns = 1000000000u / aim->hz;
    p->setup.looker = NULL;
}

/* Begin another file, which takes over `aim->fd`. The session is stopped, the caller alone uses
 * its output, and the writer is closed. */
static int retarget(struct jsprof *p, const struct jsp_session_aim *aim)
{
    struct retarget_parts parts;
    uint64_t stall_ns = aim->stall_ns ? aim->stall_ns : p->given.stall_ns;
    int err = jsp_session_slots(p, stall_ns);
    if (!err)
        err = retarget_make(&parts, aim);
    if (err) {
        if (aim->fd >= 0)
            close(aim->fd);
        return err;
    }
    pthread_mutex_lock(&p->lock);
    retarget_put(&p->output, &parts);
    jsp_output_renew(&p->output);
    retarget_setup(p, aim);
    jsp_tasks_set_stall(&p->tasks, stall_ns);
    retarget_counts(p);
    jsp_calls_write_anew(&p->calls);
    pthread_mutex_unlock(&p->lock);
    return 0;
}

/* Direct the output to no file. Without memory the writer stays closed: it takes nothing. */
static void retarget_to_null(struct jsprof *p)
{
    const struct jsp_session_aim aim = { .fd = -1, .hz = p->hz, .clock = p->given.clock };
    int err = retarget(p, &aim);
    if (err)
        p->output.writer.error = err; /* of its close */
    jsp_marks_switch(&p->marks, false);
}

/* -- A recording ------------------------------------------------------------- */

/* Keep the output from all other threads, as if a drain had it. */
static void retarget_reserve(struct jsprof *p)
{
    pthread_mutex_lock(&p->lock);
    p->draining = true;
    pthread_mutex_unlock(&p->lock);
}

static void retarget_release(struct jsprof *p)
{
    pthread_mutex_lock(&p->lock);
    p->draining = false;
    p->served = p->asked;
    pthread_cond_broadcast(&p->served_cond);
    pthread_mutex_unlock(&p->lock);
}

static int retarget_to_file(struct jsprof *p, const struct jsp_session_aim *aim)
{
    retarget_reserve(p);
    jsp_writer_abandon(&p->output.writer);
    int err = retarget(p, aim);
    if (!err) {
        jsp_marks_switch(&p->marks, !aim->fold_ns);
        jsp_session_describe(p);
    } else {
        retarget_to_null(p);
    }
    retarget_release(p);
    return err;
}

/* Give up a recording that could not begin. */
static void retarget_undo(struct jsprof *p)
{
    retarget_reserve(p);
    jsp_writer_abandon(&p->output.writer);
    retarget_to_null(p);
    retarget_release(p);
}

int jsp_session_aim(struct jsprof *p, const struct jsp_session_aim *aim)
{
    int err = retarget_to_file(p, aim);
    if (err)
        return err;
    err = jsp_session_run(p);
    if (err)
        retarget_undo(p);
    p->recording = !err;
    return err;
}

int jsp_session_aim_end(struct jsprof *p)
{
    struct jsp_signals_hushed hushed;
    struct jsp_counts counts;
    jsp_session_halt(p);
    retarget_reserve(p);
    p->output.writer.limit = 0; /* what waits is bounded, and the end is worth it */
    jsp_session_last(p, &counts);
    jsp_signals_hush(&hushed);
    int err = jsp_session_complete(p, &counts);
    if (p->output.writer.is_locked && p->output.writer.error == -ESTALE) /* it is removed */
        p->given.keeper->stranded += jsp_tallies_sum(&p->output.tallies).lost;
    int closed = jsp_writer_close(&p->output.writer);
    jsp_signals_unhush(&hushed);
    retarget_to_null(p);
    retarget_release(p);
    p->recording = false;
    return err ? err : closed;
}

/* -- What there is ------------------------------------------------------------ */

static uint32_t retarget_threads(struct jsprof *p, bool unsampled)
{
    uint32_t n = 0;
    pthread_mutex_lock(&p->lock);
    for (const struct jsp_thread *t = p->threads; t; t = t->next) {
        /* ORDER: relaxed. A number that grows. */
        uint64_t tail = atomic_load_explicit(&t->sampled.ring.tail, memory_order_relaxed);
        n += t->owned && !(unsampled && tail != t->before.ring_tail);
    }
    pthread_mutex_unlock(&p->lock);
    return n;
}

int jsp_session_brief(struct jsprof *p, struct jsp_session_brief *out)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->change);
    *out = (struct jsp_session_brief){ .is_dormant = p->given.dormant, .is_wanted = p->wanted,
                                       .is_recording = p->recording && !p->keeping,
                                       .hz = p->hz, .clock = p->setup.clock };
    pthread_mutex_unlock(&p->change);
    out->threads = retarget_threads(p, false);
    jsp_live_leave(p);
    return 0;
}

uint32_t jsp_session_unsampled(struct jsprof *p)
{
    if (jsp_live_enter(p) < 0)
        return 0;
    uint32_t n = retarget_threads(p, true);
    jsp_live_leave(p);
    return n;
}
