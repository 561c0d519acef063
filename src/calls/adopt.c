/* calls/adopt.c - a thread learns that the modes have changed.
 *
 * What was open ends at the moment of that change, which the thread may notice late;
 * and what is on its stacks now is taken in as of the moment at which the new modes
 * began: nothing was entered or left since, or the thread would have been seen.
 *
 * SPDX-License-Identifier: MIT
 */
#include "open.h"
#include "sigsafe/sample.h"

static const struct jsp_calls_epoch *adopt_epoch(const struct jsp_calls *c, uint32_t epoch)
{
    return &c->shared->epochs[epoch % JSP_CALLS_EPOCHS];
}

/* When the epoch ended that the thread was last seen in; 0: that is forgotten. */
static uint64_t adopt_stop(const struct jsp_calls *c, uint32_t seen, uint32_t now)
{
    if (now - seen >= JSP_CALLS_EPOCHS)
        return 0;
    /* ORDER: relaxed. Stored before the epoch that we were given with acquire. */
    return atomic_load_explicit(&adopt_epoch(c, seen)->stop, memory_order_relaxed);
}

bool jsp_calls_epoch_runs(const struct jsp_calls *c)
{
    /* ORDER: relaxed. The owner alone stores the epoch; a stop is a statistic here. */
    uint32_t seen = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    /* ORDER: relaxed. As above. */
    return !atomic_load_explicit(&adopt_epoch(c, seen)->stop, memory_order_relaxed);
}

/* -- The end of what was ------------------------------------------------------- */

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

/* -- The beginning of what is --------------------------------------------------- */

enum { ADOPT_NO_BASE = UINT32_MAX }; /* nothing of the array is on that level */

/* The two kinds of entries, innermost first, of which each is on a level. */
struct adopt_walk {
    struct jsp_calls *c;
    const jsprof_thread *t;
    const jsprof_link *link; /* next one; NULL: no more */
    uint32_t depth;          /* array entries that are left */
    uint32_t n_levels;       /* beside the thread's own */
    const jsprof_cstack *chain[JSP_CALLS_LEVELS]; /* by level; [0] NULL: the own one */
    uint32_t bases[JSP_CALLS_LEVELS];
    struct jsp_calls_entry *first; /* what was found, by `next`, outermost first */
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

/* Its level is kept where the edge will be. */
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

/* Pushed with a name only, it is no function. */
static bool adopt_is_function(const jsprof_frame *frame)
{
    return frame->function || !frame->label;
}

static void adopt_frame(struct adopt_walk *w)
{
    const jsprof_frame *frame = &w->t->frames[w->depth - 1];
    uint32_t level = adopt_level(w, frame->sp);
    w->depth--;
    w->bases[level] = w->depth; /* at last: of its outermost one */
    if (adopt_is_function(frame))
        adopt_add(w, frame->function, jsp_calls_array_key(w->depth), level);
}

static void adopt_link(struct adopt_walk *w)
{
    adopt_add(w, w->link->function, (uintptr_t)w->link, adopt_level(w, (uintptr_t)w->link));
    w->link = w->link->up;
}

/* Is the next array entry inside of the next link? */
static bool adopt_array_first(const struct adopt_walk *w)
{
    if (!w->depth || !w->link)
        return w->depth;
    uintptr_t frame = w->t->frames[w->depth - 1].sp, link = (uintptr_t)w->link;
    uint32_t level = adopt_level(w, frame), other = adopt_level(w, link);
    return level > other || (level == other && frame < link);
}

/* A level on which nothing of the array is begins where the next one does. */
static void adopt_bases(struct adopt_walk *w, uint32_t depth)
{
    for (uint32_t i = w->n_levels + 1; i--;) {
        if (w->bases[i] == ADOPT_NO_BASE)
            w->bases[i] = i ? depth : 0;
        depth = w->bases[i];
    }
}

/* All that was found is open. Keys of array entries count from where their level begins. */
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
    struct adopt_walk w = { .c = c, .t = t, .link = place.link ? place.link : t->top,
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

/* The owner knows the modes that `now` has: the short ways may be taken again. */
static void adopt_tell(const struct jsp_calls *c, const jsprof_thread *t, uint32_t now)
{
    uint32_t *counting = (uint32_t *)(uintptr_t)&t->counting, asked = c->modes | JSP_CALLS_ASK;
    if (c->shared->clock.source != JSP_CALLS_COUNTER)
        return;
    /* ORDER: acq_rel. Acquire pairs with calls_turn in calls.c: whose modes these are, if they
     * are newer, that epoch is seen below; release has no other side. */
    if (!__atomic_compare_exchange_n(counting, &asked, c->modes, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) /* ORDER: relaxed, acq_rel: as above */
        return;
    /* ORDER: relaxed, made later by the exchange. */
    if (atomic_load_explicit(&c->shared->epoch, memory_order_relaxed) != now)
        __atomic_fetch_or(counting, JSP_CALLS_ASK, __ATOMIC_RELAXED); /* ORDER: relaxed, same */
}

void jsp_calls_adopt(struct jsp_calls *c, struct jsp_calls_place place)
{
    /* ORDER: acquire, pairs with P1 in calls.c: what belongs to it is there. */
    uint32_t now = atomic_load_explicit(&c->shared->epoch, memory_order_acquire);
    /* ORDER: relaxed. The owner alone stores it. */
    uint32_t seen = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    uint64_t last = open_get(&c->last);
    bool late = c->modes & JSPROF_CALLS_TIME && (int64_t)(last - adopt_epoch(c, now)->start) > 0;
    adopt_end(c, adopt_stop(c, seen, now));
    const struct jsp_calls_epoch *epoch = adopt_epoch(c, now);
    c->modes = place.t ? epoch->modes : 0;
    memcpy(c->cost, epoch->cost, sizeof c->cost);
    c->plain = c->modes == (JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME);
    jsp_calls_beyond_is(c, 0);
    if (!late) /* what was told meanwhile had its time in the epoch before */
        jsp_calls_skip_to(c, epoch->start);
    /* ORDER: relaxed. The version changes when all of it is there. */
    atomic_store_explicit(&c->epoch, now, memory_order_relaxed);
    if (c->modes & ~(uint32_t)JSPROF_CALLS_COUNT) {
        /* ORDER: relaxed. As above. */
        atomic_store_explicit(&c->timed, true, memory_order_relaxed);
        adopt_begin(c, place);
    }
    if (place.t)
        adopt_tell(c, place.t, now);
}
