/* open_calls.c - see open_calls.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls/open_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "own_stack.h"

enum { OPEN_BLOCK = 256, OPEN_SWEEP = 4096 };

struct jsp_lua_open_block {
    struct jsp_lua_open_block *next;
    struct jsp_lua_open entries[OPEN_BLOCK];
};

/* -- Memory ------------------------------------------------------------------- */

int jsp_lua_open_new(struct jsp_lua_open_calls **out, jsprof_thread *thread, lua_State *main)
{
    struct jsp_lua_open_calls *o = calloc(1, sizeof *o);
    if (!o)
        return -ENOMEM;
    o->thread = thread;
    o->root.L = main;
    o->running = &o->root;
    o->sweep_at = OPEN_SWEEP;
    struct jsp_lua_own_stack own = jsp_lua_own_stack();
    o->low = (const void *)own.low;
    o->high = (const void *)own.high;
    *out = o;
    return 0;
}

void jsp_lua_open_free(struct jsp_lua_open_calls *o)
{
    if (!o)
        return;
    if (o->running != &o->root)
        jsprof_stack_switch(o->thread, NULL);
    for (uint32_t i = 0; i < JSP_LUA_OPEN_SLOTS; i++) {
        for (struct jsp_lua_open_coroutine *co = o->slots[i], *next; co; co = next) {
            next = co->next;
            free(co);
        }
    }
    for (struct jsp_lua_open_block *block = o->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(o);
}

struct jsp_lua_open *jsp_lua_open_more(struct jsp_lua_open_calls *o)
{
    struct jsp_lua_open_block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->next = o->blocks;
    o->blocks = block;
    for (uint32_t i = 0; i < OPEN_BLOCK; i++)
        jsp_lua_open_give(o, &block->entries[i]);
    return o->spare;
}

/* -- Calls -------------------------------------------------------------------- */

void jsp_lua_open_end(struct jsp_lua_open_calls *o, struct jsp_lua_open *last)
{
    struct jsp_lua_open *e = o->running->top, *end;
    if (!last)
        return;
    jsprof_count_leave(o->thread, &last->link, 0);
    end = jsp_lua_open_up(last);
    while (e != end) {
        struct jsp_lua_open *up = jsp_lua_open_up(e);
        jsp_lua_open_give(o, e);
        e = up;
    }
    o->running->top = end;
}

void jsp_lua_open_at(struct jsp_lua_open_calls *o, lua_State *L, uintptr_t at)
{
    if (o->running->L != L)
        jsp_lua_open_switch(o, L);
    jsp_lua_open_end(o, jsp_lua_place_inside(o->running->top, at));
}

void jsp_lua_open_adopt(struct jsp_lua_open_calls *o, const jsprof_function *f, uintptr_t at,
                        bool is_c)
{
    jsp_lua_open_push(o, f, at, is_c);
}

jsprof_link *jsp_lua_open_top(const struct jsp_lua_open_calls *o)
{
    return o->running->top ? &o->running->top->link : NULL;
}

bool jsp_lua_open_in_c(const struct jsp_lua_open_calls *o)
{
    return o->running->top && o->running->top->is_c;
}

/* -- Coroutines --------------------------------------------------------------- */

static struct jsp_lua_open_coroutine **open_slot(struct jsp_lua_open_calls *o,
                                                 const lua_State *L)
{
    uint64_t hash = (uint64_t)(uintptr_t)L * 0x9E3779B97F4A7C15u;
    return &o->slots[hash >> 32 & (JSP_LUA_OPEN_SLOTS - 1)];
}

static bool open_is_running(const struct jsp_lua_open_calls *o,
                            const struct jsp_lua_open_coroutine *co)
{
    for (const struct jsp_lua_open_coroutine *c = o->running; c; c = c->resumer)
        if (c == co)
            return true;
    return false;
}

static void open_forget(struct jsp_lua_open_calls *o, struct jsp_lua_open_coroutine *co)
{
    if (co->top)
        jsprof_stack_forget(o->thread, &co->stack);
    while (co->top) {
        struct jsp_lua_open *e = co->top;
        co->top = jsp_lua_open_up(e);
        jsp_lua_open_give(o, e);
    }
}

/* Find the dead coroutines: Lua has no event for a collected one. */
static void open_sweep(struct jsp_lua_open_calls *o)
{
    for (uint32_t i = 0; i < JSP_LUA_OPEN_SLOTS; i++) {
        for (struct jsp_lua_open_coroutine **at = &o->slots[i], *co; (co = *at) != NULL;) {
            if (open_is_running(o, co) ||
                jsp_lua_place_state((uintptr_t)co->L) == JSP_LUA_SUSPENDED) {
                at = &co->next;
                continue;
            }
            *at = co->next;
            open_forget(o, co);
            free(co);
            o->n--;
        }
    }
    o->sweep_at = 2 * o->n > OPEN_SWEEP ? 2 * o->n : OPEN_SWEEP;
}

static struct jsp_lua_open_coroutine *open_new(struct jsp_lua_open_calls *o, lua_State *L)
{
    if (o->n >= o->sweep_at)
        open_sweep(o);
    struct jsp_lua_open_coroutine *co = calloc(1, sizeof *co), **slot = open_slot(o, L);
    if (!co)
        return NULL;
    co->L = L;
    co->stack.low = o->low;
    co->stack.high = o->high;
    co->next = *slot;
    *slot = co;
    o->n++;
    return co;
}

static struct jsp_lua_open_coroutine *open_of(struct jsp_lua_open_calls *o, lua_State *L)
{
    struct jsp_lua_open_coroutine *co = L == o->root.L ? &o->root : *open_slot(o, L);
    while (co && co->L != L)
        co = co->next;
    return co ? co : open_new(o, L);
}

/* Return the resumer of a coroutine that did not run: the innermost that has resumed
 * another. */
static struct jsp_lua_open_coroutine *open_resumer(struct jsp_lua_open_calls *o)
{
    struct jsp_lua_open_coroutine *co = o->running;
    while (co != &o->root && jsp_lua_place_state((uintptr_t)co->L) != JSP_LUA_RESUMED)
        co = co->resumer;
    return co;
}

/* All coroutines inside this one have yielded, returned or died. */
static void open_back_to(struct jsp_lua_open_calls *o, struct jsp_lua_open_coroutine *co)
{
    struct jsp_lua_open_coroutine *inner = o->running;
    jsprof_stack_switch(o->thread, co == &o->root ? NULL : &co->stack);
    o->running = co;
    while (inner != co) {
        struct jsp_lua_open_coroutine *resumer = inner->resumer;
        if (jsp_lua_place_state((uintptr_t)inner->L) == JSP_LUA_GONE)
            open_forget(o, inner);
        inner->resumer = NULL;
        inner = resumer;
    }
}

void jsp_lua_open_switch(struct jsp_lua_open_calls *o, lua_State *L)
{
    struct jsp_lua_open_coroutine *co = open_of(o, L);
    if (!co)
        return;
    if (open_is_running(o, co)) {
        open_back_to(o, co);
        return;
    }
    open_back_to(o, open_resumer(o));
    co->resumer = o->running;
    co->stack.resumer = o->running == &o->root ? NULL : &o->running->stack;
    o->running = co;
    jsprof_stack_switch(o->thread, &co->stack);
}
