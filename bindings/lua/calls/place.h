/* place.h - the place of a function's frame in its coroutine, as hooks report it.
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

/* Return the place of the function of an event, or of one that lua_getstack found. */
uintptr_t jsp_lua_place(lua_State *L, const lua_Debug *ar);

/* Return the caller's place where the call at `at` is a tail call, which replaces its caller;
 * else `at`. */
uintptr_t jsp_lua_place_tail(lua_State *L, const lua_Debug *ar, uintptr_t at);

/* Return the outermost entry, from `top` outwards, that is not further out than `at`: it and
 * the entries inside of it have ended when a call begins or ends at `at`. NULL: none has. */
struct jsp_lua_open *jsp_lua_place_over(struct jsp_lua_open *top, uintptr_t at);

/* The same while the function at `at` goes on. */
struct jsp_lua_open *jsp_lua_place_inside(struct jsp_lua_open *top, uintptr_t at);

/* Return whether C functions may end without an event. Then an event before the next
 * instruction is needed. */
bool jsp_lua_place_needs_step(void);

/* What a coroutine does. Its address may be stale by now. */
enum jsp_lua_state_now { JSP_LUA_GONE, JSP_LUA_SUSPENDED, JSP_LUA_RESUMED };
enum jsp_lua_state_now jsp_lua_place_state(uintptr_t co);

#endif
