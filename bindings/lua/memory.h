/* memory.h - what is looked at four times a second: how much memory a Lua uses, as a counter,
 * and whose the signal is.
 *
 * By a thread of its own, by a read that can not fault, so the program is not asked and not
 * slowed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MEMORY_H
#define JSPROF_LUA_MEMORY_H

#include <stdint.h>

#include "jsprof.h"
#include "watch.h"

struct jsp_lua_memory;

/* `global` is the state's global_State; `watch` is borrowed until the end. A negative errno. */
int jsp_lua_memory_begin(struct jsp_lua_memory **out, jsprof *session, uintptr_t global,
                         struct jsp_lua_watch *watch);

/* No look is taken after this. Any thread; NULL is fine. */
void jsp_lua_memory_end(struct jsp_lua_memory *m);

#endif
