/* opens.c - see opens.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "opens.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { OPENS_BLOCK = 256, OPENS_SLOTS = 1024, OPENS_SWEEP = 4096 };

struct opens_coroutine {
    lua_State *L;
    jsprof_cstack stack;             /* its memory: the thread's, on which all run */
    struct opens_coroutine *resumer; /* while it runs */
    struct opens_coroutine *next;    /* of the same slot */
    struct jsp_lua_open *top;
};

struct opens_block {
    struct opens_block *next;
    struct jsp_lua_open entries[OPENS_BLOCK];
};

struct jsp_lua_opens {
    jsprof_thread *thread;
    struct opens_coroutine root, *running;
    struct opens_coroutine *slots[OPENS_SLOTS];
    uint32_t n, sweep_at;            /* coroutines in slots; to look for dead ones */
    struct jsp_lua_open *spare;
    struct opens_block *blocks;
    const void *low, *high;          /* the thread's stack */
};

/* -- Memory ------------------------------------------------------------------- */

static void opens_bounds(struct jsp_lua_opens *o)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    o->low = low;
    o->high = (char *)low + bytes;
}

int jsp_lua_opens_new(struct jsp_lua_opens **out, jsprof_thread *thread, lua_State *main)
{
    struct jsp_lua_opens *o = calloc(1, sizeof *o);
    if (!o)
        return -ENOMEM;
    o->thread = thread;
    o->root.L = main;
    o->running = &o->root;
    o->sweep_at = OPENS_SWEEP;
    opens_bounds(o);
    *out = o;
    return 0;
}

void jsp_lua_opens_free(struct jsp_lua_opens *o)
{
    if (!o)
        return;
    if (o->running != &o->root)
        jsprof_stack_switch(o->thread, NULL);
    for (uint32_t i = 0; i < OPENS_SLOTS; i++) {
        for (struct opens_coroutine *co = o->slots[i], *next; co; co = next) {
            next = co->next;
            free(co);
        }
    }
    for (struct opens_block *block = o->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(o);
}

static void opens_give(struct jsp_lua_opens *o, struct jsp_lua_open *e)
{
    e->link.up = o->spare ? &o->spare->link : NULL;
    o->spare = e;
}

static struct jsp_lua_open *opens_take(struct jsp_lua_opens *o)
{
    if (!o->spare) {
        struct opens_block *block = calloc(1, sizeof *block);
        if (!block)
            return NULL;
        block->next = o->blocks;
        o->blocks = block;
        for (uint32_t i = 0; i < OPENS_BLOCK; i++)
            opens_give(o, &block->entries[i]);
    }
    struct jsp_lua_open *e = o->spare;
    o->spare = jsp_lua_open_up(e);
    return e;
}

/* -- Calls -------------------------------------------------------------------- */

/* `last` and all that is inside of it. */
static void opens_end(struct jsp_lua_opens *o, struct jsp_lua_open *last)
{
    struct jsp_lua_open *e = o->running->top, *end;
    if (!last)
        return;
    jsprof_count_leave(o->thread, &last->link, 0);
    end = jsp_lua_open_up(last);
    while (e != end) {
        struct jsp_lua_open *up = jsp_lua_open_up(e);
        opens_give(o, e);
        e = up;
    }
    o->running->top = end;
}

static struct jsp_lua_open *opens_push(struct jsp_lua_opens *o, const jsprof_function *f,
                                       uintptr_t at, bool is_c)
{
    struct jsp_lua_open *e = opens_take(o);
    if (!e)
        return NULL;
    e->link.up = o->running->top ? &o->running->top->link : NULL;
    e->link.function = f;
    e->at = at;
    e->is_c = is_c;
    o->running->top = e;
    return e;
}

void jsp_lua_opens_enter(struct jsp_lua_opens *o, const jsprof_function *f, uintptr_t at,
                         bool is_c)
{
    opens_end(o, jsp_lua_place_over(o->running->top, at));
    struct jsp_lua_open *e = opens_push(o, f, at, is_c);
    if (e)
        jsprof_count_enter(o->thread, f, &e->link);
}

void jsp_lua_opens_leave(struct jsp_lua_opens *o, uintptr_t at)
{
    opens_end(o, jsp_lua_place_over(o->running->top, at));
}

void jsp_lua_opens_at(struct jsp_lua_opens *o, uintptr_t at)
{
    opens_end(o, jsp_lua_place_inside(o->running->top, at));
}

void jsp_lua_opens_adopt(struct jsp_lua_opens *o, const jsprof_function *f, uintptr_t at,
                         bool is_c)
{
    opens_push(o, f, at, is_c);
}

jsprof_link *jsp_lua_opens_top(const struct jsp_lua_opens *o)
{
    return o->running->top ? &o->running->top->link : NULL;
}

bool jsp_lua_opens_in_c(const struct jsp_lua_opens *o)
{
    return o->running->top && o->running->top->is_c;
}

/* -- Coroutines --------------------------------------------------------------- */

static struct opens_coroutine **opens_slot(struct jsp_lua_opens *o, const lua_State *L)
{
    uint64_t hash = (uint64_t)(uintptr_t)L * 0x9E3779B97F4A7C15u;
    return &o->slots[hash >> 32 & (OPENS_SLOTS - 1)];
}

static bool opens_is_running(const struct jsp_lua_opens *o, const struct opens_coroutine *co)
{
    for (const struct opens_coroutine *c = o->running; c; c = c->resumer)
        if (c == co)
            return true;
    return false;
}

static void opens_forget(struct jsp_lua_opens *o, struct opens_coroutine *co)
{
    if (co->top)
        jsprof_stack_forget(o->thread, &co->stack);
    while (co->top) {
        struct jsp_lua_open *e = co->top;
        co->top = jsp_lua_open_up(e);
        opens_give(o, e);
    }
}

/* Nobody tells that a coroutine was collected. */
static void opens_sweep(struct jsp_lua_opens *o)
{
    for (uint32_t i = 0; i < OPENS_SLOTS; i++) {
        for (struct opens_coroutine **at = &o->slots[i], *co; (co = *at) != NULL;) {
            if (opens_is_running(o, co) ||
                jsp_lua_place_state((uintptr_t)co->L) == JSP_LUA_SUSPENDED) {
                at = &co->next;
                continue;
            }
            *at = co->next;
            opens_forget(o, co);
            free(co);
            o->n--;
        }
    }
    o->sweep_at = 2 * o->n > OPENS_SWEEP ? 2 * o->n : OPENS_SWEEP;
}

static struct opens_coroutine *opens_new(struct jsp_lua_opens *o, lua_State *L)
{
    if (o->n >= o->sweep_at)
        opens_sweep(o);
    struct opens_coroutine *co = calloc(1, sizeof *co), **slot = opens_slot(o, L);
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

static struct opens_coroutine *opens_of(struct jsp_lua_opens *o, lua_State *L)
{
    struct opens_coroutine *co = L == o->root.L ? &o->root : *opens_slot(o, L);
    while (co && co->L != L)
        co = co->next;
    return co ? co : opens_new(o, L);
}

/* Whoever resumed a coroutine that did not run: the innermost that is still in the middle
 * of something. */
static struct opens_coroutine *opens_resumer(struct jsp_lua_opens *o)
{
    struct opens_coroutine *co = o->running;
    while (co != &o->root && jsp_lua_place_state((uintptr_t)co->L) != JSP_LUA_RESUMED)
        co = co->resumer;
    return co;
}

/* What it resumed has come back, or died. */
static void opens_back_to(struct jsp_lua_opens *o, struct opens_coroutine *co)
{
    struct opens_coroutine *inner = o->running;
    jsprof_stack_switch(o->thread, co == &o->root ? NULL : &co->stack);
    o->running = co;
    while (inner != co) {
        struct opens_coroutine *resumer = inner->resumer;
        if (jsp_lua_place_state((uintptr_t)inner->L) == JSP_LUA_GONE)
            opens_forget(o, inner);
        inner->resumer = NULL;
        inner = resumer;
    }
}

void jsp_lua_opens_switch(struct jsp_lua_opens *o, lua_State *L)
{
    if (o->running->L == L)
        return;
    struct opens_coroutine *co = opens_of(o, L);
    if (!co)
        return;
    if (opens_is_running(o, co)) {
        opens_back_to(o, co);
        return;
    }
    opens_back_to(o, opens_resumer(o));
    co->resumer = o->running;
    co->stack.resumer = o->running == &o->root ? NULL : &o->running->stack;
    o->running = co;
    jsprof_stack_switch(o->thread, &co->stack);
}
