/* calls/levels.c - open calls on several stacks.
 *
 * The running stack is a chain of levels: the thread's own stack, a coroutine that was
 * resumed from it, one that was resumed from that one. The entries of all levels are
 * linked together, with a floor between two levels. A switch to a stack that was not
 * resumed from all of them suspends the others: their entries are put aside, and their
 * time does not advance until their stack runs again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "open.h"

/* -- Suspended stacks --------------------------------------------------------- */

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

/* Put a suspended stack aside. Return false if there are too many. */
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

void jsp_calls_aside_give(struct jsp_calls *c, const struct jsp_calls_aside *aside)
{
    aside->top->next = c->spare;
    c->spare = aside->bottom;
}

/* -- Levels ------------------------------------------------------------------- */

void jsp_calls_levels_begin(struct jsp_calls *c, const void *stack, uint32_t base)
{
    struct jsp_calls_entry *top = jsp_calls_top(c), *floor;
    c->levels[++c->level] = (struct jsp_calls_level){ stack, base, { .edge = UINT32_MAX } };
    floor = jsp_calls_floor(c);
    jsp_calls_row_is(floor, jsp_calls_row(top));
    jsp_calls_insert(top, floor, floor);
    c->base = base;
    jsp_calls_top_is(c, floor);
}

/* Suspend the innermost level; the level that called it becomes the innermost. */
static void levels_suspend(struct jsp_calls *c)
{
    struct jsp_calls_entry *floor = jsp_calls_floor(c), *top = jsp_calls_top(c);
    struct jsp_calls_aside aside = { c->levels[c->level].stack, top, floor->next, 0 };
    uint64_t n = 0;
    for (struct jsp_calls_entry *e = top; e != floor; e = e->up, n++)
        jsp_calls_entry_close(c, e);
    floor->up->next = top->next;
    if (top->next)
        top->next->up = floor->up;
    top->next = NULL;
    if (n && !levels_put_aside(c, &aside)) {
        jsp_calls_aside_give(c, &aside);
        jsp_count(&c->depth_lost, n); /* their leaves will find no enter */
    }
    c->level--;
    c->base = c->levels[c->level].base;
    jsp_calls_top_is(c, floor->up);
}

/* Return the depth of the array above the level that begins at `depth`. */
static uint32_t levels_depth(const struct jsp_calls *c, uint32_t depth)
{
    const struct jsp_calls_entry *e = jsp_calls_top(c), *floor = &c->levels[c->level].floor;
    while (e != floor && !(e->key & JSP_CALLS_KEY_ARRAY))
        e = e->up;
    return e == floor ? depth : depth + (uint32_t)(e->key >> 2) + 1;
}

/* Resume a stack whose array entries begin at `depth`. Return where those of the next
 * level would begin. */
static uint32_t levels_resume(struct jsp_calls *c, const void *stack, uint32_t depth)
{
    struct jsp_calls_aside aside;
    jsp_calls_levels_begin(c, stack, depth);
    if (jsp_calls_aside_take(c, stack, &aside)) {
        struct jsp_calls_entry *floor = jsp_calls_top(c);
        jsp_calls_insert(floor, aside.bottom, aside.top);
        for (struct jsp_calls_entry *e = floor; e != aside.top; e = e->next)
            jsp_calls_entry_open(c, e->next);
        jsp_calls_top_is(c, aside.top);
    }
    return levels_depth(c, depth);
}

void jsp_calls_levels_switch(struct jsp_calls *c, const jsprof_cstack *stack, uint32_t depth)
{
    /* innermost first, without the thread's own stack */
    const jsprof_cstack *chain[JSP_CALLS_LEVELS];
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
