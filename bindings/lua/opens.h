/* opens.h - the calls that are open, by coroutine, as hooks tell of them, on their way into
 * jsprof's tables.
 *
 * Hooks tell of calls and returns, not of frames that an error takes away, nor (in LuaJIT)
 * of a C function's return; so each event says where it is, and whatever stands there or
 * further in is over. Coroutines are stacks that resume each other; the time of what is open
 * on one stands still while it does not run. Owner thread only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_OPENS_H
#define JSPROF_LUA_OPENS_H

#include "place.h"

struct jsp_lua_opens;

/* `main` is the main coroutine; it runs, or has resumed whoever does. -ENOMEM. */
int jsp_lua_opens_new(struct jsp_lua_opens **out, jsprof_thread *thread, lua_State *main);
void jsp_lua_opens_free(struct jsp_lua_opens *o);

/* This coroutine runs: those that it resumed have come back. */
void jsp_lua_opens_switch(struct jsp_lua_opens *o, lua_State *L);

/* In the running coroutine: a call at `at`, which may take the place of one; a return; and
 * the function there goes on. */
void jsp_lua_opens_enter(struct jsp_lua_opens *o, const jsprof_function *f, uintptr_t at,
                         bool is_c);
void jsp_lua_opens_leave(struct jsp_lua_opens *o, uintptr_t at);
void jsp_lua_opens_at(struct jsp_lua_opens *o, uintptr_t at);

/* It was open before anything was counted: outermost first, and then all at once. */
void jsp_lua_opens_adopt(struct jsp_lua_opens *o, const jsprof_function *f, uintptr_t at,
                         bool is_c);
jsprof_link *jsp_lua_opens_top(const struct jsp_lua_opens *o);

/* Is a C function innermost? */
bool jsp_lua_opens_in_c(const struct jsp_lua_opens *o);

#endif
