/* session/calls_adopt.c - a thread learns that the modes have changed.
 *
 * What was open ends at the moment of that change, which the thread may notice late;
 * and what is on its stacks now is taken in as of the moment at which the new modes
 * began: nothing was entered or left since, or the thread would have been seen.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls_open.h"
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
    c->beyond = 0;
    c->level = 0;
    c->floor = NULL;
    c->base = 0;
    c->levels[0] = (struct jsp_calls_level){ 0 };
    jsp_calls_top_is(c, NULL);
}

static void adopt_end(struct jsp_calls *c, uint64_t stop)
{
    uint64_t last = open_get(&c->time) + open_get(&c->offset);
    if (c->modes & JSPROF_CALLS_TIME && (int64_t)(stop - last) > 0) {
        jsp_count(&c->time, stop - last);
        jsp_count(&jsp_calls_self(c)->self, stop - last);
    }
    while (c->top)
        jsp_calls_pop(c, c->modes);
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
    const jsprof_cstack *chain[JSP_CALLS_LEVELS]; /* by level; [0] NULL: the own one */
    struct jsp_calls_entry **end;                 /* where the next one hangs */
    uint32_t level;                               /* of the last one */
};

static void adopt_chain(struct adopt_walk *w, const jsprof_cstack *stack)
{
    uint32_t n = 0;
    for (const jsprof_cstack *s = stack; s && n + 1 < JSP_CALLS_LEVELS; s = s->resumer)
        n++;
    w->c->level = n;
    for (; n; n--, stack = stack->resumer)
        w->chain[n] = stack;
    w->chain[0] = NULL;
    for (uint32_t i = 0; i <= w->c->level; i++)
        w->c->levels[i] = (struct jsp_calls_level){ .stack = w->chain[i], .base = ADOPT_NO_BASE };
}

static uint32_t adopt_level(const struct adopt_walk *w, uintptr_t address)
{
    for (uint32_t i = w->c->level; i; i--)
        if (address - (uintptr_t)w->chain[i]->low <
            (uintptr_t)w->chain[i]->high - (uintptr_t)w->chain[i]->low)
            return i;
    return 0;
}

static void adopt_add(struct adopt_walk *w, const jsprof_function *f, uintptr_t key,
                      uint32_t level)
{
    struct jsp_calls_entry *e = jsp_calls_entry_take(w->c);
    if (!e) {
        jsp_count(&w->c->depth_lost, 1);
        return;
    }
    *e = (struct jsp_calls_entry){ .key = key, .index = f ? f->index : JSP_FUNCTION_NONE,
                                   .edge = UINT32_MAX, .gc = f && f->kind == JSPROF_KIND_GC };
    jsp_calls_touch(w->c, e->index);
    jsp_calls_entry_open(w->c, e, w->c->modes);
    *w->end = e;
    w->end = &e->up;
    if (!w->c->levels[level].top)
        w->c->levels[level].top = e;
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
    w->c->levels[level].base = w->depth; /* at last: of its outermost one */
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

/* Keys of array entries count from where their level begins. */
static void adopt_levels(struct jsp_calls *c, uint32_t depth)
{
    struct jsp_calls_entry *floor = NULL;
    for (uint32_t i = c->level + 1; i--;) {
        if (c->levels[i].base == ADOPT_NO_BASE)
            c->levels[i].base = i ? depth : 0;
        depth = c->levels[i].base;
    }
    for (uint32_t i = 0; i <= c->level; i++) {
        struct jsp_calls_level *level = &c->levels[i];
        level->floor = floor;
        level->top = level->top ? level->top : floor;
        for (struct jsp_calls_entry *e = level->top; e != floor; e = e->up)
            if (e->key & 1)
                e->key -= (uintptr_t)level->base << 1;
        floor = level->top;
    }
    c->floor = c->levels[c->level].floor;
    c->base = c->levels[c->level].base;
    jsp_calls_top_is(c, floor);
}

static void adopt_begin(struct jsp_calls *c, struct jsp_calls_place place)
{
    struct jsp_calls_entry *top = NULL;
    const jsprof_thread *t = place.t;
    struct adopt_walk w = { .c = c, .t = t, .end = &top,
                            .link = place.link ? place.link : t->top,
                            .depth = t->depth < t->capacity ? t->depth : t->capacity };
    adopt_chain(&w, ((const struct jsp_sampled *)(const void *)t)->cstack);
    while (w.depth || w.link) {
        if (adopt_array_first(&w))
            adopt_frame(&w);
        else
            adopt_link(&w);
    }
    adopt_levels(c, t->depth);
}

void jsp_calls_adopt(struct jsp_calls *c, struct jsp_calls_place place)
{
    /* ORDER: acquire, pairs with P1 in calls.c: what belongs to it is there. */
    uint32_t now = atomic_load_explicit(&c->shared->epoch, memory_order_acquire);
    /* ORDER: relaxed. The owner alone stores it. */
    uint32_t seen = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    adopt_end(c, adopt_stop(c, seen, now));
    const struct jsp_calls_epoch *epoch = adopt_epoch(c, now);
    c->modes = place.t ? epoch->modes : 0;
    memcpy(c->cost, epoch->cost, sizeof c->cost);
    c->plain = c->modes == (JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME) &&
               c->shared->clock.source != JSP_CALLS_MONOTONIC;
    c->cost_next = 0;
    jsp_calls_skip_to(c, epoch->start);
    /* ORDER: relaxed. `seq` is odd until all of it is there. */
    atomic_store_explicit(&c->epoch, now, memory_order_relaxed);
    if (!(c->modes & ~(uint32_t)JSPROF_CALLS_COUNT))
        return;
    /* ORDER: relaxed. `seq` is odd until all of it is there. */
    atomic_store_explicit(&c->timed, true, memory_order_relaxed);
    adopt_begin(c, place);
}
