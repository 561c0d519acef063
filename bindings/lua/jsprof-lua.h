/* jsprof-lua.h - a Lua state's stack, for jsprof: for programs that embed Lua.
 *
 * SPDX-License-Identifier: MIT
 *
 * Built for one Lua version each, PUC 5.1 to 5.5 or LuaJIT 2.1. Attach the thread to a
 * session, then the state to the thread:
 *
 *     jsprof_thread *me; jsprof_lua *lua;
 *     jsprof_thread_attach(prof, "main", &me);
 *     jsprof_lua_attach(prof, me, L, &lua);
 *         ... run scripts ...
 *     jsprof_lua_detach(lua);
 *     jsprof_thread_detach(me);
 *     lua_close(L);
 *
 * Every call belongs to the thread that runs the state. A state that is closed while it
 * is attached detaches by itself.
 */
#ifndef JSPROF_LUA_H
#define JSPROF_LUA_H

#include <lua.h>

#include "jsprof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tie between one thread of a session and one Lua: all coroutines of it. */
typedef struct jsprof_lua jsprof_lua;

/* Samples of `thread` show the Lua functions that run, in the true order with the C
 * functions. -EINVAL: an argument is NULL; -EALREADY: a Lua is attached to this thread
 * of the session; -ENOTSUP: this Lua is not the version that the binding was built for,
 * or was built in another way; -ENOMEM; -ECHILD. */
JSPROF_API int jsprof_lua_attach(jsprof *session, jsprof_thread *thread, lua_State *L,
                                 jsprof_lua **out) JSPROF_COLD;

/* Exact calls of all Lua and C functions of the state, into the session's tables: `modes` as
 * for jsprof_calls_set, with JSPROF_CALLS_ALLOC what the state's allocator gives too; 0: no
 * more. `L` is the coroutine that runs. They come from a hook, in front of the program's own,
 * and an allocator in front of the state's. -EINVAL: NULL, an unknown bit, another Lua's L;
 * -EALREADY: they are counted; -ENOMEM. */
JSPROF_API int jsprof_lua_calls(jsprof_lua *lua, lua_State *L, uint32_t modes) JSPROF_COLD;

/* Lua functions are seen no more, nor counted. NULL is fine. */
JSPROF_API int jsprof_lua_detach(jsprof_lua *lua) JSPROF_COLD;

/* For programs whose C code calls lua_call on a coroutine while no Lua function runs: `co` runs
 * from now on; NULL: the main one. Coroutines that anybody resumes with lua_resume, or runs
 * with lua_pcall, are found without it; a scheduler that says so spares each sample the look.
 * Returns what ran before, to give back afterwards. */
JSPROF_API lua_State *jsprof_lua_running(jsprof_lua *lua, lua_State *co) JSPROF_OWNER;

#ifdef __cplusplus
}
#endif

#endif
