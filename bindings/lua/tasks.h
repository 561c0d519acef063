/* tasks.h - what a Lua program schedules, as tasks: coroutines, and the callbacks of loops in C.
 *
 * A coroutine is a task from the moment at which it is made, by coroutine.create or wrap or by a
 * library in C; each resume is a run. A library that keeps a function for later keeps it in the
 * registry: that function is a task, and a run is a call of it. Another outermost call of a
 * library (see loop.h) is a run of a task that nobody knows the maker of, one for each function.
 * What a library does between two waits for events is a turn.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_TASKS_H
#define JSPROF_LUA_TASKS_H

#include "run.h"

/* Begin to record the tasks of this run's state. Return 0 or a negative errno. */
int jsp_lua_tasks_begin(lua_State *L, struct module_run *run);

/* The state has loaded a module, which may be a library in C. */
void jsp_lua_tasks_look(const struct module_run *run);

/* Free the run's part. */
void jsp_lua_tasks_end(struct module_run *run);

/* A run that begins in one C function and ends in the same. Zeroed: there is none. */
struct jsp_lua_task_run {
    jsprof_thread *thread;
    jsprof_task task;
    lua_State *before; /* the coroutine that ran */
};

/* A coroutine is about to be resumed with `n` arguments, by this library or by Lua (NULL). */
void jsp_lua_task_resume(struct jsp_lua_task_run *r, lua_State *co, int n, const char *library);

/* A library is about to call the function that has `n` arguments above it, in this C frame. If the
 * call does not catch errors, one may end it without a return. `library` is NULL if only a function
 * that it kept is a task. */
struct jsp_lua_task_how {
    const char *library, *frame;
    bool catches;
};
void jsp_lua_task_call(struct jsp_lua_task_run *r, lua_State *L, int n,
                       const struct jsp_lua_task_how *how);

/* The run ends. `co` is the coroutine that was resumed, or NULL. */
void jsp_lua_task_end(const struct jsp_lua_task_run *r, lua_State *co);

/* -- task_turns.c: a library of this thread's state is about to wait for events, or has waited;
 * a run ends; a recording begins. */
void jsp_lua_task_waits(void);
void jsp_lua_task_waited(void);
void jsp_lua_task_leaves(jsprof_task task);
void jsp_lua_task_forget_turn(void);

/* The coroutine on top was made here, to run the function at this index. */
void jsp_lua_task_coroutine(lua_State *L, int function);

/* -- task_wraps.c: replace the functions of `coroutine`. Return 0 or a negative errno. */
int jsp_lua_task_wraps(lua_State *L, struct jsprof_lua *lua);

#endif
