/* calls.h - exact calls of Lua functions, by a hook on calls and returns, into jsprof's
 * tables.
 *
 * The program's own hooks are called as before (hooks.h). Owner thread only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_CALLS_H
#define JSPROF_LUA_CALLS_H

#include "attach.h"

struct jsp_lua_calls;

/* Count from now on; `modes` as for jsprof_calls_set. A negative errno. */
int jsp_lua_calls_begin(struct jsp_lua_calls **out, struct jsprof_lua *lua, lua_State *L,
                        uint32_t modes);

/* Give all coroutines back the program's hooks alone. `L` NULL: the state is being closed. */
void jsp_lua_calls_end(struct jsp_lua_calls *c, lua_State *L);

/* The program has set a hook of its own for L: put ours on top of it again. */
void jsp_lua_calls_rehook(struct jsp_lua_calls *c, lua_State *L);

/* Show the program its own hook. False: ours is not set. */
bool jsp_lua_calls_unhook(struct jsp_lua_calls *c, lua_State *L);

/* Look whether the program took our hook away from L or the main coroutine. If so, calls were
 * missed: note that in the tables and set the hook again. Return how often that has happened. */
uint64_t jsp_lua_calls_check(struct jsp_lua_calls *c, lua_State *L);

#endif
