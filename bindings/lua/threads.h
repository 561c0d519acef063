/* threads.h - the threads that run a recorded Lua state besides the one that made it.
 *
 * A state runs on one thread at a time, but a program may hand it from thread to thread.
 * The preloaded module sees each call into Lua (preload.c) and first reports it here. A
 * thread that is new to a state joins the state's session, with a walker of its own. Of a
 * state's walkers, only that of the last thread that entered it shows frames.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_THREADS_H
#define JSPROF_LUA_THREADS_H

#include "compat.h"

struct module_run;

/* The calling thread starts, or ends, the recording of this state. */
void jsp_lua_threads_begin(struct module_run *run);
void jsp_lua_threads_end(struct module_run *run);

/* The calling thread is about to run the state. */
void jsp_lua_threads_enter(lua_State *L);

#endif
