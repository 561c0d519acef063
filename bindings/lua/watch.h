/* watch.h - notice that another profiler takes the signal of the samples.
 *
 * LuaJIT's own profiler (luajit -jp, jit.profile) takes it: it replaces the signal's
 * handler, and from then on there are no samples.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_WATCH_H
#define JSPROF_LUA_WATCH_H

#include <stdbool.h>

#include "jsprof.h"

struct jsp_lua_watch {
    jsprof *session;          /* borrowed; NULL: nothing is sampled */
    int signo;                /* the signal, SIGPROF or of events SIGURG ... */
    void (*handler)(void);    /* ... and its handler, when sampling began */
    bool is_taken;            /* another profiler has it now */
    bool was_taken;           /* another profiler has had it */
};

/* Start to watch, at the moment in which sampling begins. */
void jsp_lua_watch_begin(struct jsp_lua_watch *w, jsprof *session);

/* Look now, and mark a change in the capture. One thread at a time may call it. */
void jsp_lua_watch_look(struct jsp_lua_watch *w);

#endif
