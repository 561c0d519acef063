/* wraps.h - functions of Lua's that a recording has to know the calls of.
 *
 * Ours takes the place of each in its table and calls it, once a state; a program that kept
 * the old one calls that.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_WRAPS_H
#define JSPROF_LUA_WRAPS_H

#include "attach.h"

/* While calls are counted, debug.sethook and gethook are about the program's own hook. */
void jsp_lua_wrap_hooks(lua_State *L);

/* While samples are taken, LuaJIT's own profiler takes the signal away before our eyes. */
void jsp_lua_wrap_profilers(lua_State *L);

/* While samples are taken, the C functions of a module get their names as soon as it is loaded.
 * Stacks do not show our function, which calls require. A negative errno. */
int jsp_lua_wrap_require(lua_State *L, struct jsprof_lua *lua);

#endif
