/* place.h - where a function's frame stands in its coroutine, as hooks tell it.
 *
 * A place is what `i_ci` of a hook's lua_Debug means: a CallInfo's address (5.2 to 5.5), its
 * number (5.1), or the frame's slot (LuaJIT). Owner thread, outside of signals.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PLACE_H
#define JSPROF_LUA_PLACE_H

#include <stdbool.h>

#include "compat.h"
#include "jsprof.h"

/* A call that is open; `link.up` is the one that was open before in the same coroutine, or
 * NULL. */
struct jsp_lua_open {
    jsprof_link link;
    uintptr_t at;
    bool is_c;
};

static inline struct jsp_lua_open *jsp_lua_open_up(const struct jsp_lua_open *e)
{
    return (struct jsp_lua_open *)(void *)e->link.up;
}

/* Of the function that an event is about, or that lua_getstack found. */
uintptr_t jsp_lua_place(lua_State *L, const lua_Debug *ar);

/* A function that is being called at `at`: does it take its caller's place? Then that. */
uintptr_t jsp_lua_place_tail(lua_State *L, const lua_Debug *ar, uintptr_t at);

/* The outermost of the entries from `top` on that are not further out than `at`: they are
 * over when a call begins or ends there. NULL: none are. */
struct jsp_lua_open *jsp_lua_place_over(struct jsp_lua_open *top, uintptr_t at);

/* The same while a function at `at` runs. */
struct jsp_lua_open *jsp_lua_place_inside(struct jsp_lua_open *top, uintptr_t at);

/* May C functions end without an event? Then one before the next instruction is needed. */
bool jsp_lua_place_needs_step(void);

/* What a coroutine does, by its address, at which there may be none any more. */
enum jsp_lua_state_now { JSP_LUA_GONE, JSP_LUA_SUSPENDED, JSP_LUA_RESUMED };
enum jsp_lua_state_now jsp_lua_place_state(uintptr_t co);

#endif
