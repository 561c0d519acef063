/* session/calls_levels.c - calls that are open on several stacks.
 *
 * The running stack is a chain of levels: the thread's own stack, a coroutine that was
 * resumed from it, one that was resumed from that one. The entries of all levels hang
 * together by `up`. A switch to a stack that is not resumed from all of them suspends
 * the rest: their entries are put aside, without time, until their stack runs again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls_open.h"

/* -- Aside -------------------------------------------------------------------- */

static uint32_t *levels_slot(const struct jsp_calls *c, const void *stack)
{
    uint64_t hash = (uint64_t)(uintptr_t)stack * 0x9E3779B97F4A7C15u >> 48; /* 16 bits */
    _Static_assert(JSP_CALLS_ASIDE == 1 << 16, "the shift above");
    return &c->aside_slots[hash];
}

bool jsp_calls_aside_take(struct jsp_calls *c, const void *stack, struct jsp_calls_aside *out)
{
    for (uint32_t *at = levels_slot(c, stack); *at; at = &c->asides[*at].next) {
        uint32_t i = *at;
        if (c->asides[i].stack != stack)
            continue;
        *out = c->asides[i];
        *at = out->next;
        c->asides[i].next = c->spare_aside;
        c->spare_aside = i;
        return true;
    }
    return false;
}

/* False: there are too many. */
static bool levels_put_aside(struct jsp_calls *c, const struct jsp_calls_aside *aside)
{
    uint32_t i = c->spare_aside, *slot = levels_slot(c, aside->stack);
    if (i)
        c->spare_aside = c->asides[i].next;
    else if (c->n_asides + 1 < JSP_CALLS_ASIDE)
        i = ++c->n_asides;
    else
        return false;
    c->asides[i] = *aside;
    c->asides[i].next = *slot;
    *slot = i;
    return true;
}

/* -- Levels ------------------------------------------------------------------- */

static void levels_run(struct jsp_calls *c, uint32_t level, struct jsp_calls_entry *top)
{
    c->level = level;
    c->floor = c->levels[level].floor;
    c->base = c->levels[level].base;
    jsp_calls_top_is(c, top);
}

/* The innermost level stops; what called it is innermost. */
static void levels_suspend(struct jsp_calls *c)
{
    const struct jsp_calls_level *level = &c->levels[c->level];
    struct jsp_calls_aside aside = { level->stack, c->top, NULL, 0 };
    uint64_t n = 0;
    for (struct jsp_calls_entry *e = c->top; e != level->floor; e = e->up, n++) {
        jsp_calls_entry_close(c, e, c->modes);
        aside.bottom = e;
    }
    if (aside.bottom && !levels_put_aside(c, &aside)) {
        aside.bottom->up = c->spare;
        c->spare = aside.top;
        jsp_count(&c->depth_lost, n); /* their leaves will be without an enter */
    }
    levels_run(c, c->level - 1, level->floor);
}

/* How deep the array is with all that is open on it from `depth` on. */
static uint32_t levels_depth(const struct jsp_calls_entry *e, uint32_t depth,
                             const struct jsp_calls_entry *floor)
{
    while (e != floor && !(e->key & 1))
        e = e->up;
    return e == floor ? depth : depth + (uint32_t)(e->key >> 1) + 1;
}

/* Its array entries begin at `depth`; at which those of the next one would. */
static uint32_t levels_resume(struct jsp_calls *c, const void *stack, uint32_t depth)
{
    struct jsp_calls_entry *floor = c->top, *top = floor;
    struct jsp_calls_aside aside;
    c->levels[c->level].top = floor;
    c->levels[c->level + 1] = (struct jsp_calls_level){ stack, NULL, floor, depth };
    if (jsp_calls_aside_take(c, stack, &aside)) {
        aside.bottom->up = floor;
        top = aside.top;
        for (struct jsp_calls_entry *e = top; e != floor; e = e->up)
            jsp_calls_entry_open(c, e, c->modes);
    }
    levels_run(c, c->level + 1, top);
    return levels_depth(top, depth, floor);
}

void jsp_calls_levels_switch(struct jsp_calls *c, const jsprof_cstack *stack, uint32_t depth)
{
    const jsprof_cstack *chain[JSP_CALLS_LEVELS]; /* innermost first; the own one is not in */
    uint32_t n = 0, same = 0;
    for (; stack && n + 1 < JSP_CALLS_LEVELS; stack = stack->resumer)
        chain[n++] = stack;
    while (same < n && same < c->level && c->levels[same + 1].stack == chain[n - 1 - same])
        same++;
    for (; c->level > same; levels_suspend(c))
        depth = c->base;
    while (c->level < n)
        depth = levels_resume(c, chain[n - 1 - c->level], depth);
}
