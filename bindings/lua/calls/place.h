/* place.h - the place of a function's frame in its coroutine, as hooks report it.
 *
 * A place is the value of `i_ci` in a hook's lua_Debug: a CallInfo's address (5.2 to
 * 5.5), its number (5.1), or the frame's slot (LuaJIT). Only the owner thread may call
 * these, outside of signals.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PLACE_H
#define JSPROF_LUA_PLACE_H

#include <stdbool.h>

#include "compat.h"
#include "jsprof.h"

/* An open call; `link.up` is the call that was open before it in the same coroutine, or
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

/* Return the place of the function of an event, or of a function that lua_getstack
 * found. */
uintptr_t jsp_lua_place(lua_State *L, const lua_Debug *ar);

/* An event of a hook, which event.h reads: where a call begins or ends. */
struct jsp_lua_event {
    uintptr_t at;           /* of a tail call: its caller's place, for it replaces the caller */
    uintptr_t caller;       /* the place of the caller; 0: not known */
    uintptr_t function;     /* key.at of a function that is called; 0: not known */
    bool is_lua;            /* that is the prototype of a Lua function */
};

/* Return the outermost entry, from `top` outwards, that is not further out than `at`, or
 * NULL. It and the entries inside it have ended when a call begins or ends at `at`. */
struct jsp_lua_open *jsp_lua_place_over(struct jsp_lua_open *top, uintptr_t at);

/* The same while the function at `at` continues. */
struct jsp_lua_open *jsp_lua_place_inside(struct jsp_lua_open *top, uintptr_t at);

/* Return whether C functions may end without an event. Then our hook needs an event at
 * the next instruction. */
bool jsp_lua_place_needs_step(void);

/* The state of a coroutine, whose address may be stale by now. */
enum jsp_lua_state_now { JSP_LUA_GONE, JSP_LUA_SUSPENDED, JSP_LUA_RESUMED };
enum jsp_lua_state_now jsp_lua_place_state(uintptr_t co);

#endif
