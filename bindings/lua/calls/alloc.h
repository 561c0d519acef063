/* alloc.h - the bytes that a Lua state allocates, by function, counted and sampled in its own
 * allocator.
 *
 * The state's own allocator does the work. Ours calls it and reports the bytes by which a
 * block grew, and blocks that move or are freed. Only the thread that runs the state may call
 * these.
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

/* The calling thread runs the state from now on; the session knows it as `thread`. `a` may be
 * NULL. */
void jsp_lua_alloc_run(struct jsp_lua_alloc *a, jsprof_thread *thread);

/* The calling thread ends, and reports nothing from now on. */
void jsp_lua_alloc_leave(void);

/* Give the state its former allocator back. If the program has set another one since,
 * which calls ours, ours stays and counts nothing. `a` may be NULL. */
void jsp_lua_alloc_end(struct jsp_lua_alloc *a, lua_State *L);

#endif
