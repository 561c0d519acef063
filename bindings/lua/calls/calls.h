/* calls.h - exact calls of Lua functions, by a hook on calls and returns, into jsprof's
 * tables.
 *
 * The program's own hooks are called as before (hooks.h). Only the owner thread may call
 * these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_CALLS_H
#define JSPROF_LUA_CALLS_H

#include "attach.h"

struct jsp_lua_calls;

/* Start to count; `modes` is as for jsprof_calls_set. Return 0 or a negative errno. */
int jsp_lua_calls_begin(struct jsp_lua_calls **out, struct jsprof_lua *lua, lua_State *L,
                        uint32_t modes);

/* Give all coroutines the program's hooks alone again. `L` is NULL if the state is
 * closing. */
void jsp_lua_calls_end(struct jsp_lua_calls *c, lua_State *L);

/* The program has set a hook of its own for L: let ours call it. */
void jsp_lua_calls_rehook(struct jsp_lua_calls *c, lua_State *L);

/* Set the program's own hook, so that it can see it. Return false if ours was not set. */
bool jsp_lua_calls_unhook(struct jsp_lua_calls *c, lua_State *L);

/* Check whether the program took our hook away from L or from the main coroutine. If so,
 * calls were missed: count that in the tables and set the hook again. Return how often it
 * has happened. */
uint64_t jsp_lua_calls_check(struct jsp_lua_calls *c, lua_State *L);

#endif
