/* wraps.h - replacements for Lua functions whose calls a recording must notice.
 *
 * Each replacement takes the function's place in its table, once a state, and calls it. A
 * program that kept the old function calls that one.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_WRAPS_H
#define JSPROF_LUA_WRAPS_H

#include "attach.h"

/* While calls are counted, debug.sethook and gethook act on the program's own hook. */
void jsp_lua_wrap_hooks(lua_State *L);

/* While samples are taken, notice when LuaJIT's own profiler takes the signal. */
void jsp_lua_wrap_profilers(lua_State *L);

/* While samples are taken, the C functions of a module get their names as soon as it is
 * loaded. Stacks do not show our replacement of require. Return 0 or a negative errno. */
int jsp_lua_wrap_require(lua_State *L, struct jsprof_lua *lua);

#endif
