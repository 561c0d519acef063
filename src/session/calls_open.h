/* session/calls_open.h - the parts of an event: the clock goes on, a call is opened, the
 * innermost one is closed. Owner thread, with `seq` odd.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CALLS_OPEN_H
#define JSP_SESSION_CALLS_OPEN_H

#include "calls_event.h"
#include "sigsafe/names.h"

/* What the owner alone writes, and others only look at. */
static inline uint64_t open_get(const _Atomic uint64_t *word)
{
    return jsp_counted(word);
}

static inline void open_set(_Atomic uint64_t *word, uint64_t value)
{
    /* ORDER: relaxed. One writer; what belongs together is read between two equal `seq`. */
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* What is on is a constant where that is worth a copy of the code. */
#define OPEN_INLINE static inline __attribute__((always_inline))

OPEN_INLINE struct jsp_calls_row *jsp_calls_self(const struct jsp_calls *c)
{
    /* ORDER: relaxed. The owner alone stores it. */
    return atomic_load_explicit(&c->self, memory_order_relaxed);
}

/* The clock did not go on as it should: `offset` takes that up. */
static inline void jsp_calls_skip_to(struct jsp_calls *c, uint64_t now)
{
    uint64_t offset = now - open_get(&c->time);
    jsp_count(&c->not_own, offset - open_get(&c->offset));
    open_set(&c->offset, offset);
}

/* To `now`: the time since the last event is the innermost function's own, but for what
 * counting took of it. */
OPEN_INLINE void jsp_calls_advance(struct jsp_calls *c, enum jsp_calls_event event,
                                   uint64_t now, uint32_t modes)
{
    if (!(modes & JSPROF_CALLS_TIME))
        return;
    uint64_t offset = open_get(&c->offset), before = open_get(&c->time);
    uint64_t cost = c->cost_next;
    c->cost_next = c->cost[event];
    if (__builtin_expect((int64_t)(now - offset - before) < 0, 0)) {
        jsp_count(&c->clock_back, 1);
        jsp_calls_skip_to(c, now);
        return;
    }
    offset += cost;
    open_set(&c->offset, offset);
    open_set(&c->time, now - offset);
    jsp_count(&jsp_calls_self(c)->self, now - offset - before);
}

/* One more activation is on the running stack, or one less. */
OPEN_INLINE void jsp_calls_row_open(const struct jsp_calls *c, struct jsp_calls_row *row,
                                    uint32_t modes)
{
    uint64_t open = open_get(&row->open);
    open_set(&row->open, open + 1);
    if (open)
        return;
    if (modes & JSPROF_CALLS_TIME)
        open_set(&row->start, open_get(&c->time));
    if (modes & JSPROF_CALLS_ALLOC)
        open_set(&row->start_bytes, open_get(&c->bytes_now));
}

OPEN_INLINE void jsp_calls_row_close(const struct jsp_calls *c, struct jsp_calls_row *row,
                                     uint32_t modes)
{
    uint64_t open = open_get(&row->open) - 1;
    open_set(&row->open, open);
    if (open)
        return;
    if (modes & JSPROF_CALLS_TIME)
        jsp_count(&row->total, open_get(&c->time) - open_get(&row->start));
    if (modes & JSPROF_CALLS_ALLOC)
        jsp_count(&row->total_bytes, open_get(&c->bytes_now) - open_get(&row->start_bytes));
}

/* All that an entry keeps open. */
OPEN_INLINE void jsp_calls_entry_open(struct jsp_calls *c, const struct jsp_calls_entry *e,
                                      uint32_t modes)
{
    jsp_calls_row_open(c, &c->rows[e->index], modes);
    if (modes & JSPROF_CALLS_EDGES && e->edge != UINT32_MAX)
        jsp_calls_row_open(c, &c->edges[e->edge].row, modes);
    if (__builtin_expect(e->gc, 0))
        jsp_calls_row_open(c, &c->gc, modes);
}

OPEN_INLINE void jsp_calls_entry_close(struct jsp_calls *c, const struct jsp_calls_entry *e,
                                       uint32_t modes)
{
    jsp_calls_row_close(c, &c->rows[e->index], modes);
    if (modes & JSPROF_CALLS_EDGES && e->edge != UINT32_MAX)
        jsp_calls_row_close(c, &c->edges[e->edge].row, modes);
    if (__builtin_expect(e->gc, 0))
        jsp_calls_row_close(c, &c->gc, modes);
}

OPEN_INLINE void jsp_calls_top_is(struct jsp_calls *c, struct jsp_calls_entry *e)
{
    struct jsp_calls_row *self = &c->rows[e ? e->index : JSP_FUNCTION_OUTSIDE];
    c->top = e;
    /* ORDER: relaxed, as in open_set. */
    atomic_store_explicit(&c->self, self, memory_order_relaxed);
}

/* NULL: there are none left. */
static inline struct jsp_calls_entry *jsp_calls_entry_take(struct jsp_calls *c)
{
    struct jsp_calls_entry *e = c->spare;
    if (e)
        c->spare = e->up;
    else if (c->n_entries < JSP_CALLS_OPEN)
        e = &c->entries[c->n_entries++];
    return e;
}

static inline void jsp_calls_entry_give(struct jsp_calls *c, struct jsp_calls_entry *e)
{
    e->up = c->spare;
    c->spare = e;
}

OPEN_INLINE void jsp_calls_pop(struct jsp_calls *c, uint32_t modes)
{
    struct jsp_calls_entry *e = c->top;
    jsp_calls_entry_close(c, e, modes);
    jsp_calls_top_is(c, e->up);
    jsp_calls_entry_give(c, e);
}

/* -- Stacks: calls_levels.c ---------------------------------------------------- */

/* What the thread stands on from now on; see jsprof_stack_switch. */
void jsp_calls_levels_switch(struct jsp_calls *c, const jsprof_cstack *stack, uint32_t depth);

/* Take what is open on a suspended stack, if anything is. */
bool jsp_calls_aside_take(struct jsp_calls *c, const void *stack, struct jsp_calls_aside *out);

/* -- Changes of modes: calls_adopt.c ------------------------------------------- */

/* The modes have changed since the thread was last seen: end what was open then, and take
 * in what is on the stack now. `place`: the innermost link that is certainly there. */
void jsp_calls_adopt(struct jsp_calls *c, struct jsp_calls_place place);

/* Is the epoch in which the thread was last seen still the one that runs? */
bool jsp_calls_epoch_runs(const struct jsp_calls *c);

#endif
