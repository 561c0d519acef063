/* calls.c - see calls.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/called_functions.h"
#include "calls/event.h"
#include "calls/hooks.h"
#include "calls/open_calls.h"

enum {
    CALLS_LEVELS = 48,
    CALLS_BETWEEN = 4096, /* events between two checks */
    CALLS_RECENT = 256,
};

struct jsp_lua_calls {
    struct jsp_lua_calls *next; /* of this thread */
    struct jsprof_lua *lua;
    uintptr_t global;
    size_t global_at;                /* in each coroutine */
    struct jsp_lua_called_table *functions; /* owned */
    struct jsp_lua_open_calls *open_calls;     /* owned */
    jsprof_function *missed;         /* owned: counts the times that calls were missed */
    uint64_t n_missed;
    uint32_t n_events;               /* since the last check */
    bool compiles;                   /* the program lets LuaJIT compile */
    bool steps;                      /* C functions may end without an event */
    struct jsp_lua_hooks hooks;
    const struct jsp_lua_called *recent[CALLS_RECENT]; /* borrowed: of functions, by address */
};

static __thread struct jsp_lua_calls *calls_here;

/* -- Hooks ---------------------------------------------------------------------- */

static struct jsp_lua_calls *calls_of(lua_State *L)
{
    struct jsp_lua_calls *c = calls_here;
    while (c && c->global != jsp_lua_pointer(L, c->global_at))
        c = c->next;
    return c;
}

/* Hook the coroutine that is about to be resumed: it may be older than the counting.
 * LuaJIT has one hook for all. */
static void calls_take_along(struct jsp_lua_calls *c, lua_State *L, lua_Debug *ar)
{
    lua_State *co = NULL;
    int top = lua_gettop(L);
    if (jsp_lua_place_needs_step())
        return;
    if (lua_getlocal(L, ar, 1))
        co = lua_tothread(L, -1);
    if (!co && lua_getinfo(L, "f", ar) && lua_getupvalue(L, -1, 1))
        co = lua_tothread(L, -1);
    lua_settop(L, top);
    if (co && lua_gethook(co) != lua_gethook(L))
        jsp_lua_hooks_put(&c->hooks, co);
}

/* Some functions change what is counted. Notice jit.on() and jit.off() for all functions. A hook
 * that is called ends what is being compiled, so the hook sees the calls anyway. */
static __attribute__((noinline)) void calls_special(struct jsp_lua_calls *c, lua_State *L,
                                                    lua_Debug *ar, enum jsp_lua_special special)
{
    if (special == JSP_LUA_RESUMES)
        calls_take_along(c, L, ar);
    else if (lua_getlocal(L, ar, 1))
        lua_pop(L, 1);
    else
        c->compiles = special == JSP_LUA_JIT_ON;
}

static const struct jsp_lua_called **calls_recent(struct jsp_lua_calls *c, uintptr_t function)
{
    return &c->recent[(function >> 4 ^ function >> 12) % CALLS_RECENT];
}

static __attribute__((noinline)) const struct jsp_lua_called *calls_find(
    struct jsp_lua_calls *c, lua_State *L, lua_Debug *ar, uintptr_t function)
{
    lua_getinfo(L, "f", ar);
    return *calls_recent(c, function) = jsp_lua_called_pop(c->functions, L, 0);
}

/* Return the function that is called, or NULL without memory. */
static inline const struct jsp_lua_called *calls_function(struct jsp_lua_calls *c, lua_State *L,
                                                          lua_Debug *ar,
                                                          struct jsp_lua_event *event)
{
    jsp_lua_event_call(L, ar, event);
    const struct jsp_lua_called *called = *calls_recent(c, event->function);
    return called && jsp_lua_event_is(event, &called->key) ? called
                                                           : calls_find(c, L, ar, event->function);
}

static void calls_enter(struct jsp_lua_calls *c, lua_State *L, lua_Debug *ar)
{
    struct jsp_lua_event event;
    const struct jsp_lua_called *called = calls_function(c, L, ar, &event);
    enum jsp_lua_special special = called ? called->special : JSP_LUA_USUAL;
    jsp_lua_open_enter(c->open_calls, L, &event, called ? called->function : NULL,
                       called && called->is_c);
    if (__builtin_expect(special != JSP_LUA_USUAL, 0))
        calls_special(c, L, ar, special);
}

static void calls_leave(struct jsp_lua_calls *c, lua_State *L, lua_Debug *ar)
{
    struct jsp_lua_event event;
    jsp_lua_event_return(L, ar, &event);
    jsp_lua_open_leave(c->open_calls, L, &event);
}

static void calls_check_thread(struct jsp_lua_calls *c)
{
    if (++c->n_events < CALLS_BETWEEN)
        return;
    c->n_events = 0;
    if (c->lua->on_calls)
        c->lua->on_calls(c->lua->on_calls_data);
}

static void calls_hook(lua_State *L, lua_Debug *ar)
{
    struct jsp_lua_calls *c = calls_of(L);
    if (!c) { /* another thread uses the state now */
        jsp_lua_hooks_orphan(L, ar);
        return;
    }
    calls_check_thread(c);
    if (jsp_lua_hooks_bit(ar) == LUA_MASKCALL)
        calls_enter(c, L, ar);
    else if (ar->event == LUA_HOOKRET)
        calls_leave(c, L, ar);
    else
        jsp_lua_open_at(c->open_calls, L, jsp_lua_place(L, ar));
    if (c->steps)
        jsp_lua_hooks_step(&c->hooks, L, jsp_lua_open_in_c(c->open_calls));
    if (c->hooks.has_own)
        jsp_lua_hooks_pass(&c->hooks, L, ar); /* c may be gone */
}

/* Count a call that begins and, where more than calls is counted, ends. */
static void calls_count(jsprof_thread *t, const jsprof_function *f)
{
    uint32_t counting = jsprof_counting(t);
    if (jsprof_counted_once(t, f, counting))
        return;
    jsprof_link link = { 0 };
    jsprof_count_enter(t, f, &link);
    if (counting != JSPROF_CALLS_COUNT)
        jsprof_count_leave(t, &link, 0);
}

/* The hook on calls where only these are counted: nobody needs to know which ones are open. */
static void calls_count_hook(lua_State *L, lua_Debug *ar)
{
    struct jsp_lua_calls *c = calls_of(L);
    if (!c) {
        jsp_lua_hooks_orphan(L, ar);
        return;
    }
    calls_check_thread(c);
    if (jsp_lua_hooks_bit(ar) == LUA_MASKCALL) {
        struct jsp_lua_event event;
        const struct jsp_lua_called *called = calls_function(c, L, ar, &event);
        if (called)
            calls_count(c->lua->thread, called->function);
        if (called && called->special)
            calls_special(c, L, ar, called->special);
    }
    if (c->hooks.has_own)
        jsp_lua_hooks_pass(&c->hooks, L, ar); /* c may be gone */
}

void jsp_lua_calls_rehook(struct jsp_lua_calls *c, lua_State *L)
{
    jsp_lua_hooks_put(&c->hooks, L);
}

bool jsp_lua_calls_unhook(struct jsp_lua_calls *c, lua_State *L)
{
    return jsp_lua_hooks_take(&c->hooks, L);
}

uint64_t jsp_lua_calls_check(struct jsp_lua_calls *c, lua_State *L)
{
    lua_State *main = (lua_State *)c->lua->main;
    bool has_lost = lua_gethook(L) != c->hooks.ours, main_has = lua_gethook(main) != c->hooks.ours;
    jsp_lua_hooks_put(&c->hooks, L);
    jsp_lua_hooks_put(&c->hooks, main);
    if (has_lost || main_has) {
        calls_count(c->lua->thread, c->missed);
        c->n_missed++;
    }
    return c->n_missed;
}

/* -- Beginning and end ------------------------------------------------------------ */

/* If the main coroutine asks, add the calls that are already open, outermost first. */
static void calls_adopt(struct jsp_lua_calls *c, lua_State *L)
{
    int levels[CALLS_LEVELS];
    uint32_t n = 0;
    lua_Debug ar;
    if ((uintptr_t)L != c->lua->main || !lua_checkstack(L, 1))
        return;
    for (int level = 0; n < CALLS_LEVELS && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "f", &ar);
        if (lua_isfunction(L, -1)) /* otherwise a tail call replaced it */
            levels[n++] = level;
        lua_pop(L, 1);
    }
    while (n--) {
        lua_getstack(L, levels[n], &ar);
        lua_getinfo(L, "f", &ar);
        const struct jsp_lua_called *called = jsp_lua_called_pop(c->functions, L, n);
        if (called)
            jsp_lua_open_adopt(c->open_calls, called->function, jsp_lua_place(L, &ar),
                               called->is_c);
    }
}

/* Call jit.status() for the program's setting; PUC Lua gives false. */
static int calls_ask_jit(lua_State *L)
{
    struct jsp_lua_calls *c = lua_touserdata(L, 1);
    lua_getglobal(L, "jit");
    if (!lua_istable(L, -1))
        return 0;
    lua_getfield(L, -1, "status");
    lua_call(L, 0, 1);
    c->compiles = lua_toboolean(L, -1);
    return 0;
}

static void calls_free(struct jsp_lua_calls *c)
{
    jsp_lua_called_free(c->functions);
    jsp_lua_open_free(c->open_calls);
    jsprof_function_free(c->missed);
    free(c);
}

static int calls_make(struct jsp_lua_calls *c)
{
    c->functions = jsp_lua_called_new(c->lua);
    if (!c->functions ||
        jsp_lua_open_new(&c->open_calls, c->lua->thread, (lua_State *)c->lua->main) < 0)
        return -ENOMEM;
    return jsprof_function_new(&c->missed, "[calls missed: another hook took the place of ours]",
                               NULL, 0, JSPROF_KIND_SYNTH);
}

int jsp_lua_calls_begin(struct jsp_lua_calls **out, struct jsprof_lua *lua, lua_State *L,
                        uint32_t modes)
{
    struct jsp_lua_calls *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    c->lua = lua;
    c->global = jsp_lua_walk_global((uintptr_t)L);
    c->global_at = jsp_lua_walk_global_at();
    bool counts_alone = modes == JSPROF_CALLS_COUNT;
    c->steps = !counts_alone && jsp_lua_place_needs_step();
    int err = calls_make(c);
    if (!err)
        err = jsp_lua_hooks_init(&c->hooks, L, counts_alone ? calls_count_hook : calls_hook,
                                 counts_alone ? LUA_MASKCALL : LUA_MASKCALL | LUA_MASKRET);
    if (!err) {
        calls_adopt(c, L);
        /* Until samples are taken, the thread may seem to be in these calls. */
        jsprof_link *top = lua->thread->top;
        lua->thread->top = jsp_lua_open_top(c->open_calls);
        err = jsprof_calls_set(lua->session, modes);
        lua->thread->top = top;
    }
    if (err) {
        calls_free(c);
        return err;
    }
    c->next = calls_here;
    calls_here = c;
    jsp_lua_protected(L, calls_ask_jit, c);
    jsp_lua_walk_compile(L, false);
    jsp_lua_hooks_put(&c->hooks, (lua_State *)lua->main);
    jsp_lua_hooks_put(&c->hooks, L);
    if (c->steps)
        jsp_lua_hooks_step(&c->hooks, L, jsp_lua_open_in_c(c->open_calls));
    *out = c;
    return 0;
}

void jsp_lua_calls_end(struct jsp_lua_calls *c, lua_State *L)
{
    struct jsp_lua_calls **at = &calls_here;
    if (!c)
        return;
    while (*at && *at != c)
        at = &(*at)->next;
    if (*at)
        *at = c->next;
    if (L) {
        jsp_lua_hooks_take_all(&c->hooks, L);
        jsp_lua_walk_compile(L, c->compiles);
    }
    calls_free(c);
}
