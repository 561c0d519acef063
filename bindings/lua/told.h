/* told.h - what a Lua program tells a recording, and asks it, while it runs.
 *
 * lua_CFunctions of the module; docs/lua.md says what each takes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_TOLD_H
#define JSPROF_LUA_TOLD_H

#include "compat.h"

int jsp_lua_told_calls(lua_State *L);
int jsp_lua_told_wrap(lua_State *L);
int jsp_lua_told_mark(lua_State *L);
int jsp_lua_told_counter(lua_State *L);
int jsp_lua_told_now(lua_State *L);

#endif
