/* calls/hooks.c - the public hooks, see jsprof.h. They are in this file because one more
 * call for each call would be noticeable. For the same reason the usual events (count
 * calls and time by the processor's counter, with edges or without) have a fast path here,
 * in which each instruction counts. All other events go to event.c, which handles every
 * case.
 *
 * SPDX-License-Identifier: MIT
 */
#include "open.h"

/* -- The fast path ------------------------------------------------------------ */

/* Begin the event at `now`; *passed are the ticks since the last one. Return false if the
 * fast path does not apply: a signal handler has reported a later event, or the clock
 * jumped. */
OPEN_INLINE bool hooks_in(struct jsp_calls *c, uint64_t now, uint64_t *passed)
{
    jsp_calls_in(c);
    *passed = now - jsp_counter_own(&c->last);
    if (__builtin_expect((int64_t)*passed >= c->least, 1)) {
        jsp_counter_add(&c->time, *passed);
        return true;
    }
    jsp_calls_out(c);
    return false;
}

/* End the event. The next interval begins when the cost of this event is over. */
OPEN_INLINE void hooks_end(struct jsp_calls *c, uint64_t now, uint64_t cost)
{
    /* ORDER: release, as Q2 in open.h. */
    atomic_store_explicit(&c->last, now + cost, memory_order_release);
    jsp_calls_out(c);
}

enum { HOOKS_EDGES = JSPROF_CALLS_USUAL | JSPROF_CALLS_EDGES };

/* How a fast path differs from the usual one. The arguments are constants where each
 * instruction counts. */
struct hooks_way {
    bool given; /* a test sets the clock */
    bool edges;
};

/* Read the clock. Instructions before this cost nearly nothing,
 * because the processor waits for the counter anyway. */
OPEN_INLINE uint64_t hooks_now(const struct jsp_calls *c, bool given)
{
    /* ORDER: signal fence only, both. Loads before the clock stay before it. */
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t now = given ? *c->shared->clock.given : jsp_counter_now();
    atomic_signal_fence(memory_order_seq_cst); /* ORDER: signal fence only */
    return now;
}

/* Return the edge from `top` to `f`. Usually it is that of the last call at this depth. */
OPEN_INLINE uint32_t hooks_edge(struct jsp_calls *c, const struct jsp_calls_entry *top,
                                const struct jsp_calls_entry *e, const jsprof_function *f)
{
    uint32_t caller = jsp_calls_index(c, top), edge = e->edge;
    bool is_last = edge - 1 < JSP_CALLS_EDGES - 1 && c->edges[edge].callee == f->index &&
                   c->edges[edge].caller == caller; /* 0 and UINT32_MAX are no edges */
    return __builtin_expect(is_last, 1) ? edge : jsp_calls_edge(c, caller, f->index);
}

/* Count a call of a function or of an edge. Return true if it is the outermost one. */
OPEN_INLINE bool hooks_row_enter(const struct jsp_calls *c, struct jsp_calls_row *row,
                                 const struct jsp_calls_entry *e)
{
    jsp_counter_add(&row->calls, 1);
    if (jsp_counter_own(&row->outer))
        return false;
    open_set(&row->outer, (uintptr_t)e);
    open_set(&row->start, jsp_counter_own(&c->time));
    return true;
}

/* End the time of a function, or of an edge, if this was its outermost call. */
OPEN_INLINE void hooks_row_leave(const struct jsp_calls *c, struct jsp_calls_row *row,
                                 const struct jsp_calls_entry *e)
{
    if (jsp_counter_own(&row->outer) == (uintptr_t)e) {
        open_set(&row->outer, 0);
        jsp_counter_add(&row->total,
                        jsp_counter_own(&c->time) - jsp_counter_own(&row->start));
    }
}

OPEN_INLINE bool hooks_enter(struct jsp_calls *c, const jsprof_function *f,
                             struct jsp_calls_place place, struct hooks_way way)
{
    struct jsp_calls_entry *top = jsp_calls_top(c), *e = top->next;
    struct jsp_calls_row *row = (void *)((char *)c->rows + f->cell), *self = jsp_calls_row(top);
    uint64_t passed;
    if (!e)
        return false;
    __asm__("" : "+r"(row), "+r"(self)); /* load them now, not later */
    uint64_t now = hooks_now(c, way.given);
    if (!hooks_in(c, now, &passed))
        return false;
    jsp_counter_add(&self->self, passed);
    if (__builtin_expect(place.link != NULL, 1))
        e->key = (uintptr_t)place.link;
    else
        e->key = jsp_calls_array_key(place.t->depth - c->base);
    jsp_calls_row_is(e, row);
    if (hooks_row_enter(c, row, e))
        jsp_calls_touch(c, f->index);
    if (way.edges) {
        e->edge = hooks_edge(c, top, e, f);
        hooks_row_enter(c, &c->edges[e->edge].row, e);
    }
    jsp_calls_top_is(c, e);
    hooks_end(c, now, c->cost[JSP_CALLS_ENTER]);
    return true;
}

OPEN_INLINE bool hooks_leave(struct jsp_calls *c, struct jsp_calls_entry *e,
                             struct hooks_way way)
{
    struct jsp_calls_entry *up = e->up;
    struct jsp_calls_row *row = jsp_calls_row(e);
    uint64_t now = hooks_now(c, way.given), passed;
    if (!hooks_in(c, now, &passed))
        return false;
    jsp_counter_add(&row->self, passed);
    hooks_row_leave(c, row, e);
    if (way.edges && __builtin_expect(e->edge != UINT32_MAX, 1))
        hooks_row_leave(c, &c->edges[e->edge].row, e);
    jsp_calls_top_is(c, up);
    hooks_end(c, now, c->cost[JSP_CALLS_LEAVE]);
    return true;
}

/* -- All other events --------------------------------------------------------- */

/* Return true if a test sets the clock; such a table takes the same path as the
 * counter. */
static bool hooks_are_given(const struct jsp_calls *c)
{
    /* ORDER: relaxed, both. Only the owner stores the first; event.c loads the second
     * again where it matters. */
    uint32_t seen = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    /* ORDER: relaxed. As above. */
    return seen == atomic_load_explicit(&c->shared->epoch, memory_order_relaxed) && c->plain &&
           c->shared->clock.source == JSP_CALLS_GIVEN && jsp_calls_is_mine(c);
}

static struct hooks_way hooks_way_given(const struct jsp_calls *c)
{
    return (struct hooks_way){ true, c->modes & JSPROF_CALLS_EDGES };
}

static __attribute__((noinline)) void hooks_enter_any(jsprof_thread *t, const jsprof_function *f,
                                                      const jsprof_link *link)
{
    struct jsp_calls_place place = { t, link };
    struct jsp_calls *c = t ? t->calls : NULL;
    if (!c)
        return;
    if (!f || !f->cell || !hooks_are_given(c) ||
        !hooks_enter(c, f, place, hooks_way_given(c)))
        jsp_calls_enter(c, f, place);
}

static __attribute__((noinline)) void hooks_leave_any(jsprof_thread *t, const jsprof_link *link,
                                                      uint32_t depth)
{
    struct jsp_calls_place place = { t, link };
    struct jsp_calls *c = t ? t->calls : NULL;
    if (!c)
        return;
    struct jsp_calls_entry *e = jsp_calls_top(c);
    if (e->key != jsp_calls_key(c, place, depth) || !hooks_are_given(c) ||
        !hooks_leave(c, e, hooks_way_given(c)))
        jsp_calls_leave(c, place, depth);
}

/* -- The hooks ----------------------------------------------------------------- */

static const struct hooks_way hooks_usual = { false, false }, hooks_edges = { false, true };

void jsprof_count_enter(jsprof_thread *t, const jsprof_function *f, jsprof_link *link)
{
    struct jsp_calls_place place = { t, link };
    if (t && f && f->cell) {
        uint32_t counting = jsprof_counting(t);
        struct jsp_calls *c = t->calls;
        if (counting == JSPROF_CALLS_USUAL) {
            if (jsp_calls_is_mine(c) && hooks_enter(c, f, place, hooks_usual))
                return;
        } else if (counting == HOOKS_EDGES && jsp_calls_is_mine(c) &&
                   hooks_enter(c, f, place, hooks_edges)) {
            return;
        }
    }
    hooks_enter_any(t, f, link);
}

void jsprof_count_leave(jsprof_thread *t, const jsprof_link *link, uint32_t depth)
{
    struct jsp_calls_place place = { t, link };
    uint32_t counting = t ? jsprof_counting(t) : 0;
    if (counting == JSPROF_CALLS_USUAL || counting == HOOKS_EDGES) {
        struct jsp_calls *c = t->calls;
        struct jsp_calls_entry *e = jsp_calls_top(c);
        if (e->key == jsp_calls_key(c, place, depth) && jsp_calls_is_mine(c) &&
            (counting == HOOKS_EDGES ? hooks_leave(c, e, hooks_edges)
                                     : hooks_leave(c, e, hooks_usual)))
            return;
    }
    hooks_leave_any(t, link, depth);
}

static void hooks_push(jsprof_thread *t, jsprof_link *link)
{
    /* ORDER: signal fence only; as in jsprof_push. */
    atomic_signal_fence(memory_order_release);
    t->top = link;
}

static __attribute__((noinline)) void hooks_timed_enter_any(jsprof_thread *t,
                                                            const jsprof_function *f,
                                                            jsprof_link *link)
{
    hooks_enter_any(t, f, link);
    hooks_push(t, link);
}

void jsprof_timed_enter(jsprof_thread *t, const jsprof_function *f, jsprof_link *link)
{
    struct jsp_calls_place place = { t, link };
    struct jsp_calls *c = t->calls;
    if (!link)
        __builtin_unreachable();
    if (f && f->cell && jsp_calls_is_mine(c) && hooks_enter(c, f, place, hooks_usual))
        hooks_push(t, link);
    else
        hooks_timed_enter_any(t, f, link);
}

void jsprof_timed_leave(jsprof_thread *t, const jsprof_link *link)
{
    struct jsp_calls *c = t->calls;
    struct jsp_calls_entry *e = jsp_calls_top(c);
    if (e->key != (uintptr_t)link || !jsp_calls_is_mine(c) || !hooks_leave(c, e, hooks_usual))
        hooks_leave_any(t, link, 0);
}

void jsprof_count_tail(jsprof_thread *t, const jsprof_function *f, const jsprof_link *link)
{
    struct jsp_calls_place place = { t, link };
    if (t && t->calls)
        jsp_calls_tail(t->calls, f, place);
}

void jsprof_count_unwind(jsprof_thread *t, const jsprof_link *link)
{
    struct jsp_calls_place place = { t, link };
    if (t && t->calls)
        jsp_calls_unwind(t->calls, place, false);
}

static void hooks_unwind_call(jsprof_thread *t, uintptr_t key, bool is_left)
{
    struct jsp_calls_place place = { t, jsp_calls_host_link(key) };
    if (t && t->calls)
        jsp_calls_unwind(t->calls, place, is_left);
}

void jsprof_count_call(jsprof_thread *t, enum jsprof_call_event event,
                       const jsprof_function *f, uintptr_t key)
{
    jsprof_link *link = jsp_calls_host_link(key);
    switch (event) {
    case JSPROF_CALL_ENTER: jsprof_count_enter(t, f, link); break;
    case JSPROF_CALL_LEAVE: jsprof_count_leave(t, link, 0); break;
    case JSPROF_CALL_LEAVE_THROUGH: hooks_unwind_call(t, key, true); break;
    case JSPROF_CALL_UNWIND_TO: hooks_unwind_call(t, key, false); break;
    case JSPROF_CALL_TAIL: jsprof_count_tail(t, f, link); break;
    default: break;
    }
}

void jsprof_count_alloc(jsprof_thread *t, size_t bytes)
{
    struct jsp_calls_place place = { t, NULL };
    if (t && t->calls)
        jsp_calls_alloc(t->calls, place, bytes);
}
