/* session/calls_hooks.c - the public hooks, see jsprof.h. They stand here because one more
 * call a call would be felt; and for the same reason the usual event, of calls and time
 * by the processor's counter, has code of its own, which saves no register. What is not
 * usual goes to calls_event.c, which does the same for all.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls_open.h"

enum { HOOKS_MODES = JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME };

/* An event of the usual kind, on its way. */
struct hooks_event {
    uint64_t now;
    uint32_t seq; /* before it */
};

/* False: it is another kind of event, or somebody else's. */
OPEN_INLINE bool hooks_begin(struct jsp_calls *c, struct hooks_event *event)
{
    /* ORDER: relaxed. The owner alone stores both; the epoch is looked at again where it
     * counts, in calls_event.c. */
    event->seq = atomic_load_explicit(&c->seq, memory_order_relaxed);
    uint32_t seen = atomic_load_explicit(&c->epoch, memory_order_relaxed); /* ORDER: relaxed */
    /* ORDER: relaxed. As above. */
    uint32_t epoch = atomic_load_explicit(&c->shared->epoch, memory_order_relaxed);
    if (!c->plain || c->owner != jsp_calls_me() || event->seq & 1 || seen != epoch)
        return false;
    const struct jsp_calls_clock *clock = &c->shared->clock;
    event->now = __builtin_expect(!clock->given, 1) ? jsp_counter_now() : *clock->given;
    /* ORDER: signal fence only. A handler that told something meanwhile runs here. */
    atomic_signal_fence(memory_order_seq_cst);
    /* ORDER: relaxed. The owner alone stores it. */
    return atomic_load_explicit(&c->seq, memory_order_relaxed) == event->seq;
}

OPEN_INLINE void hooks_odd(struct jsp_calls *c, const struct hooks_event *event)
{
    /* ORDER: relaxed, and made earlier than all that follows by the fence. */
    atomic_store_explicit(&c->seq, event->seq + 1, memory_order_relaxed);
    /* ORDER: release, as Q1 in calls_event.c. */
    atomic_thread_fence(memory_order_release);
}

OPEN_INLINE void hooks_even(struct jsp_calls *c, const struct hooks_event *event)
{
    /* ORDER: release, as Q2 in calls_event.c. */
    atomic_store_explicit(&c->seq, event->seq + 2, memory_order_release);
}

OPEN_INLINE uintptr_t hooks_key(const struct jsp_calls *c, const jsprof_link *link,
                                uint32_t depth)
{
    return link ? (uintptr_t)link : jsp_calls_array_key(depth - c->base);
}

static __attribute__((noinline)) void hooks_enter_any(jsprof_thread *t, const jsprof_function *f,
                                                      const jsprof_link *link)
{
    struct jsp_calls_place place = { t, link };
    if (t && t->calls)
        jsp_calls_enter(t->calls, f, place);
}

static __attribute__((noinline)) void hooks_leave_any(jsprof_thread *t, const jsprof_link *link,
                                                      uint32_t depth)
{
    struct jsp_calls_place place = { t, link };
    if (t && t->calls)
        jsp_calls_leave(t->calls, place, depth);
}

void jsprof_count_enter(jsprof_thread *t, const jsprof_function *f, jsprof_link *link)
{
    struct jsp_calls *c = t ? t->calls : NULL;
    struct jsp_calls_entry *e = c ? c->spare : NULL;
    struct hooks_event event;
    if (!e || !f || f->kind == JSPROF_KIND_GC || !hooks_begin(c, &event)) {
        hooks_enter_any(t, f, link);
        return;
    }
    struct jsp_calls_row *row = &c->rows[f->index];
    hooks_odd(c, &event);
    jsp_calls_advance(c, JSP_CALLS_ENTER, event.now, HOOKS_MODES);
    jsp_calls_touch(c, f->index);
    jsp_count(&row->calls, 1);
    c->spare = e->up;
    e->up = c->top;
    e->key = hooks_key(c, link, t->depth);
    e->index = f->index;
    e->edge = UINT32_MAX;
    e->gc = 0;
    jsp_calls_row_open(c, row, HOOKS_MODES);
    jsp_calls_top_is(c, e);
    hooks_even(c, &event);
}

void jsprof_count_leave(jsprof_thread *t, const jsprof_link *link, uint32_t depth)
{
    struct jsp_calls *c = t ? t->calls : NULL;
    struct jsp_calls_entry *e = c ? c->top : NULL;
    struct hooks_event event;
    if (!e || e == c->floor || e->gc || e->key != hooks_key(c, link, depth) ||
        !hooks_begin(c, &event)) {
        hooks_leave_any(t, link, depth);
        return;
    }
    hooks_odd(c, &event);
    jsp_calls_advance(c, JSP_CALLS_LEAVE, event.now, HOOKS_MODES);
    jsp_calls_row_close(c, jsp_calls_self(c), HOOKS_MODES);
    jsp_calls_top_is(c, e->up);
    jsp_calls_entry_give(c, e);
    c->beyond = 0;
    hooks_even(c, &event);
}

void jsprof_count_tail(jsprof_thread *t, const jsprof_function *f, const jsprof_link *link)
{
    struct jsp_calls_place place = { t, link };
    if (t && t->calls)
        jsp_calls_tail(t->calls, f, place);
}

void jsprof_count_alloc(jsprof_thread *t, size_t bytes)
{
    struct jsp_calls_place place = { t, NULL };
    if (t && t->calls)
        jsp_calls_alloc(t->calls, place, bytes);
}
