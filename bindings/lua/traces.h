/* traces.h - marks for what LuaJIT's compiler reports of its traces.
 *
 * Each trace is a mark of the group "trace", which lasts while the compiler recorded it.
 * Its name is "compiled", or the reason why the compiler gave up, as luajit -jv prints it;
 * the message is the place. "now blacklisted" marks a place that the compiler will never
 * try again, "flushed" the removal of all traces. The program's own handler of these
 * events (jit.attach) works as before.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_TRACES_H
#define JSPROF_LUA_TRACES_H

#include "compat.h"

/* Begin to mark traces of the state's run. Return 0; -ENOTSUP: this Lua has no compiler. */
int jsp_lua_traces_begin(lua_State *L);

/* End it, and give the program's handler its place back. */
void jsp_lua_traces_end(lua_State *L);

#endif
