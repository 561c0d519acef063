/* asleep.h - the walkers of a thread: one for its handler, and one for its sleeps.
 *
 * A thread of the library walks the Lua stack of a thread that sleeps (jsprof_asleep in jsprof.h).
 * It has a walker of its own, with copies of the other one's facts and labels, because the thread
 * may wake up and use that meanwhile. It is made for the first sleep that is walked.
 *
 *                           owner thread   library's thread
 *   jsp_lua_walker_like         yes              yes
 *   jsp_lua_walkers_set         yes               -
 *   jsp_lua_walkers_free        yes               -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_ASLEEP_H
#define JSPROF_LUA_ASLEEP_H

#include "attach.h"

/* Copy what a walker has learned about this Lua, except for labels. */
void jsp_lua_walker_like(struct jsp_lua_walker *to, const struct jsp_lua_walker *from);

/* Let the thread's samples walk this state's stack, or no longer. Errors as
 * jsprof_thread_set_walker. No thread of the library uses `lua` after its end. */
int jsp_lua_walkers_set(struct jsprof_lua *lua);
int jsp_lua_walkers_end(struct jsprof_lua *lua);

/* Free both; the thread has no walker any more, or is detached. */
void jsp_lua_walkers_free(struct jsprof_lua *lua);

#endif
