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

#include <stdatomic.h>

#include "compat.h"
#include "run.h"
#include "walk.h"

/* What a thread knows about itself and about the state that it ran last. */
struct jsp_lua_here {
    uint64_t number;         /* 0: not assigned yet */
    uint64_t n_changes;
    uintptr_t global;
    size_t global_at;        /* bytes of a lua_State before the field that holds it */
    struct module_run *run;  /* NULL: that state is not recorded */
    jsprof_thread *tasks;    /* NULL: nor are its tasks */
};
extern __thread struct jsp_lua_here jsp_lua_here;

extern _Atomic uint64_t jsp_lua_changes; /* begins and ends of runs */

/* The calling thread starts, or ends, the recording of this state. */
void jsp_lua_threads_begin(struct module_run *run);
void jsp_lua_threads_end(struct module_run *run);

/* The calling thread is about to run the state. */
void jsp_lua_threads_enter(lua_State *L);

/* Return whether there is nothing to report, as for most calls: since `n_changes` changes,
 * this thread is the last that entered the state, or the state is not recorded. */
static inline bool jsp_lua_threads_is_entered(lua_State *L, uint64_t n_changes)
{
    const struct jsp_lua_here *here = &jsp_lua_here;
    return !n_changes ||
           (here->n_changes == n_changes &&
            here->global == *(const uintptr_t *)((const char *)L + here->global_at) &&
            (!here->run || here->run->runner == here->number));
}

#endif
