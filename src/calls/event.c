/* calls/event.c - see event.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "open.h"

/* -- The begin and the end of an event ---------------------------------------- */

static inline uint32_t event_seq(const struct jsp_calls *c)
{
    /* ORDER: relaxed. Only the owner stores it. */
    return atomic_load_explicit(&c->seq, memory_order_relaxed);
}

static inline uint64_t event_now(const struct jsp_calls *c)
{
    return c->modes & JSPROF_CALLS_TIME ? jsp_calls_now(&c->shared->clock) : 0;
}

/* Return the time of the event. The clock is read before the event begins, because this
 * takes most of the time, and a reader may have to wait for the end of the event. A
 * signal handler may report an event in between; then read the clock again. */
static inline uint64_t event_moment(const struct jsp_calls *c)
{
    for (;;) {
        uint32_t seq = event_seq(c);
        uint64_t last = open_get(&c->last), now = event_now(c);
        /* ORDER: signal fence only. The handler runs on this thread. */
        atomic_signal_fence(memory_order_seq_cst);
        if (__builtin_expect(seq == event_seq(c) && last == open_get(&c->last), 1))
            return now;
    }
}

/* Begin an event. Return false if the table is another thread's, or if a signal handler
 * has interrupted an event. */
static inline bool event_begin(struct jsp_calls *c, struct jsp_calls_place place,
                               uint64_t *now)
{
    if (__builtin_expect(!jsp_calls_is_mine(c), 0)) {
        /* ORDER: relaxed. A statistic with several writers. */
        atomic_fetch_add_explicit(&c->foreign, 1, memory_order_relaxed);
        return false;
    }
    *now = event_moment(c);
    jsp_calls_in(c);
    /* ORDER: acquire, pairs with P1 in calls.c: the epoch's modes are visible. */
    uint32_t epoch = atomic_load_explicit(&c->shared->epoch, memory_order_acquire);
    /* ORDER: relaxed. Only the owner stores it. */
    if (__builtin_expect(epoch != atomic_load_explicit(&c->epoch, memory_order_relaxed), 0)) {
        jsp_calls_adopt(c, place);
        *now = event_now(c);
    }
    return true;
}

static inline void event_end(struct jsp_calls *c)
{
    /* ORDER: release, as Q2. */
    atomic_store_explicit(&c->seq, event_seq(c) + 1, memory_order_release);
    jsp_calls_out(c);
}

/* -- Entering ----------------------------------------------------------------- */

static inline bool event_needs_stack(const struct jsp_calls *c)
{
    return c->modes & ~(uint32_t)JSPROF_CALLS_COUNT;
}

static uint32_t event_edge(struct jsp_calls *c, uint32_t callee)
{
    if (!(c->modes & JSPROF_CALLS_EDGES))
        return UINT32_MAX;
    uint32_t edge = jsp_calls_edge(c, jsp_calls_index(c, jsp_calls_top(c)), callee);
    jsp_count(&c->edges[edge].row.calls, 1);
    return edge;
}

/* Count a call only, like the inline hook, for the first call in a block. */
static void event_count(struct jsp_calls *c, uint32_t index)
{
    jsp_calls_touch(c, index);
    if (c->modes & JSPROF_CALLS_COUNT)
        jsp_count(jsp_calls_count(c, index), 1);
}

/* Open a call of `f`, whose key is now the innermost on the stack. */
static void event_push(struct jsp_calls *c, const jsprof_function *f, uintptr_t key)
{
    uint32_t index = f ? f->index : JSP_FUNCTION_NONE;
    if (!event_needs_stack(c)) {
        event_count(c, index);
        return;
    }
    jsp_calls_touch(c, index);
    if (c->modes & JSPROF_CALLS_COUNT)
        jsp_count(&c->rows[index].calls, 1);
    uint32_t edge = event_edge(c, index);
    struct jsp_calls_entry *e = jsp_calls_entry_take(c);
    if (__builtin_expect(!e, 0)) {
        jsp_calls_beyond_is(c, c->beyond + 1);
        jsp_count(&c->depth_lost, 1);
        return;
    }
    jsp_calls_row_is(e, &c->rows[index]);
    e->key = key | (f && f->kind == JSPROF_KIND_GC ? JSP_CALLS_KEY_GC : 0);
    e->edge = edge;
    jsp_calls_entry_open(c, e);
    jsp_calls_top_is(c, e);
}

void jsp_calls_enter(struct jsp_calls *c, const jsprof_function *f,
                     struct jsp_calls_place place)
{
    struct jsp_calls_place before = { place.t, NULL };
    uint64_t now;
    if (!event_begin(c, before, &now))
        return;
    uintptr_t key = jsp_calls_key(c, place, place.t->depth);
    jsp_calls_advance(c, JSP_CALLS_ENTER, now);
    event_push(c, f, key);
    event_end(c);
}

/* -- Leaving ------------------------------------------------------------------ */

static inline uintptr_t event_key(const struct jsp_calls_entry *e)
{
    return e->key & ~(uintptr_t)JSP_CALLS_KEY_GC;
}

/* Return the outermost entry of the running stack that ends with this key, or NULL. */
static struct jsp_calls_entry *event_find(struct jsp_calls *c, uintptr_t key)
{
    struct jsp_calls_entry *last = NULL;
    bool array = key & JSP_CALLS_KEY_ARRAY;
    for (struct jsp_calls_entry *e = jsp_calls_top(c); e != jsp_calls_floor(c); e = e->up) {
        if (array && e->key & JSP_CALLS_KEY_ARRAY && event_key(e) < key)
            break;
        if (event_key(e) == key || (array && e->key & JSP_CALLS_KEY_ARRAY))
            last = e;
        if (last && !array)
            break;
    }
    return last;
}

/* Leave an entry that is not the innermost; those inside of it end first. */
static __attribute__((noinline)) void event_leave_odd(struct jsp_calls *c, uintptr_t key)
{
    /* links without an entry end first, innermost first */
    if (c->beyond && !(key & JSP_CALLS_KEY_ARRAY)) {
        jsp_calls_beyond_is(c, c->beyond - 1);
        return;
    }
    struct jsp_calls_entry *last = event_find(c, key);
    if (!last) {
        if (!(key & JSP_CALLS_KEY_ARRAY))
            jsp_count(&c->underflows, 1);
        return;
    }
    while (jsp_calls_top(c) != last) {
        if (key & JSP_CALLS_KEY_HOST) /* their leaves are missing */
            jsp_count(&c->underflows, 1);
        jsp_calls_pop(c);
    }
    jsp_calls_pop(c);
    jsp_calls_beyond_is(c, 0);
}

static void event_pop(struct jsp_calls *c, uintptr_t key)
{
    if (__builtin_expect(event_key(jsp_calls_top(c)) != key, 0)) {
        event_leave_odd(c, key);
        return;
    }
    jsp_calls_pop(c);
    if (__builtin_expect(c->beyond, 0))
        jsp_calls_beyond_is(c, 0);
}

void jsp_calls_leave(struct jsp_calls *c, struct jsp_calls_place place, uint32_t depth)
{
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    uintptr_t key = jsp_calls_key(c, place, depth);
    jsp_calls_advance(c, JSP_CALLS_LEAVE, now);
    if (depth == JSP_CALLS_NO_DEPTH)
        jsp_count(&c->underflows, 1);
    else if (event_needs_stack(c))
        event_pop(c, key);
    event_end(c);
}

/* Return the outermost link of the running stack, or NULL. */
static struct jsp_calls_entry *event_first_link(struct jsp_calls *c)
{
    struct jsp_calls_entry *first = NULL;
    for (struct jsp_calls_entry *e = jsp_calls_top(c); e != jsp_calls_floor(c); e = e->up)
        if (!(e->key & (JSP_CALLS_KEY_ARRAY | JSP_CALLS_KEY_HOST)))
            first = e;
    return first;
}

static void event_unwind(struct jsp_calls *c, uintptr_t key, bool is_left)
{
    struct jsp_calls_entry *last = key ? event_find(c, key) : event_first_link(c);
    if (!last) { /* it may be one of those for which no entry was free */
        if (key && !c->beyond)
            jsp_count(&c->underflows, 1);
        return;
    }
    while (jsp_calls_top(c) != last)
        jsp_calls_pop(c);
    if (is_left || !key)
        jsp_calls_pop(c);
    jsp_calls_beyond_is(c, 0);
}

void jsp_calls_unwind(struct jsp_calls *c, struct jsp_calls_place place, bool is_left)
{
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    jsp_calls_advance(c, JSP_CALLS_LEAVE, now);
    if (event_needs_stack(c))
        event_unwind(c, (uintptr_t)place.link, is_left);
    event_end(c);
}

void jsp_calls_tail(struct jsp_calls *c, const jsprof_function *f,
                    struct jsp_calls_place place)
{
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    uintptr_t key = jsp_calls_key(c, place, place.t->depth - 1);
    jsp_calls_advance(c, JSP_CALLS_ENTER, now);
    if (!place.link && !place.t->depth) {
        jsp_count(&c->underflows, 1);
    } else {
        if (event_needs_stack(c))
            event_pop(c, key);
        event_push(c, f, key);
    }
    event_end(c);
}

/* -- Other events ------------------------------------------------------------- */

void jsp_calls_alloc(struct jsp_calls *c, struct jsp_calls_place place, uint64_t bytes)
{
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    if (c->modes & JSPROF_CALLS_ALLOC) {
        jsp_count(&c->bytes_now, bytes);
        jsp_count(&jsp_calls_row(jsp_calls_top(c))->self_bytes, bytes);
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
    jsp_calls_advance(c, JSP_CALLS_OTHER, now);
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
    if (jsp_calls_aside_take(c, stack, &aside))
        jsp_calls_aside_give(c, &aside);
    event_end(c);
}

void jsp_calls_end(struct jsp_calls *c)
{
    struct jsp_calls_place place = { NULL, NULL };
    uint64_t now;
    if (!event_begin(c, place, &now))
        return;
    if (jsp_calls_epoch_runs(c))
        jsp_calls_advance(c, JSP_CALLS_OTHER, now);
    jsp_calls_adopt(c, place);
    event_end(c);
}

void jsp_calls_end_gone(struct jsp_calls *c)
{
    struct jsp_calls_place nowhere = { NULL, NULL };
    /* ORDER: acquire, pairs with Q2: the last event is complete. */
    if (!atomic_load_explicit(&c->owner, memory_order_acquire))
        return; /* the thread ended during an event: its entries may be inconsistent */
    jsp_calls_in(c);
    jsp_calls_adopt(c, nowhere);
    event_end(c);
}
