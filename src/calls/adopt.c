/* calls/adopt.c - a thread takes over changed modes.
 *
 * The thread notices a change at its next event, perhaps late. Calls that were open under the
 * old modes end at the moment of the change. Calls that are on its stacks now begin at that
 * moment under the new modes: the thread has entered and left no function since the change, or
 * it would have noticed it earlier.
 *
 * SPDX-License-Identifier: MIT
 */
#include "open.h"
#include "sigsafe/sample.h"

static const struct jsp_calls_epoch *adopt_epoch(const struct jsp_calls *c, uint32_t epoch)
{
    return &c->shared->epochs[epoch % JSP_CALLS_EPOCHS];
}

/* Return when the epoch of the thread's last event ended, or 0 if that is no longer
 * known. */
static uint64_t adopt_stop(const struct jsp_calls *c, uint32_t seen, uint32_t now)
{
    if (now - seen >= JSP_CALLS_EPOCHS)
        return 0;
    /* ORDER: relaxed. The writer stored it before the epoch, which we loaded with
     * acquire. */
    return atomic_load_explicit(&adopt_epoch(c, seen)->stop, memory_order_relaxed);
}

bool jsp_calls_epoch_runs(const struct jsp_calls *c)
{
    /* ORDER: relaxed. Only the owner stores the epoch; the stop is a statistic here. */
    uint32_t seen = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    /* ORDER: relaxed. As above. */
    return !atomic_load_explicit(&adopt_epoch(c, seen)->stop, memory_order_relaxed);
}

/* -- The end of the old modes ------------------------------------------------- */

static void adopt_forget_all(struct jsp_calls *c)
{
    if (c->n_asides)
        memset(c->aside_slots, 0, JSP_CALLS_ASIDE * sizeof *c->aside_slots);
    c->n_asides = 0;
    c->spare_aside = 0;
    c->spare = NULL;
    c->n_entries = 0;
    c->level = 0;
    c->base = 0;
    c->levels[0].floor.next = NULL;
    jsp_calls_top_is(c, &c->levels[0].floor);
}

static void adopt_end(struct jsp_calls *c, uint64_t stop)
{
    if (c->modes & JSPROF_CALLS_TIME && (int64_t)(stop - open_get(&c->last)) > 0)
        jsp_calls_pass_to(c, stop);
    while (jsp_calls_top(c) != &c->levels[0].floor)
        jsp_calls_pop(c);
    adopt_forget_all(c);
}

/* -- The beginning of the new modes ------------------------------------------- */

enum { ADOPT_NO_BASE = UINT32_MAX }; /* the level has no array entries */

/* A walk over both kinds of entries, innermost first. Each entry belongs to a level. */
struct adopt_walk {
    struct jsp_calls *c;
    const jsprof_thread *t;
    const jsprof_link *link; /* next link; NULL: no more */
    uint32_t depth;          /* array entries left */
    uint32_t n_levels;       /* besides the thread's own stack */
    /* by level; [0] is NULL: the thread's own */
    const jsprof_cstack *chain[JSP_CALLS_LEVELS];
    uint32_t bases[JSP_CALLS_LEVELS];
    /* the entries found, linked by `next`, outermost first */
    struct jsp_calls_entry *first;
};

static void adopt_chain(struct adopt_walk *w, const jsprof_cstack *stack)
{
    uint32_t n = 0;
    for (const jsprof_cstack *s = stack; s && n + 1 < JSP_CALLS_LEVELS; s = s->resumer)
        n++;
    w->n_levels = n;
    for (; n; n--, stack = stack->resumer)
        w->chain[n] = stack;
    w->chain[0] = NULL;
    for (uint32_t i = 0; i <= w->n_levels; i++)
        w->bases[i] = ADOPT_NO_BASE;
}

static uint32_t adopt_level(const struct adopt_walk *w, uintptr_t address)
{
    for (uint32_t i = w->n_levels; i; i--)
        if (address - (uintptr_t)w->chain[i]->low <
            (uintptr_t)w->chain[i]->high - (uintptr_t)w->chain[i]->low)
            return i;
    return 0;
}

/* Add an entry. Its level is stored in `edge` until the entry is opened. */
static void adopt_add(struct adopt_walk *w, const jsprof_function *f, uintptr_t key,
                      uint32_t level)
{
    struct jsp_calls *c = w->c;
    if (c->n_entries == JSP_CALLS_OPEN) {
        jsp_count(&c->depth_lost, 1);
        return;
    }
    struct jsp_calls_entry *e = &c->entries[c->n_entries++];
    uint32_t index = f ? f->index : JSP_FUNCTION_NONE;
    jsp_calls_touch(c, index);
    jsp_calls_row_is(e, &c->rows[index]);
    e->key = key | (f && f->kind == JSPROF_KIND_GC ? JSP_CALLS_KEY_GC : 0);
    e->edge = level;
    e->next = w->first;
    w->first = e;
}

static void adopt_frame(struct adopt_walk *w)
{
    const jsprof_frame *frame = &w->t->frames[w->depth - 1];
    uint32_t level = adopt_level(w, frame->sp);
    w->depth--;
    w->bases[level] = w->depth; /* overwritten until it is the level's outermost one */
    if (frame->function || !frame->label) /* it was not pushed with a name only */
        adopt_add(w, frame->function, jsp_calls_array_key(w->depth), level);
}

static void adopt_link(struct adopt_walk *w)
{
    adopt_add(w, w->link->function, (uintptr_t)w->link, adopt_level(w, (uintptr_t)w->link));
    w->link = w->link->up;
}

/* Return true if the next array entry is inside of the next link. */
static bool adopt_array_first(const struct adopt_walk *w)
{
    if (!w->depth || !w->link)
        return w->depth;
    uintptr_t frame = w->t->frames[w->depth - 1].sp, link = (uintptr_t)w->link;
    uint32_t level = adopt_level(w, frame), other = adopt_level(w, link);
    return level > other || (level == other && frame < link);
}

/* Let a level without array entries begin where the next level does. */
static void adopt_bases(struct adopt_walk *w, uint32_t depth)
{
    for (uint32_t i = w->n_levels + 1; i--;) {
        if (w->bases[i] == ADOPT_NO_BASE)
            w->bases[i] = i ? depth : 0;
        depth = w->bases[i];
    }
}

/* Open all entries found. Keys of array entries count from the begin of their level. */
static void adopt_open(struct adopt_walk *w)
{
    struct jsp_calls *c = w->c;
    for (struct jsp_calls_entry *e = w->first, *next; e; e = next) {
        next = e->next;
        while (c->level < e->edge)
            jsp_calls_levels_begin(c, w->chain[c->level + 1], w->bases[c->level + 1]);
        if (e->key & JSP_CALLS_KEY_ARRAY)
            e->key -= (uintptr_t)c->base << 2;
        e->edge = UINT32_MAX;
        e->next = NULL;
        jsp_calls_insert(jsp_calls_top(c), e, e);
        jsp_calls_entry_open(c, e);
        jsp_calls_top_is(c, e);
    }
    while (c->level < w->n_levels)
        jsp_calls_levels_begin(c, w->chain[c->level + 1], w->bases[c->level + 1]);
}

static void adopt_begin(struct jsp_calls *c, struct jsp_calls_place place)
{
    const jsprof_thread *t = place.t;
    bool has_link = place.link && !((uintptr_t)place.link & JSP_CALLS_KEY_HOST);
    struct adopt_walk w = { .c = c, .t = t, .link = has_link ? place.link : t->top,
                            .depth = t->depth < t->capacity ? t->depth : t->capacity };
    adopt_chain(&w, ((const struct jsp_sampled *)(const void *)t)->cstack);
    while (w.depth || w.link) {
        if (adopt_array_first(&w))
            adopt_frame(&w);
        else
            adopt_link(&w);
    }
    adopt_bases(&w, t->depth);
    adopt_open(&w);
}

/* Note in `counting` that the owner knows the modes of epoch `now`: the fast paths are
 * allowed again. */
static void adopt_allow(const struct jsp_calls *c, const jsprof_thread *t, uint32_t now)
{
    uint32_t *counting = (uint32_t *)(uintptr_t)&t->counting, asked = c->modes | JSP_CALLS_ASK;
    if (c->shared->clock.source != JSP_CALLS_COUNTER)
        return;
    /* ORDER: acq_rel. Acquire pairs with calls_turn in calls.c: if the modes are newer,
     * the load below sees their epoch; release has no partner. */
    if (!__atomic_compare_exchange_n(counting, &asked, c->modes, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) /* ORDER: relaxed, acq_rel: as above */
        return;
    /* ORDER: relaxed; the exchange orders it. */
    if (atomic_load_explicit(&c->shared->epoch, memory_order_relaxed) != now)
        __atomic_fetch_or(counting, JSP_CALLS_ASK, __ATOMIC_RELAXED); /* ORDER: relaxed, same */
}

void jsp_calls_adopt(struct jsp_calls *c, struct jsp_calls_place place)
{
    /* ORDER: acquire, pairs with P1 in calls.c: the data of that epoch are visible. */
    uint32_t now = atomic_load_explicit(&c->shared->epoch, memory_order_acquire);
    /* ORDER: relaxed. Only the owner stores it. */
    uint32_t seen = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    uint64_t last = open_get(&c->last);
    bool late = c->modes & JSPROF_CALLS_TIME && (int64_t)(last - adopt_epoch(c, now)->start) > 0;
    adopt_end(c, adopt_stop(c, seen, now));
    const struct jsp_calls_epoch *epoch = adopt_epoch(c, now);
    c->modes = place.t ? epoch->modes : 0;
    memcpy(c->cost, epoch->cost, sizeof c->cost);
    c->plain = (c->modes & ~(uint32_t)JSPROF_CALLS_EDGES) == JSPROF_CALLS_USUAL;
    jsp_calls_beyond_is(c, 0);
    if (!late) /* events after the change counted their time in the epoch before */
        jsp_calls_skip_to(c, epoch->start);
    /* ORDER: relaxed. Readers check the version, which changes when all stores are
     * done. */
    atomic_store_explicit(&c->epoch, now, memory_order_relaxed);
    if (c->modes & ~(uint32_t)JSPROF_CALLS_COUNT) {
        /* ORDER: relaxed. As above. */
        atomic_store_explicit(&c->timed, true, memory_order_relaxed);
        adopt_begin(c, place);
    }
    if (place.t)
        adopt_allow(c, place.t, now);
}
