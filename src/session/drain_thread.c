/* session/drain_thread.c - the records of one thread: its samples and its tasks. See drain.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "drain.h"

#include <stdlib.h>

enum { DRAIN_SAME = 127 }; /* passes in a row that leave out a thread without news */

static uint64_t drain_head(const struct jsp_thread *t)
{
    /* ORDER: relaxed. Only the drain stores it. */
    return atomic_load_explicit(&t->sampled.ring.head, memory_order_relaxed);
}

/* Keep the record of a thread that sleeps. */
static void drain_remember(struct jsp_thread *t, const struct jsp_record *record)
{
    size_t bytes = jsp_record_size(record) * sizeof(uint64_t);
    void *old = t->last;
    t->last = NULL; /* first, because a fork may copy any moment */
    free(old);      /* a new one: its size differs from stack to stack */
    t->last = malloc(bytes);
    if (t->last)
        memcpy(t->last, record, bytes);
}

/* Return it with the time and the weight of one that repeats it, or NULL if it was not kept. */
static const struct jsp_record *drain_repeat(struct jsp_thread *t,
                                             const struct jsp_record *again)
{
    if (!t->last)
        return NULL;
    t->last->time_ns = again->time_ns;
    t->last->cpu_ns = again->cpu_ns;
    t->last->weight = again->weight;
    if (t->last->state.state == JSP_STATE_ASLEEP)
        t->last->state.asleep_ns = again->state.asleep_ns;
    return t->last;
}

/* Keep the sample that a tick offers. One that repeats it has its weight, or there is none. */
static bool drain_is_offer(struct jsp_thread *t, const struct jsp_record *r)
{
    if (r->stack || r->number || r->taker != JSP_TAKER_OFFER)
        return false;
    drain_remember(t, r);
    return true;
}

/* Write the record that was popped. One that repeats the looker's last sample has a time and a
 * weight of its own. */
static void drain_record(struct jsprof *p, struct jsp_thread *t, struct jsp_output_from from)
{
    const struct jsp_record *r = (const void *)p->popped;
    if (r->stack) {
        if (!p->fold_ns)
            jsp_output_stack(&p->output, r);
        return;
    }
    if (r->taker == JSP_TAKER_AGAIN) {
        r = drain_repeat(t, r);
        if (!r) { /* there was no memory to keep it */
            jsp_tallies_lose(&p->output.tallies, from.tally,
                             ((const struct jsp_record *)p->popped)->weight);
            return;
        }
    } else if (r->taker == JSP_TAKER_LOOKER) {
        drain_remember(t, r);
    }
    jsp_output_record(&p->output, r, from);
}

/* Return for how much of the weight the thread waited for a processor. */
static uint32_t drain_waited(const struct jsp_record *r, const struct jsp_thread *t)
{
    if (r->taker == JSP_TAKER_AGAIN)
        return t->last && t->last->state.state == JSP_STATE_ASLEEP ? r->waited : 0;
    return r->state.state == JSP_STATE_RUNNING || r->taker == JSP_TAKER_LOOKER ? r->waited : 0;
}

/* Write the record as one of a thread that waits, and keep it as one that sleeps. */
static void drain_as_waiting(struct jsprof *p, struct jsp_thread *t, struct jsp_output_from from)
{
    struct jsp_record *r = (void *)p->popped;
    bool is_again = r->taker == JSP_TAKER_AGAIN, is_kept = is_again || r->taker == JSP_TAKER_LOOKER;
    r->state.state = JSP_STATE_WAITING;
    if (is_again)
        t->last->state.state = JSP_STATE_WAITING;
    drain_record(p, t, from);
    if (is_kept && t->last)
        t->last->state.state = JSP_STATE_ASLEEP;
}

/* Write a sample as two, if the thread waited for a processor for a part of its weight. */
static void drain_parts(struct jsprof *p, struct jsp_thread *t, struct jsp_output_from from)
{
    struct jsp_record *r = (void *)p->popped;
    uint32_t waited = drain_waited(r, t);
    t->counts.expirations += r->weight;
    r->weight -= waited;
    if (p->fold_ns && p->setup.clock == JSP_CLOCK_CPU)
        r->cpu_ns = 0; /* readers know: a period for each expiration */
    if (r->weight || !waited)
        drain_record(p, t, from);
    if (!waited)
        return;
    r->cpu_ns = r->weight ? 0 : r->cpu_ns; /* the first one has it */
    r->weight = waited;
    drain_as_waiting(p, t, from);
}

/* A ring had so many words. */
static void drain_note_used(struct jsprof *p, uint64_t used)
{
    if (used > p->fullest)
        p->fullest = used;
}

/* Write the records of the thread's tasks. Return false if the output is full. */
static bool drain_tasks(struct jsprof *p, struct jsp_thread *t, bool dropping)
{
    struct jsp_tasks_made made;
    const struct jsp_tasks_rec *rec = &made.rec;
    jsp_tasks_counts(&t->tasks, &t->task_counts);
    jsp_tasks_counts_subtract(&t->task_counts, &t->tasks_before);
    uint64_t used = jsp_ring_used(&t->tasks.ring);
    drain_note_used(p, used);
    for (uint64_t most = used / JSP_TASKS_REC_SHORT; most; most--) {
        if (!dropping && jsp_output_is_full(&p->output))
            return false;
        if (!jsp_tasks_pop(&t->tasks, &made))
            break;
        if (rec->tag == JSP_TASKS_STALL) {
            jsp_stall_note(&t->stalls, rec->begin_ns, rec->end_ns);
            continue;
        }
        if (p->fold_ns)
            continue;
        jsp_output_task(&p->output, t->tid, &made);
    }
    return true;
}

void jsp_drain_open(struct jsprof *p, struct jsp_thread *t)
{
    if (!jsp_running_depth(&t->sampled.running) && !t->open_written.n)
        return;
    struct jsp_running_copy open = { 0 };
    if (p->fold_ns || jsp_tasks_stall(&p->tasks) || !jsp_running_copy(&t->sampled.running, &open) ||
        memcmp(&open, &t->open_written, sizeof open) == 0)
        return;
    jsp_tasks_out_open(&p->output.tasks, &p->output.writer, t->tid, &open);
    t->open_written = open;
}

/* Drop a sample that is in no long turn. */
static void drain_drop(struct jsprof *p, struct jsp_thread *t)
{
    const struct jsp_record *r = (const void *)p->popped;
    t->counts.expirations += r->weight;
    t->counts.lost[JSP_LOST_QUICK] += r->weight;
    t->dropped += r->weight;
    if (r->taker == JSP_TAKER_LOOKER)
        drain_remember(t, r);
}

/* In stall mode, decide about the record that was read. Stacks and allocations are kept. */
static enum jsp_stall drain_stall(struct jsprof *p, const struct jsp_thread *t)
{
    const struct jsp_record *r = (const void *)p->popped;
    if (!jsp_tasks_stall(&p->tasks) || r->stack || r->number)
        return JSP_STALL_KEEP;
    enum jsp_stall is = jsp_stall_of(&t->stalls, r->time_ns, r->time_ns, p->running);
    if (is == JSP_STALL_KEEP)
        jsp_stall_explain(p, t, r->taker == JSP_TAKER_AGAIN && t->last ? t->last->task : r->task);
    return is;
}

/* In stall mode, find out which windows of the thread are long. Return false if the output is
 * full. */
static bool drain_windows(struct jsprof *p, struct jsp_thread *t, bool dropping)
{
    if (!jsp_tasks_stall(&p->tasks))
        return true;
    t->stalls.limit_ns = jsp_tasks_stall(&p->tasks);
    /* before the window is read: one that begins, or ends, meanwhile is younger */
    t->stalls.looked_ns = jsp_now_ns(CLOCK_MONOTONIC);
    t->stalls.open_ns = jsp_stalls_window(&t->tasks.stalls);
    return drain_tasks(p, t, dropping);
}

static uint32_t drain_news(const struct jsp_thread_link *link)
{
    /* ORDER: acquire, pairs with the looker's release: what it counted is seen by this pass. */
    return atomic_load_explicit(&link->news, memory_order_acquire);
}

bool jsp_drain_is_still(const struct jsp_thread_link *link)
{
    return link->is_known && link->seen == drain_news(link);
}

/* Return a number that grows with each record that the thread stores itself. */
static uint64_t drain_tails(const struct jsp_thread *t)
{
    /* ORDER: acquire, both, as in jsp_ring_pop: what was stored before is seen by this pass. */
    return atomic_load_explicit(&t->tasks.ring.tail, memory_order_acquire) +
           atomic_load_explicit(&t->sampled.ring.tail, memory_order_acquire); /* ORDER: above */
}

/* Return true if the thread has stored no sample, no task and no loss of them since the last
 * pass. Of a thousand threads that sleep, the other counters are as many pages. What these count,
 * mistakes of the host for example, is read after some such passes, and when somebody asks. */
static bool drain_is_same(const struct jsprof *p, struct jsp_thread_link *link)
{
    bool may_be = p->running && p->asked == p->served && !p->setup.allocs &&
                  !jsp_tasks_stall(&p->tasks) && !p->setup.drain_sigsafe &&
                  link->n_same < DRAIN_SAME;
    if (!may_be || !jsp_drain_is_still(link) ||
        (jsp_tasks_any(&p->tasks) && link->tails != drain_tails(link->thread)))
        return false;
    link->n_same++;
    return true;
}

/* Return true if no signal of the looker's is under way to the thread. Its counters, and its ring,
 * are read after this. */
static bool drain_is_idle(const struct jsprof *p, const struct jsp_thread *t)
{
    /* ORDER: acquire, pairs with the handler's exchange: if the handler took it, we see below
     * that it is inside, or all that it has stored. */
    bool is_owed = atomic_load_explicit(&t->sampled.owed, memory_order_acquire);
    return p->running && t->looker && t->owned && !is_owed && !t->unseen.so_far &&
           !jsp_sampled_inside(&t->sampled);
}

bool jsp_drain_thread(struct jsprof *p, struct jsp_thread_link *link, bool dropping)
{
    struct jsp_counts now;
    struct jsp_thread *t = link->thread;
    uint32_t news = drain_news(link);

    if (p->quiet && t != p->alone.drained &&
        (jsp_sampled_busy(&t->sampled) || jsp_sampled_inside(&t->sampled)))
        p->quiet = false;
    if (drain_is_same(p, link))
        return true;
    bool is_idle = drain_is_idle(p, t);
    struct jsp_output_from from = { t->tally, t->tid };
    uint64_t tails = drain_tails(t);
    link->is_known = false;
    link->n_same = 0;
    if (!jsp_thread_counts(t, !p->running, &now)) {
        p->quiet = false;
        drain_note_used(p, jsp_ring_used(&t->sampled.ring));
        drain_note_used(p, jsp_ring_used(&t->tasks.ring));
        return true; /* always seen inside the handler: try again next time */
    }
    if (!drain_windows(p, t, dropping))
        return false;
    drain_note_used(p, now.ring_tail - drain_head(t));
    uint64_t dropped = t->dropped;
    while (drain_head(t) < now.ring_tail) {
        if (!dropping && jsp_output_is_full(&p->output))
            return false;
        int n = jsp_ring_peek(&t->sampled.ring, p->popped, sizeof p->popped / 8);
        if (n <= 0)
            break;
        if (drain_is_offer(t, (const void *)p->popped)) {
            jsp_ring_skip(&t->sampled.ring);
            continue;
        }
        enum jsp_stall is = drain_stall(p, t);
        if (is == JSP_STALL_WAIT)
            return true; /* the counts stay those of the records before it */
        jsp_ring_skip(&t->sampled.ring);
        if (is == JSP_STALL_KEEP)
            drain_parts(p, t, from);
        else
            drain_drop(p, t);
    }
    now.lost[JSP_LOST_QUICK] += t->dropped - dropped;
    t->counts = now;
    link->labels_cut = now.labels_cut;
    link->is_fresh = true;
    if (!drain_tasks(p, t, dropping))
        return false;
    link->seen = news;
    link->tails = tails;
    link->is_known = is_idle;
    return true;
}
