/* loop.h - marks for the callbacks of event loops.
 *
 * An event loop in C (luv, cqueues, nginx) calls Lua when something happened. Each outermost
 * such call is a mark of the group "loop" that lasts as long as the call. Its name is the
 * library and the kind of the call ("luv callback", "cqueues resume"), the message is the Lua
 * function. A wait in epoll_wait is a mark "poll". A call counts if an object other than Lua
 * itself makes it. An error may end a lua_call without a return, so inside one, calls of other
 * libraries count, too. It is transparent, so that calls inside count, if it runs a main chunk, or
 * a C function that coroutine.wrap did not make: a host runs its whole program so.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_LOOP_H
#define JSPROF_LUA_LOOP_H

#include "run.h"

/* Begin to notice the callbacks of this run's state, for marks or only for tasks. Return 0 or a
 * negative errno. */
int jsp_lua_loop_begin(lua_State *L, struct module_run *run, bool has_marks);

/* The state has loaded a module, which may be a library in C. */
void jsp_lua_loop_look(const struct module_run *run);

#endif
