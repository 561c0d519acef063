/* calls.h - exact calls of Lua functions, by a call hook, into jsprof's tables.
 *
 * A hook belongs to a coroutine and is inherited by those that it makes. One that the
 * program has is called as before. Owner thread only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_CALLS_H
#define JSPROF_LUA_CALLS_H

#include "attach.h"

struct jsp_lua_calls;

/* Count from now on. A negative errno. */
int jsp_lua_calls_begin(struct jsp_lua_calls **out, struct jsprof_lua *lua, lua_State *L);

/* The hook of `L` goes, others as they are met. `L` NULL: the state is being closed. */
void jsp_lua_calls_end(struct jsp_lua_calls *c, lua_State *L);

/* The program set a hook of its own for L: ours goes on top again. */
void jsp_lua_calls_rehook(struct jsp_lua_calls *c, lua_State *L);

/* The program wants to see its own hook. */
void jsp_lua_calls_unhook(struct jsp_lua_calls *c, lua_State *L);

#endif
