/* run.h - a recording that the module started.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_RUN_H
#define JSPROF_LUA_RUN_H

#include "attach.h"
#include "memory.h"

/* A run lives until it is stopped or the process ends. */
struct module_run {
    struct module_run *next;
    jsprof *prof;                  /* NULL: closed, because the process ends */
    jsprof_thread *thread;
    jsprof_lua *lua;
    struct jsp_lua_memory memory;
    struct jsp_lua_watch watch;
    bool has_traces;
    bool is_asked;                 /* by the environment */
    struct jsp_lua_called *called; /* owned; NULL: callbacks of loops are not noticed */
    bool has_loop;                 /* they are marked */
    struct jsp_lua_tasks *tasks;   /* owned; NULL: nothing is recorded as a task */
    /* Written by the thread that runs the state (threads.c): */
    uint64_t maker, runner;        /* numbers of the first thread and the present one */
    struct jsp_lua_joined *joined; /* other threads that run it; under the lock of runs */
};

/* Return the run of this state, or NULL if nothing is recorded. */
struct module_run *jsp_lua_run_of(lua_State *L);

/* Return its session and hold the lock, so that no thread closes the session until
 * jsp_lua_run_let_go. Return NULL, without the lock, if there is no session. */
jsprof *jsp_lua_run_hold(struct module_run *run);
void jsp_lua_run_let_go(void);

/* Take the lock of all runs; jsp_lua_run_let_go releases it. */
void jsp_lua_run_lock(void);

/* Make a mark that began at `since`, if the run still has a session. */
void jsp_lua_run_mark(struct module_run *run, uint64_t since, const char *group, const char *name,
                      const char *message);

/* Set a field of the table on top. */
void jsp_lua_field(lua_State *L, const char *name, uint64_t value);

#endif
