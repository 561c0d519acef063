/* watch.h - does another profiler take the signal that samples come by?
 *
 * LuaJIT's own (luajit -jp, jit.profile) does: it puts a handler of its own in the place of
 * whatever was there, and from then on there are no samples.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_WATCH_H
#define JSPROF_LUA_WATCH_H

#include <stdbool.h>

#include "jsprof.h"

struct jsp_lua_watch {
    jsprof *session;          /* borrowed; NULL: nothing is sampled */
    void (*handler)(void);    /* that of the signal when sampling began */
    bool is_taken;            /* now */
    bool was_taken;           /* ever */
};

/* Sampling has begun. */
void jsp_lua_watch_begin(struct jsp_lua_watch *w, jsprof *session);

/* Look now; what has changed is marked in the capture. One thread at a time. */
void jsp_lua_watch_look(struct jsp_lua_watch *w);

#endif
