/* collector.h - where PUC Lua's garbage collector is in memory.
 *
 * Its functions are not exported and have no symbols. A small state of our own has an
 * allocator that looks at the C stack when it frees memory. So it finds the functions
 * that lua_gc calls directly, and those that an allocating function calls: a full
 * collection and one step of it. LuaJIT's state shows that it collects, but not which C
 * function allocates. If none of these functions is on the C stack, the walker shows the
 * collector directly above the Lua function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_COLLECTOR_H
#define JSPROF_LUA_COLLECTOR_H

#include "attach.h"

/* From this call on, samples in these functions show a frame of the garbage collector. If
 * the functions are not found, nothing is registered. Return 0 or -ENOMEM. */
int jsp_lua_collector_register(const struct jsprof_lua *lua);

#endif
