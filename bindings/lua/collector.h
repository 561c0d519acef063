/* collector.h - where PUC Lua's garbage collector is in memory.
 *
 * Its functions are not exported and have no symbols. A small state of our own, whose
 * allocator looks at the C stack when something is freed, shows which functions stand right
 * inside of lua_gc and of one that allocates: a full collection and a step of one. LuaJIT
 * says that it collects, but not which C function allocates: where none of these functions is on
 * the C stack, the walker shows the collector right above the Lua function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_COLLECTOR_H
#define JSPROF_LUA_COLLECTOR_H

#include "attach.h"

/* From now on samples in them show a frame of the garbage collector. Where they are not
 * found nothing is registered. The walker knows which. -ENOMEM. */
int jsp_lua_collector_tell(const struct jsprof_lua *lua);

#endif
