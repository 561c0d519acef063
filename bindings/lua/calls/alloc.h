/* alloc.h - the bytes that a Lua state allocates, by function, counted in its own allocator.
 *
 * The state's own allocator does the work. Ours calls it and counts the bytes by which a
 * block grew. Only the owner thread may call these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_ALLOC_H
#define JSPROF_LUA_ALLOC_H

#include "compat.h"
#include "jsprof.h"

struct jsp_lua_alloc;

/* Set our allocator. Return 0 or -ENOMEM. */
int jsp_lua_alloc_begin(struct jsp_lua_alloc **out, jsprof_thread *thread, lua_State *L);

/* Give the state its former allocator back. If the program has set another one since,
 * which calls ours, ours stays and counts nothing. `a` may be NULL. */
void jsp_lua_alloc_end(struct jsp_lua_alloc *a, lua_State *L);

#endif
