/* calls/read.c - see read.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read.h"

enum { READ_NAPS = 400, READ_SPINS = 200, READ_NAP_NS = 50000 };

void jsp_calls_cell_add(struct jsp_calls_cell *sum, const struct jsp_calls_cell *more)
{
    sum->calls += more->calls;
    sum->self += more->self;
    sum->total += more->total;
    sum->self_bytes += more->self_bytes;
    sum->total_bytes += more->total_bytes;
}

/* A version of the table, which every event changes: an event that does not change `seq`
 * advances `last` by its cost more than `time`. */
struct read_version {
    bool inside; /* an event is under way */
    uint32_t seq;
    uint64_t last, time;
};

static struct read_version read_version(const struct jsp_calls *c)
{
    struct read_version v;
    /* Q4. ORDER: acquire, all but the last: they pair with Q2, the event's stores are
     * visible. */
    v.inside = !atomic_load_explicit(&c->owner, memory_order_acquire);
    v.seq = atomic_load_explicit(&c->seq, memory_order_acquire);   /* ORDER: acquire, Q4 */
    v.last = atomic_load_explicit(&c->last, memory_order_acquire); /* ORDER: acquire, Q4 */
    v.time = jsp_counted(&c->time);
    return v;
}

static bool read_is_same(const struct jsp_calls *c, const struct read_version *v)
{
    /* Q3. ORDER: acquire, pairs with Q1: the loads above read no word of a later
     * event. */
    atomic_thread_fence(memory_order_acquire); /* ORDER: acquire, Q3 */
    struct read_version now = read_version(c);
    return !v->inside && !now.inside && v->seq == now.seq && v->last == now.last &&
           v->time == now.time;
}

/* -- One moment ---------------------------------------------------------------- */

struct read_moment {
    const struct jsp_calls *c;
    bool times, bytes; /* the mode is on now */
    uint64_t pending; /* ticks since the last event, which no row contains yet */
};

static const struct jsp_calls_epoch *read_epoch(const struct jsp_calls *c)
{
    /* ORDER: relaxed. The version check covers it. */
    uint32_t epoch = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    return &c->shared->epochs[epoch % JSP_CALLS_EPOCHS];
}

/* Return the time since the last event, up to now or to the end of the modes that the
 * thread knows. */
static uint64_t read_pending(const struct jsp_calls *c, const struct jsp_calls_horizon *h)
{
    const struct jsp_calls_epoch *epoch = read_epoch(c);
    /* ORDER: relaxed. The version check covers it. */
    uint32_t seen = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    if (!seen || h->epoch - seen >= JSP_CALLS_EPOCHS || !(epoch->modes & JSPROF_CALLS_TIME))
        return 0;
    /* ORDER: relaxed. The reader's own clock is not more exact than this moment. */
    uint64_t stop = atomic_load_explicit(&epoch->stop, memory_order_relaxed);
    uint64_t passed = (stop ? stop : h->now) - jsp_counted(&c->last);
    return (int64_t)passed > 0 ? passed : 0;
}

static void read_row(const struct read_moment *m, const struct jsp_calls_row *row,
                     struct jsp_calls_cell *out)
{
    out->self = (int64_t)jsp_counted(&row->self);
    out->total = (int64_t)jsp_counted(&row->total);
    out->self_bytes = jsp_counted(&row->self_bytes);
    out->total_bytes = jsp_counted(&row->total_bytes);
    if (!jsp_counted(&row->outer))
        return;
    uint64_t time = jsp_counted(&m->c->time) + m->pending;
    if (m->times)
        out->total += (int64_t)(time - jsp_counted(&row->start));
    if (m->bytes)
        out->total_bytes += jsp_counted(&m->c->bytes_now) - jsp_counted(&row->start_bytes);
}

/* The source of a cell. */
struct read_from {
    const struct jsp_calls_row *row;
    const _Atomic uint64_t *calls; /* additional calls; NULL: none */
    uint32_t index; /* of the function, or READ_NO_INDEX */
};

enum { READ_NO_INDEX = UINT32_MAX };

static void read_whole(const struct read_moment *m, const struct read_from *from,
                       struct jsp_calls_cell *out)
{
    uint32_t index = from->index;
    read_row(m, from->row, out);
    out->calls = jsp_counted(&from->row->calls) + (from->calls ? jsp_counted(from->calls) : 0);
    if (from->row == jsp_calls_row(jsp_calls_top(m->c)))
        out->self += (int64_t)m->pending;
    if (index == JSP_FUNCTION_OUTSIDE) /* its time belongs to no function */
        out->self = out->total = 0;
}

/* Sleep, so that a thread which lost its processor during an event can go on. */
static void read_nap(struct jsp_calls_horizon *h)
{
    static const struct timespec nap = { 0, READ_NAP_NS };
    h->naps--;
    h->torn = !h->naps;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
}

/* Read a row between two events. */
static void read_consistent(const struct jsp_calls *c, const struct read_from *from,
                            struct jsp_calls_horizon *h, struct jsp_calls_cell *out)
{
    for (int i = 1;; i++) {
        struct read_version version = read_version(c);
        uint32_t modes = read_epoch(c)->modes;
        struct read_moment m = { c, modes & JSPROF_CALLS_TIME, modes & JSPROF_CALLS_ALLOC,
                                 read_pending(c, h) };
        read_whole(&m, from, out);
        if (read_is_same(c, &version) || h->torn)
            return;
        if (i % READ_SPINS == 0)
            read_nap(h);
    }
}

/* -- For all threads ---------------------------------------------------------- */

struct jsp_calls_horizon jsp_calls_horizon(const struct jsp_calls *c)
{
    /* ORDER: relaxed. The caller holds the lock of the threads that change it. */
    uint32_t epoch = atomic_load_explicit(&c->shared->epoch, memory_order_relaxed);
    return (struct jsp_calls_horizon){ .now = jsp_calls_now(&c->shared->clock),
                                       .epoch = epoch, .naps = READ_NAPS };
}

void jsp_calls_read_function(const struct jsp_calls *c, uint32_t index,
                             struct jsp_calls_horizon *h, struct jsp_calls_cell *out)
{
    struct read_from from = { &c->rows[index], jsp_calls_count(c, index), index };
    /* ORDER: relaxed. A reader that sees false finds the rows the next time. */
    if (atomic_load_explicit(&c->timed, memory_order_relaxed))
        read_consistent(c, &from, h, out);
    else
        *out = (struct jsp_calls_cell){ .calls = jsp_counted(from.calls) };
}

void jsp_calls_read_edge(const struct jsp_calls *c, uint32_t edge,
                         struct jsp_calls_horizon *h, struct jsp_calls_cell *out)
{
    const struct jsp_calls_row *row = &c->edges[edge].row;
    struct read_from from = { row, NULL, READ_NO_INDEX };
    read_consistent(c, &from, h, out);
}

void jsp_calls_read_gc(const struct jsp_calls *c, struct jsp_calls_horizon *h,
                       struct jsp_calls_cell *out)
{
    struct read_from from = { &c->gc, NULL, READ_NO_INDEX };
    read_consistent(c, &from, h, out);
}

uint64_t jsp_calls_read_own(const struct jsp_calls *c, struct jsp_calls_horizon *h)
{
    for (int i = 1;; i++) {
        struct read_version version = read_version(c);
        uint64_t own = jsp_calls_own(c);
        if (read_is_same(c, &version) || h->torn)
            return own;
        if (i % READ_SPINS == 0)
            read_nap(h);
    }
}

uint32_t jsp_calls_n_edges(const struct jsp_calls *c)
{
    /* ORDER: acquire, pairs with E1 in table.c. */
    return atomic_load_explicit(&c->n_edges, memory_order_acquire);
}

bool jsp_calls_waits(const struct jsp_calls *c)
{
    /* ORDER: relaxed. The caller holds the lock of the threads that change the modes; the
     * other is a statistic. */
    uint32_t now = atomic_load_explicit(&c->shared->epoch, memory_order_relaxed);
    const struct jsp_calls_epoch *epoch = &c->shared->epochs[now % JSP_CALLS_EPOCHS];
    /* ORDER: relaxed. As above. */
    bool seen = atomic_load_explicit(&c->epoch, memory_order_relaxed) == now;
    return !seen && epoch->modes & ~(uint32_t)JSPROF_CALLS_COUNT;
}
