/* calls/open.h - the parts of an event: advance the clock, open a call, close the
 * innermost one. The table's own thread calls these, inside an event.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_OPEN_H
#define JSP_CALLS_OPEN_H

#include "event.h"
#include "sigsafe/names.h"

/* Read a word that only the owner writes and other threads read. */
static inline uint64_t open_get(const _Atomic uint64_t *word)
{
    return jsp_counted(word);
}

/* Store a word that only the owner writes. */
static inline void open_set(_Atomic uint64_t *word, uint64_t value)
{
    /* ORDER: relaxed. One writer; readers of several words check that the version has not
     * changed. */
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Inlined, so that constant arguments give a copy of the code of its own. */
#define OPEN_INLINE static inline __attribute__((always_inline))

/* Return true if the table is the calling thread's and no event is under way, which a
 * signal handler could have interrupted. No order is needed: no other thread stores this
 * thread's value. */
static inline bool jsp_calls_is_mine(const struct jsp_calls *c)
{
    return *(const void *const *)(const void *)&c->owner == jsp_calls_me();
}

/* Begin an event. */
static inline void jsp_calls_in(struct jsp_calls *c)
{
    /* ORDER: relaxed; the fence orders it before all that follows. */
    atomic_store_explicit(&c->owner, NULL, memory_order_relaxed);
    /* Q1. ORDER: release, pairs with Q3: a reader of any word of this event sees NULL. */
    atomic_thread_fence(memory_order_release); /* ORDER: release, Q1 */
}

/* End an event: the table is the calling thread's again. */
static inline void jsp_calls_out(struct jsp_calls *c)
{
    /* Q2. ORDER: release, pairs with Q4: the event is whole. */
    atomic_store_explicit(&c->owner, jsp_calls_me(), memory_order_release);
}

/* -- The clock ------------------------------------------------------------------- */

/* Advance the clock to `now`; the time in between belongs to no function. */
static inline void jsp_calls_skip_to(struct jsp_calls *c, uint64_t now)
{
    jsp_count(&c->not_own, now - open_get(&c->last));
    open_set(&c->last, now);
}

/* Advance the clock to `now`; the time in between belongs to the innermost function. */
static inline void jsp_calls_pass_to(struct jsp_calls *c, uint64_t now)
{
    uint64_t passed = now - open_get(&c->last);
    jsp_count(&c->time, passed);
    jsp_count(&jsp_calls_row(jsp_calls_top(c))->self, passed);
    open_set(&c->last, now);
}

/* Return how far `now` may lie before `last`: the cost of an event is an estimate that
 * was added to `last`. More than that is a jump backwards. */
static inline int64_t jsp_calls_slack(const struct jsp_calls *c)
{
    uint64_t most = 0;
    for (int i = 0; i < JSP_CALLS_EVENTS; i++)
        most = c->cost[i] > most ? c->cost[i] : most;
    return -(int64_t)most;
}

/* Advance the clock to `now`: the time since the last event belongs to the innermost
 * function. Then skip the cost of counting this event. */
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

/* -- Open calls --------------------------------------------------------------- */

/* Note one more activation of the row on the running stack. Activations are opened from the
 * outermost to the innermost. */
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

/* End the activation that `e` opened in the row: add its time and bytes. Nothing happens if an
 * outer one is open. */
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

/* Open the function, the edge and the GC time of an entry. */
static inline void jsp_calls_entry_open(struct jsp_calls *c, const struct jsp_calls_entry *e)
{
    jsp_calls_row_open(c, jsp_calls_row(e), e);
    if (c->modes & JSPROF_CALLS_EDGES && e->edge != UINT32_MAX)
        jsp_calls_row_open(c, &c->edges[e->edge].row, e);
    if (__builtin_expect(e->key & JSP_CALLS_KEY_GC, 0))
        jsp_calls_row_open(c, &c->gc, e);
}

/* End the activations of an entry: of its function, its edge and the garbage collection. */
static inline void jsp_calls_entry_close(struct jsp_calls *c, const struct jsp_calls_entry *e)
{
    jsp_calls_row_close(c, jsp_calls_row(e), e);
    if (c->modes & JSPROF_CALLS_EDGES && e->edge != UINT32_MAX)
        jsp_calls_row_close(c, &c->edges[e->edge].row, e);
    if (__builtin_expect(e->key & JSP_CALLS_KEY_GC, 0))
        jsp_calls_row_close(c, &c->gc, e);
}

/* -- The stack --------------------------------------------------------------------- */

/* Store the innermost entry. */
OPEN_INLINE void jsp_calls_top_is(struct jsp_calls *c, struct jsp_calls_entry *e)
{
    /* ORDER: relaxed, as in open_set. */
    atomic_store_explicit(&c->top, e, memory_order_relaxed);
}

/* Store the row of the entry's function. */
OPEN_INLINE void jsp_calls_row_is(struct jsp_calls_entry *e, struct jsp_calls_row *row)
{
    /* ORDER: relaxed, as in open_set. */
    atomic_store_explicit(&e->row, row, memory_order_relaxed);
}

/* Return the entry below all calls of the running stack. */
static inline struct jsp_calls_entry *jsp_calls_floor(struct jsp_calls *c)
{
    return &c->levels[c->level].floor;
}

/* Return the index of the entry's function. */
static inline uint32_t jsp_calls_index(const struct jsp_calls *c, const struct jsp_calls_entry *e)
{
    return (uint32_t)(jsp_calls_row(e) - c->rows);
}

/* Insert the chain from `next` to `last` after `e`. */
static inline void jsp_calls_insert(struct jsp_calls_entry *e, struct jsp_calls_entry *next,
                                    struct jsp_calls_entry *last)
{
    last->next = e->next;
    if (last->next)
        last->next->up = last;
    e->next = next;
    next->up = e;
}

/* Return a free entry after the innermost one, or NULL if there are none left. */
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

/* End the innermost call. */
static inline void jsp_calls_pop(struct jsp_calls *c)
{
    struct jsp_calls_entry *e = jsp_calls_top(c);
    jsp_calls_entry_close(c, e);
    jsp_calls_top_is(c, e->up);
}

/* Set the number of enters without an entry. As long as it is not 0, no leave takes the
 * fast path. */
static inline void jsp_calls_beyond_is(struct jsp_calls *c, uint32_t n)
{
    c->beyond = n;
    c->least = n ? INT64_MAX : jsp_calls_slack(c);
}

/* -- Stacks: levels.c --------------------------------------------------------- */

/* Switch the thread to this stack; see jsprof_stack_switch. */
void jsp_calls_levels_switch(struct jsp_calls *c, const jsprof_cstack *stack, uint32_t depth);

/* Begin an empty level, resumed from the innermost one. */
void jsp_calls_levels_begin(struct jsp_calls *c, const void *stack, uint32_t base);

/* Take the open calls of a suspended stack. Return false if it has none. */
bool jsp_calls_aside_take(struct jsp_calls *c, const void *stack, struct jsp_calls_aside *out);

/* Free these entries. */
void jsp_calls_aside_give(struct jsp_calls *c, const struct jsp_calls_aside *aside);

/* -- Changes of modes: adopt.c ------------------------------------------------ */

/* Take over new modes: end the calls that were open at the change, and open those that
 * are on the stack now. `place` is the innermost link that is certainly on the stack. */
void jsp_calls_adopt(struct jsp_calls *c, struct jsp_calls_place place);

/* Return true if the epoch of the thread's last event is still the current one. */
bool jsp_calls_epoch_runs(const struct jsp_calls *c);

#endif
