/* probe.h - check that this Lua is one that we were built for, and find its loop.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PROBE_H
#define JSPROF_LUA_PROBE_H

#include "attach.h"

/* What the Lua in this process reports about itself. */
struct jsp_lua_found {
    char name[16]; /* "5.4.6"; "5.3" if it hides its release; or "jit" */
    int release;   /* 6; -1: not known */
};

enum jsp_lua_probe_answer { JSP_LUA_OURS, JSP_LUA_OTHER_VERSION, JSP_LUA_OLD_RELEASE };

/* Return whether this is our Lua, as far as can be known. It can be called in any Lua.
 * Set `*found`, unless the Lua reports nothing about itself, which counts as ours. */
enum jsp_lua_probe_answer jsp_lua_probe_version(struct jsp_lua_found *found);

/* Walk known stacks, in the main coroutine and in another one, compare them with what Lua
 * reports, and name Lua's own functions. It needs no session. Return 0, -ENOTSUP if they
 * differ, or -ENOMEM. */
int jsp_lua_probe(struct jsprof_lua *lua, lua_State *L);

/* Find the interpreter's loop and register it with the session. The errors are the
 * same. */
int jsp_lua_probe_code(struct jsprof_lua *lua, lua_State *L);

#endif
