/* memory.h - what is looked at some times a second: how much memory a Lua uses, as a counter,
 * and whose the signal is.
 *
 * By a read that can not fault, so the program is not asked and not slowed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MEMORY_H
#define JSPROF_LUA_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "jsprof.h"
#include "watch.h"

struct jsp_lua_memory {
    pthread_mutex_t lock;        /* over the rest */
    jsprof *session;             /* NULL: nothing is looked at, not yet or no more */
    struct jsp_lua_watch *watch; /* borrowed */
    int counter;
    uintptr_t at[2];             /* what is added up; 0: nothing */
    int sign;                    /* of the second */
    uint64_t looked_ns;          /* when, last */
};

/* Before anything else; nothing is looked at until it begins. */
void jsp_lua_memory_init(struct jsp_lua_memory *m);

/* `global` is the state's global_State. A negative errno. */
int jsp_lua_memory_begin(struct jsp_lua_memory *m, jsprof *session, uintptr_t global,
                         struct jsp_lua_watch *watch);

/* Look, if it is time to; jsprof_options.on_drain, whose data is `m`. */
void jsp_lua_memory_look(void *m);

/* Look now. The state's thread, not in a handler. */
void jsp_lua_memory_look_now(struct jsp_lua_memory *m);

/* Look once more; no look is taken after this. Any thread; again is fine. */
void jsp_lua_memory_end(struct jsp_lua_memory *m);

/* The same in a signal handler. False: a signal interrupted who looks. */
bool jsp_lua_memory_end_now(struct jsp_lua_memory *m);

#endif
