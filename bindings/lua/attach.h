/* attach.h - a state's tie to a thread, for the files of the binding.
 *
 * Only the owner thread may call these, outside of signals.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_ATTACH_H
#define JSPROF_LUA_ATTACH_H

#include "compat.h"
#include "jsprof-lua.h"
#include "walk.h"

struct jsprof_lua {
    jsprof *session;                /* borrowed */
    jsprof_thread *thread;          /* borrowed */
    struct jsp_lua_walker *walker;  /* owned */
    struct jsp_lua_walker *asleep;  /* owned, of the library's thread; NULL: none so far */
    uint32_t n_followed;            /* labels of `walker` that it has */
    uintptr_t main;                 /* the main coroutine */
    struct jsprof_lua **box;        /* the state's userdata; NULL: it is closed */
    struct jsp_lua_calls *calls;    /* owned; NULL: calls are not counted */
    /* owned; NULL: allocations are neither counted nor sampled */
    struct jsp_lua_alloc *alloc;
    bool samples_alloc;
    /* Called when the state closes: it is already detached, and everything else still
     * exists. */
    void (*on_close)(lua_State *L, void *data);
    void *on_close_data;
    /* Called from time to time while calls are counted; may be NULL. */
    void (*on_calls)(void *data);
    void *on_calls_data;
};

/* jsprof_lua_attach in two steps. The first compares what the walker finds in this Lua
 * with what Lua's API reports, and needs no session; the second ties the state to a
 * session. Errors: -ENOTSUP if this Lua differs from the one that the binding knows,
 * -ENOMEM, and from the second also -ECHILD. After an error of the second the caller
 * still owns the tie and detaches it. */
int jsp_lua_prepare(lua_State *L, struct jsprof_lua **out);
int jsp_lua_tie(struct jsprof_lua *lua, jsprof *session, jsprof_thread *thread, lua_State *L);

/* Stop counting calls and bytes. `L` is NULL if the state is closing. */
void jsp_lua_count_end(struct jsprof_lua *lua, lua_State *L);

/* Call a C function with one light userdata, protected. Return 0, -ENOMEM, or -ENOTSUP
 * after another error. */
int jsp_lua_protected(lua_State *L, lua_CFunction f, void *data);

#endif
