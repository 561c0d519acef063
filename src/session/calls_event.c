/* session/calls_event.c - see calls_event.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls_open.h"

/* -- Into an event and out of it ---------------------------------------------- */

static inline uint32_t event_seq(const struct jsp_calls *c)
{
    /* ORDER: relaxed. The owner alone stores it. */
    return atomic_load_explicit(&c->seq, memory_order_relaxed);
}

static inline uint64_t event_now(const struct jsp_calls *c)
{
    return c->modes & JSPROF_CALLS_TIME ? jsp_calls_now(&c->shared->clock) : 0;
}

/* When it happened. Not in the odd part of the event, because the clock takes most of its
 * time, and a reader may have to wait for the end of that part; so a signal handler may
 * have told something of a later moment. */
static inline uint32_t event_moment(const struct jsp_calls *c, uint64_t *now)
{
    uint32_t seq, before;
    do {
        before = event_seq(c);
        *now = event_now(c);
        /* ORDER: signal fence only. The handler runs on this thread. */
        atomic_signal_fence(memory_order_seq_cst);
        seq = event_seq(c);
    } while (__builtin_expect(seq != before, 0));
    return seq;
}

/* False: not this thread's, or a signal handler is in the middle of another. */
static inline bool event_begin(struct jsp_calls *c, struct jsp_calls_place place,
                               uint64_t *now)
{
    if (__builtin_expect(c->owner != jsp_calls_me() || event_seq(c) & 1, 0)) {
        /* ORDER: relaxed. A statistic of several writers. */
        atomic_fetch_add_explicit(&c->foreign, 1, memory_order_relaxed);
        return false;
    }
    uint32_t seq = event_moment(c, now);
    /* ORDER: relaxed, and made earlier than all that follows by the fence. */
    atomic_store_explicit(&c->seq, seq + 1, memory_order_relaxed);
    /* Q1. ORDER: release, pairs with Q3: who reads a word of this event sees odd `seq`. */
    atomic_thread_fence(memory_order_release); /* ORDER: release, Q1 */
    /* ORDER: acquire, pairs with P1 in calls.c: the epoch's modes are there. */
    uint32_t epoch = atomic_load_explicit(&c->shared->epoch, memory_order_acquire);
    /* ORDER: relaxed. The owner alone stores it. */
    if (__builtin_expect(epoch != atomic_load_explicit(&c->epoch, memory_order_relaxed), 0)) {
        jsp_calls_adopt(c, place);
        *now = event_now(c);
    }
    return true;
}

static inline void event_end(struct jsp_calls *c)
{
    uint32_t seq = event_seq(c);
    /* Q2. ORDER: release, pairs with Q4: the event is whole. */
    atomic_store_explicit(&c->seq, seq + 1, memory_order_release);
}

/* -- Entering ----------------------------------------------------------------- */

static inline bool event_needs_stack(const struct jsp_calls *c)
{
    return c->modes & ~(uint32_t)JSPROF_CALLS_COUNT;
}

OPEN_INLINE uint32_t event_edge(struct jsp_calls *c, uint32_t callee, uint32_t modes)
{
    if (!(modes & JSPROF_CALLS_EDGES))
        return UINT32_MAX;
    uint32_t edge = jsp_calls_edge(c, c->top ? c->top->index : JSP_FUNCTION_OUTSIDE, callee);
    jsp_count(&c->edges[edge].row.calls, 1);
    return edge;
}

/* Nothing but calls: what the inline hook does, for the first of a block. */
static void event_count(struct jsp_calls *c, uint32_t index, uint32_t modes)
{
    jsp_calls_touch(c, index);
    if (modes & JSPROF_CALLS_COUNT)
        jsp_count(jsp_calls_count(c, index), 1);
}

/* `key` stands on the stack now, and is `f`'s. */
OPEN_INLINE void event_push(struct jsp_calls *c, const jsprof_function *f, uintptr_t key,
                            uint32_t modes)
{
    uint32_t index = f ? f->index : JSP_FUNCTION_NONE;
    if (!(modes & ~(uint32_t)JSPROF_CALLS_COUNT)) {
        event_count(c, index, modes);
        return;
    }
    jsp_calls_touch(c, index);
    if (modes & JSPROF_CALLS_COUNT)
        jsp_count(&c->rows[index].calls, 1);
    uint32_t edge = event_edge(c, index, modes);
    struct jsp_calls_entry *e = jsp_calls_entry_take(c);
    if (__builtin_expect(!e, 0)) {
        c->beyond++;
        jsp_count(&c->depth_lost, 1);
        return;
    }
    e->up = c->top;
    e->key = key;
    e->index = index;
    e->edge = edge;
    e->gc = f && f->kind == JSPROF_KIND_GC;
    jsp_calls_entry_open(c, e, modes);
    jsp_calls_top_is(c, e);
}

static inline uintptr_t event_key_below(const struct jsp_calls *c,
                                        struct jsp_calls_place place, uint32_t depth)
{
    return place.link ? (uintptr_t)place.link : jsp_calls_array_key(depth - c->base);
}

void jsp_calls_enter(struct jsp_calls *c, const jsprof_function *f,
                     struct jsp_calls_place place)
{
    struct jsp_calls_place before = { place.t, NULL };
    uint64_t now;
    if (!event_begin(c, before, &now))
        return;
    uintptr_t key = event_key_below(c, place, place.t->depth);
    jsp_calls_advance(c, JSP_CALLS_ENTER, now, c->modes);
    event_push(c, f, key, c->modes);
    event_end(c);
}

/* -- Leaving ------------------------------------------------------------------ */

/* The outermost entry of the running stack that ends with this key; NULL: none does. */
static struct jsp_calls_entry *event_find(const struct jsp_calls *c, uintptr_t key)
{
    struct jsp_calls_entry *last = NULL;
    bool array = key & 1;
    for (struct jsp_calls_entry *e = c->top; e != c->floor; e = e->up) {
        if (array && e->key & 1 && e->key < key)
            break;
        if (e->key == key || (array && e->key & 1))
            last = e;
        if (last && !array)
            break;
    }
    return last;
}

/* The innermost entry is another one. Those inside of it end first. */
static __attribute__((noinline)) void event_leave_odd(struct jsp_calls *c, uintptr_t key)
{
    if (c->beyond && !(key & 1)) { /* links beyond the table, innermost first */
        c->beyond--;
        return;
    }
    struct jsp_calls_entry *last = event_find(c, key);
    if (!last) {
        if (!(key & 1))
            jsp_count(&c->underflows, 1);
        return;
    }
    while (c->top != last)
        jsp_calls_pop(c, c->modes);
    jsp_calls_pop(c, c->modes);
    c->beyond = 0;
}

OPEN_INLINE void event_pop(struct jsp_calls *c, uintptr_t key, uint32_t modes)
{
    if (__builtin_expect(c->top != c->floor && c->top->key == key, 1)) {
        jsp_calls_pop(c, modes);
        c->beyond = 0;
    } else {
        event_leave_odd(c, key);
    }
}

void jsp_calls_leave(struct jsp_calls *c, struct jsp_calls_place place, uint32_t depth)
{
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    uintptr_t key = event_key_below(c, place, depth);
    jsp_calls_advance(c, JSP_CALLS_LEAVE, now, c->modes);
    if (depth == JSP_CALLS_NO_DEPTH)
        jsp_count(&c->underflows, 1);
    else if (event_needs_stack(c))
        event_pop(c, key, c->modes);
    event_end(c);
}

void jsp_calls_tail(struct jsp_calls *c, const jsprof_function *f,
                    struct jsp_calls_place place)
{
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    uintptr_t key = event_key_below(c, place, place.t->depth - 1);
    jsp_calls_advance(c, JSP_CALLS_ENTER, now, c->modes);
    if (!place.link && !place.t->depth) {
        jsp_count(&c->underflows, 1);
    } else {
        if (event_needs_stack(c))
            event_pop(c, key, c->modes);
        event_push(c, f, key, c->modes);
    }
    event_end(c);
}

/* -- The rest ----------------------------------------------------------------- */

void jsp_calls_alloc(struct jsp_calls *c, struct jsp_calls_place place, uint64_t bytes)
{
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    if (c->modes & JSPROF_CALLS_ALLOC) {
        jsp_count(&c->bytes_now, bytes);
        jsp_count(&jsp_calls_self(c)->self_bytes, bytes);
    }
    event_end(c);
}

void jsp_calls_see(struct jsp_calls *c, const jsprof_thread *t)
{
    struct jsp_calls_place place = { t, NULL };
    uint64_t now;
    if (event_begin(c, place, &now))
        event_end(c);
}

void jsp_calls_switch(struct jsp_calls *c, const jsprof_thread *t,
                      const jsprof_cstack *stack)
{
    struct jsp_calls_place place = { t, NULL };
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    jsp_calls_advance(c, JSP_CALLS_OTHER, now, c->modes);
    if (event_needs_stack(c))
        jsp_calls_levels_switch(c, stack, t->depth);
    event_end(c);
}

void jsp_calls_forget(struct jsp_calls *c, const jsprof_thread *t, const jsprof_cstack *stack)
{
    struct jsp_calls_aside aside;
    struct jsp_calls_place place = { t, NULL };
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    if (jsp_calls_aside_take(c, stack, &aside)) {
        aside.bottom->up = c->spare;
        c->spare = aside.top;
    }
    event_end(c);
}

void jsp_calls_end(struct jsp_calls *c)
{
    struct jsp_calls_place place = { NULL, NULL };
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    if (jsp_calls_epoch_runs(c))
        jsp_calls_advance(c, JSP_CALLS_OTHER, now, c->modes);
    jsp_calls_adopt(c, place);
    event_end(c);
}
