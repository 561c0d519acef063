/* alloc.h - the bytes that a Lua state allocates, by function, counted in its own allocator.
 *
 * The state's allocator does the work. Ours calls it and counts the bytes that a block grew
 * by. Owner thread only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_ALLOC_H
#define JSPROF_LUA_ALLOC_H

#include "compat.h"
#include "jsprof.h"

struct jsp_lua_alloc;

/* -ENOMEM. */
int jsp_lua_alloc_begin(struct jsp_lua_alloc **out, jsprof_thread *thread, lua_State *L);

/* Give the state its former allocator back. Where the program set another one since, which
 * calls ours, ours stays and counts nothing. NULL is fine. */
void jsp_lua_alloc_end(struct jsp_lua_alloc *a, lua_State *L);

#endif
