/* probe.h - is this Lua the one that we were built for, and where is its loop?
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PROBE_H
#define JSPROF_LUA_PROBE_H

#include "attach.h"

/* The version of the Lua in this process: "5.1" to "5.4", "jit"; NULL: can not tell. */
const char *jsp_lua_probe_found(void);

/* Is it ours, as far as one can tell? Callable in any Lua. */
bool jsp_lua_probe_version(void);

/* Walk known stacks, in the main coroutine and in another, and compare with what Lua says
 * of them; name Lua's own functions; tell the session where the interpreter's loop is.
 * -ENOTSUP: they differ; -ENOMEM. */
int jsp_lua_probe(struct jsprof_lua *lua, lua_State *L);

#endif
