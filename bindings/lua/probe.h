/* probe.h - is this Lua one that we were built for, and where is its loop?
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PROBE_H
#define JSPROF_LUA_PROBE_H

#include "attach.h"

/* What the Lua in this process says of itself. */
struct jsp_lua_found {
    char name[16]; /* "5.4.6", "5.3" where it keeps its release to itself, "jit" */
    int release;   /* 6; -1: not known */
};

enum jsp_lua_probe_answer { JSP_LUA_OURS, JSP_LUA_OTHER_VERSION, JSP_LUA_OLD_RELEASE };

/* Is it ours, as far as can be known? Callable in any Lua. `*found` is set unless it says
 * nothing of itself, which counts as ours. */
enum jsp_lua_probe_answer jsp_lua_probe_version(struct jsp_lua_found *found);

/* Walk known stacks, in the main coroutine and in another, and compare with what Lua says
 * of them; name Lua's own functions. It needs no session. -ENOTSUP: they differ; -ENOMEM. */
int jsp_lua_probe(struct jsprof_lua *lua, lua_State *L);

/* Find the interpreter's loop and register it with the session. The same errors. */
int jsp_lua_probe_code(struct jsprof_lua *lua, lua_State *L);

#endif
