/* attach.h - what the files of the binding know of a state's tie to a thread.
 *
 * Owner thread only, outside of signals.
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
    uintptr_t main;                 /* the main coroutine */
    struct jsprof_lua **box;        /* the state's userdata; NULL: it is closed */
    struct jsp_lua_calls *calls;    /* owned; NULL: they are not counted */
    struct jsp_lua_alloc *alloc;    /* owned; NULL: nor what is allocated */
    /* The state is being closed: it is detached already, all else still there. */
    void (*on_close)(void *data);
    void *on_close_data;
    /* Called now and then while calls are counted; NULL: not. */
    void (*on_calls)(void *data);
    void *on_calls_data;
};

/* jsprof_lua_attach in two steps. The first compares what the walker finds in this Lua with
 * what Lua says, and needs no session; the second ties it to one. -ENOTSUP: this Lua is not as
 * we know it; -ENOMEM; of the second also -ECHILD. After an error of the second it is still
 * the caller's, to be detached. */
int jsp_lua_prepare(lua_State *L, struct jsprof_lua **out);
int jsp_lua_tie(struct jsprof_lua *lua, jsprof *session, jsprof_thread *thread, lua_State *L);

/* Calls and bytes are counted no more; L NULL: the state is being closed. */
void jsp_lua_count_end(struct jsprof_lua *lua, lua_State *L);

/* Call a C function with one light userdata, protected. -ENOMEM, or -ENOTSUP: an error. */
int jsp_lua_protected(lua_State *L, lua_CFunction f, void *data);

#endif
