/* memory.h - how much memory a Lua uses, as a counter over time.
 *
 * A thread of its own looks ten times a second, by a read that can not fault, so the
 * program is not asked and not slowed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MEMORY_H
#define JSPROF_LUA_MEMORY_H

#include <stdint.h>

#include "jsprof.h"

struct jsp_lua_memory;

/* `global` is the state's global_State. A negative errno. */
int jsp_lua_memory_begin(struct jsp_lua_memory **out, jsprof *session, uintptr_t global);

/* No look is taken after this. NULL is fine. */
void jsp_lua_memory_end(struct jsp_lua_memory *m);

#endif
