/* alloc.h - what a Lua state allocates, by function, through its own allocator.
 *
 * The allocator that the state has does the work; ours stands in front of it and tells how
 * many bytes more there are. Owner thread only.
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

/* The state has the allocator that it had, or, where somebody put one in front of ours, ours
 * tells nothing any more. NULL is fine. */
void jsp_lua_alloc_end(struct jsp_lua_alloc *a, lua_State *L);

#endif
