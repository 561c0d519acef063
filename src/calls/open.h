/* calls/open.h - the parts of an event: the clock goes on, a call is opened, the
 * innermost one is closed. By the thread whose table it is, in the middle of an event.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_OPEN_H
#define JSP_CALLS_OPEN_H

#include "event.h"
#include "sigsafe/names.h"

/* What the owner alone writes, and others only look at. */
static inline uint64_t open_get(const _Atomic uint64_t *word)
{
    return jsp_counted(word);
}

static inline void open_set(_Atomic uint64_t *word, uint64_t value)
{
    /* ORDER: relaxed. One writer; what belongs together is read between two equal versions. */
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* What is on is a constant where that is worth a copy of the code. */
#define OPEN_INLINE static inline __attribute__((always_inline))

/* Is it the calling thread's, and no signal handler in the middle of an event? Read without
 * an order: no other thread stores what this one looks for. */
static inline bool jsp_calls_is_mine(const struct jsp_calls *c)
{
    return *(const void *const *)(const void *)&c->owner == jsp_calls_me();
}

/* Into the middle of an event. */
static inline void jsp_calls_in(struct jsp_calls *c)
{
    /* ORDER: relaxed, and made earlier than all that follows by the fence. */
    atomic_store_explicit(&c->owner, NULL, memory_order_relaxed);
    /* Q1. ORDER: release, pairs with Q3: who reads a word of this event sees NULL. */
    atomic_thread_fence(memory_order_release); /* ORDER: release, Q1 */
}

static inline void jsp_calls_out(struct jsp_calls *c)
{
    /* Q2. ORDER: release, pairs with Q4: the event is whole. */
    atomic_store_explicit(&c->owner, jsp_calls_me(), memory_order_release);
}

/* -- The clock ------------------------------------------------------------------- */

/* What was between is no time of anybody's. */
static inline void jsp_calls_skip_to(struct jsp_calls *c, uint64_t now)
{
    jsp_count(&c->not_own, now - open_get(&c->last));
    open_set(&c->last, now);
}

/* What was between is the innermost function's own. */
static inline void jsp_calls_pass_to(struct jsp_calls *c, uint64_t now)
{
    uint64_t passed = now - open_get(&c->last);
    jsp_count(&c->time, passed);
    jsp_count(&jsp_calls_row(jsp_calls_top(c))->self, passed);
    open_set(&c->last, now);
}

/* Own cost is taken out from where it was measured: more than that is a jump backwards. */
static inline int64_t jsp_calls_slack(const struct jsp_calls *c)
{
    uint64_t most = 0;
    for (int i = 0; i < JSP_CALLS_EVENTS; i++)
        most = c->cost[i] > most ? c->cost[i] : most;
    return -(int64_t)most;
}

/* To `now`: the time since the last event is the innermost function's own, but for what
 * counting takes from here on. */
static inline void jsp_calls_advance(struct jsp_calls *c, enum jsp_calls_event event,
                                     uint64_t now)
{
    if (!(c->modes & JSPROF_CALLS_TIME))
        return;
    if (__builtin_expect((int64_t)(now - open_get(&c->last)) >= jsp_calls_slack(c), 1)) {
        jsp_calls_pass_to(c, now);
    } else {
        jsp_count(&c->clock_back, 1);
        jsp_calls_skip_to(c, now);
    }
    jsp_count(&c->last, c->cost[event]);
}

/* -- What is open ------------------------------------------------------------------ */

/* One more activation is on the running stack, or one less; entered from the outermost to
 * the innermost one. */
static inline void jsp_calls_row_open(const struct jsp_calls *c, struct jsp_calls_row *row,
                                      const struct jsp_calls_entry *e)
{
    if (open_get(&row->outer))
        return;
    open_set(&row->outer, (uintptr_t)e);
    if (c->modes & JSPROF_CALLS_TIME)
        open_set(&row->start, open_get(&c->time));
    if (c->modes & JSPROF_CALLS_ALLOC)
        open_set(&row->start_bytes, open_get(&c->bytes_now));
}

static inline void jsp_calls_row_close(const struct jsp_calls *c, struct jsp_calls_row *row,
                                       const struct jsp_calls_entry *e)
{
    if (open_get(&row->outer) != (uintptr_t)e)
        return;
    open_set(&row->outer, 0);
    if (c->modes & JSPROF_CALLS_TIME)
        jsp_count(&row->total, open_get(&c->time) - open_get(&row->start));
    if (c->modes & JSPROF_CALLS_ALLOC)
        jsp_count(&row->total_bytes, open_get(&c->bytes_now) - open_get(&row->start_bytes));
}

/* All that an entry keeps open. */
static inline void jsp_calls_entry_open(struct jsp_calls *c, const struct jsp_calls_entry *e)
{
    jsp_calls_row_open(c, jsp_calls_row(e), e);
    if (c->modes & JSPROF_CALLS_EDGES && e->edge != UINT32_MAX)
        jsp_calls_row_open(c, &c->edges[e->edge].row, e);
    if (__builtin_expect(e->key & JSP_CALLS_KEY_GC, 0))
        jsp_calls_row_open(c, &c->gc, e);
}

static inline void jsp_calls_entry_close(struct jsp_calls *c, const struct jsp_calls_entry *e)
{
    jsp_calls_row_close(c, jsp_calls_row(e), e);
    if (c->modes & JSPROF_CALLS_EDGES && e->edge != UINT32_MAX)
        jsp_calls_row_close(c, &c->edges[e->edge].row, e);
    if (__builtin_expect(e->key & JSP_CALLS_KEY_GC, 0))
        jsp_calls_row_close(c, &c->gc, e);
}

/* -- The stack --------------------------------------------------------------------- */

OPEN_INLINE void jsp_calls_top_is(struct jsp_calls *c, struct jsp_calls_entry *e)
{
    /* ORDER: relaxed, as in open_set. */
    atomic_store_explicit(&c->top, e, memory_order_relaxed);
}

OPEN_INLINE void jsp_calls_row_is(struct jsp_calls_entry *e, struct jsp_calls_row *row)
{
    /* ORDER: relaxed, as in open_set. */
    atomic_store_explicit(&e->row, row, memory_order_relaxed);
}

static inline struct jsp_calls_entry *jsp_calls_floor(struct jsp_calls *c)
{
    return &c->levels[c->level].floor;
}

static inline uint32_t jsp_calls_index(const struct jsp_calls *c, const struct jsp_calls_entry *e)
{
    return (uint32_t)(jsp_calls_row(e) - c->rows);
}

/* What follows on `e` is `next`, and what followed is behind `last`, the end of `next`. */
static inline void jsp_calls_insert(struct jsp_calls_entry *e, struct jsp_calls_entry *next,
                                    struct jsp_calls_entry *last)
{
    last->next = e->next;
    if (last->next)
        last->next->up = last;
    e->next = next;
    next->up = e;
}

/* An entry behind the innermost one; NULL: there are none left. */
static inline struct jsp_calls_entry *jsp_calls_entry_take(struct jsp_calls *c)
{
    struct jsp_calls_entry *top = jsp_calls_top(c), *e = c->spare;
    if (top->next)
        return top->next;
    if (e)
        c->spare = e->next;
    else if (c->n_entries < JSP_CALLS_OPEN)
        e = &c->entries[c->n_entries++];
    if (e)
        jsp_calls_insert(top, e, e);
    return e;
}

static inline void jsp_calls_pop(struct jsp_calls *c)
{
    struct jsp_calls_entry *e = jsp_calls_top(c);
    jsp_calls_entry_close(c, e);
    jsp_calls_top_is(c, e->up);
}

/* While entries are missing, no leave is a usual event. */
static inline void jsp_calls_beyond_is(struct jsp_calls *c, uint32_t n)
{
    c->beyond = n;
    c->least = n ? INT64_MAX : jsp_calls_slack(c);
}

/* -- Stacks: calls_levels.c ---------------------------------------------------- */

/* What the thread stands on from now on; see jsprof_stack_switch. */
void jsp_calls_levels_switch(struct jsp_calls *c, const jsprof_cstack *stack, uint32_t depth);

/* The next level, with nothing on it, runs on the innermost one. */
void jsp_calls_levels_begin(struct jsp_calls *c, const void *stack, uint32_t base);

/* Take what is open on a suspended stack, if anything is. */
bool jsp_calls_aside_take(struct jsp_calls *c, const void *stack, struct jsp_calls_aside *out);

/* These entries are free. */
void jsp_calls_aside_give(struct jsp_calls *c, const struct jsp_calls_aside *aside);

/* -- Changes of modes: calls_adopt.c ------------------------------------------- */

/* The modes have changed since the thread was last seen: end what was open then, and take
 * in what is on the stack now. `place`: the innermost link that is certainly there. */
void jsp_calls_adopt(struct jsp_calls *c, struct jsp_calls_place place);

/* Is the epoch in which the thread was last seen still the one that runs? */
bool jsp_calls_epoch_runs(const struct jsp_calls *c);

#endif
