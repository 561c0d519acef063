/* open_calls.h - the calls that are open in each coroutine, kept by the hooks' events.
 *
 * Hooks report calls and returns. They report neither the frames that an error removes
 * nor, in LuaJIT, the return of a C function. So each event carries its place (place.h),
 * and every call at that place or further in has ended. Coroutines are stacks that resume
 * each other: the clock of the calls on one of them stops while it is suspended. Only the
 * owner thread may call these. What happens at each event is inline.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_OPEN_CALLS_H
#define JSPROF_LUA_OPEN_CALLS_H

#include "calls/place.h"

/* A coroutine with the calls that are open in it. */
struct jsp_lua_open_coroutine {
    lua_State *L;
    struct jsp_lua_open *top;
    jsprof_cstack stack;                    /* in the memory of the thread's stack */
    struct jsp_lua_open_coroutine *resumer; /* NULL while it does not run */
    struct jsp_lua_open_coroutine *next;    /* in the same slot */
};

enum { JSP_LUA_OPEN_SLOTS = 1024 };

struct jsp_lua_open_calls {
    struct jsp_lua_open_coroutine *running;
    struct jsp_lua_open *spare;      /* linked by link.up */
    jsprof_thread *thread;
    struct jsp_lua_open_coroutine root;
    uint32_t n, sweep_at;            /* coroutines in slots; sweep at this n */
    struct jsp_lua_open_block *blocks;
    const void *low, *high;          /* ends of the thread's stack */
    struct jsp_lua_open_coroutine *slots[JSP_LUA_OPEN_SLOTS];
};

/* `main` is the main coroutine: it runs, or has resumed the one that runs. Return 0 or
 * -ENOMEM. */
int jsp_lua_open_new(struct jsp_lua_open_calls **out, jsprof_thread *thread, lua_State *main);
void jsp_lua_open_free(struct jsp_lua_open_calls *o);

/* Note that this coroutine runs: those that it resumed have returned or yielded. */
void jsp_lua_open_switch(struct jsp_lua_open_calls *o, lua_State *L);

/* End `last` and all calls inside it. NULL: none. */
void jsp_lua_open_end(struct jsp_lua_open_calls *o, struct jsp_lua_open *last);

/* Make more spare entries. Return one, or NULL without memory. */
struct jsp_lua_open *jsp_lua_open_more(struct jsp_lua_open_calls *o);

/* Add a call that was open before counting began. The caller passes the outermost first,
 * and all of them before the first event. */
void jsp_lua_open_adopt(struct jsp_lua_open_calls *o, const jsprof_function *f, uintptr_t at,
                        bool is_c);
jsprof_link *jsp_lua_open_top(const struct jsp_lua_open_calls *o);

/* Return whether the innermost open call is one of a C function. */
bool jsp_lua_open_in_c(const struct jsp_lua_open_calls *o);

/* The function at `at` continues. */
void jsp_lua_open_at(struct jsp_lua_open_calls *o, lua_State *L, uintptr_t at);

static inline void jsp_lua_open_give(struct jsp_lua_open_calls *o, struct jsp_lua_open *e)
{
    e->link.up = o->spare ? &o->spare->link : NULL;
    o->spare = e;
}

static inline struct jsp_lua_open *jsp_lua_open_push(struct jsp_lua_open_calls *o,
                                                     const jsprof_function *f, uintptr_t at,
                                                     bool is_c)
{
    struct jsp_lua_open_coroutine *co = o->running;
    struct jsp_lua_open *e = o->spare;
    if (!e && !(e = jsp_lua_open_more(o)))
        return NULL;
    o->spare = jsp_lua_open_up(e);
    e->link.up = (jsprof_link *)co->top;
    e->link.function = f;
    e->at = at;
    e->is_c = is_c;
    co->top = e;
    return e;
}

/* Note a call, which may replace an open one, in a coroutine: it runs. Usually the caller is the
 * innermost open call when a call begins, and its caller is the one below when it ends: then there
 * is nothing to search. */
static inline void jsp_lua_open_enter(struct jsp_lua_open_calls *o, lua_State *L,
                                      const struct jsp_lua_event *event,
                                      const jsprof_function *f, bool is_c)
{
    if (o->running->L != L)
        jsp_lua_open_switch(o, L);
    struct jsp_lua_open *top = o->running->top;
    if (!top || !event->caller || top->at != event->caller)
        jsp_lua_open_end(o, jsp_lua_place_over(top, event->at));
    struct jsp_lua_open *e = jsp_lua_open_push(o, f, event->at, is_c);
    if (e)
        jsprof_count_enter(o->thread, f, &e->link);
}

/* Note a return. */
static inline void jsp_lua_open_leave(struct jsp_lua_open_calls *o, lua_State *L,
                                      const struct jsp_lua_event *event)
{
    if (o->running->L != L)
        jsp_lua_open_switch(o, L);
    struct jsp_lua_open *top = o->running->top, *up = top ? jsp_lua_open_up(top) : NULL;
    if (!up || top->at != event->at || up->at != event->caller) {
        jsp_lua_open_end(o, jsp_lua_place_over(top, event->at));
        return;
    }
    jsprof_count_leave(o->thread, &top->link, 0);
    jsp_lua_open_give(o, top);
    o->running->top = up;
}

#endif
