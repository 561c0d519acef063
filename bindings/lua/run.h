/* run.h - a recording that the module started.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_RUN_H
#define JSPROF_LUA_RUN_H

#include "attach.h"
#include "memory.h"

/* Lives until the process ends or it is stopped. */
struct module_run {
    struct module_run *next;
    jsprof *prof;                  /* NULL: closed, because the process ends */
    jsprof_thread *thread;
    jsprof_lua *lua;
    struct jsp_lua_memory memory;
    struct jsp_lua_watch watch;
    /* Written by the thread that runs the state (threads.c): */
    uint64_t maker, runner;        /* numbers of the thread that began and of the one that runs */
    struct jsp_lua_joined *joined; /* other threads that run it; under the lock of runs */
};

/* That of this state; NULL: nothing is recorded. */
struct module_run *jsp_lua_run_of(lua_State *L);

/* Its session, which nobody closes until it is let go; NULL: there is none, and nothing to
 * let go. */
jsprof *jsp_lua_run_hold(struct module_run *run);
void jsp_lua_run_let_go(void);

/* Take the lock of all runs; jsp_lua_run_let_go gives it back. */
void jsp_lua_run_lock(void);

/* Set a field of the table on top. */
void jsp_lua_field(lua_State *L, const char *name, uint64_t value);

#endif
