/* jsprof-lua.h - a Lua state's stack, for jsprof: for programs that embed Lua.
 *
 * SPDX-License-Identifier: MIT
 *
 * The library is built once for each Lua: PUC 5.1 to 5.5 or LuaJIT 2.1. Attach the thread
 * to a session, then the state to the thread:
 *
 *     jsprof_thread *me; jsprof_lua *lua;
 *     jsprof_thread_attach(prof, "main", &me);
 *     jsprof_lua_attach(prof, me, L, &lua);
 *         ... run scripts ...
 *     jsprof_lua_detach(lua);
 *     jsprof_thread_detach(me);
 *     lua_close(L);
 *
 * Only the thread that runs the state may make these calls. A state that is closed while
 * it is attached detaches by itself.
 */
#ifndef JSPROF_LUA_H
#define JSPROF_LUA_H

#include <lua.h>

#include "jsprof.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tie between one thread of a session and one Lua state with all its coroutines. */
typedef struct jsprof_lua jsprof_lua;

/* Show in samples of `thread` the Lua functions that run, in the true order with the C
 * functions. Errors: -EINVAL if an argument is NULL; -EALREADY if a Lua is already
 * attached to this thread of the session; -ENOTSUP if this Lua is another version than
 * the binding was built for, or was built with other settings; -ENOMEM; -ECHILD. */
JSPROF_API int jsprof_lua_attach(jsprof *session, jsprof_thread *thread, lua_State *L,
                                 jsprof_lua **out) JSPROF_COLD;

/* Count the exact calls of all Lua and C functions of the state in the session's tables.
 * `modes` is as for jsprof_calls_set; JSPROF_CALLS_ALLOC also counts the bytes of the
 * state's allocator; 0 stops counting. `L` is the coroutine that runs. The binding sets a
 * hook that calls the program's own hook, and an allocator that calls the state's own.
 * Errors: -EINVAL for NULL, an unknown bit or another Lua's L; -EALREADY if calls are
 * being counted; -ENOMEM. */
JSPROF_API int jsprof_lua_calls(jsprof_lua *lua, lua_State *L, uint32_t modes) JSPROF_COLD;

/* Report the allocations of the state to the session, which samples them if it has the option
 * `alloc`. `L` is the coroutine that runs. The binding sets an allocator that calls the state's
 * own. Errors: -EINVAL for NULL or another Lua's L; -ENOMEM. */
JSPROF_API int jsprof_lua_allocations(jsprof_lua *lua, lua_State *L) JSPROF_COLD;

/* Stop sampling and counting the state's functions. `lua` may be NULL. */
JSPROF_API int jsprof_lua_detach(jsprof_lua *lua) JSPROF_COLD;

/* Set the coroutine that runs from now on; NULL means the main one. Only programs need
 * this whose C code calls lua_call on a coroutine while no Lua function runs: the binding
 * finds coroutines that run by lua_resume or lua_pcall. A scheduler that makes this call
 * spares each sample that search. Return the coroutine that ran before, to restore it
 * afterwards. */
JSPROF_API lua_State *jsprof_lua_running(jsprof_lua *lua, lua_State *co) JSPROF_OWNER;

#ifdef __cplusplus
}
#endif

#endif
