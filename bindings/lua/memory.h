/* memory.h - a look, several times a second, at the memory that a Lua uses and at the
 * handler of the signal.
 *
 * It reads in a way that can not fault, so it neither calls nor slows the program. It
 * writes the memory as a counter.
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
    pthread_mutex_t lock;        /* of the fields below */
    jsprof *session;             /* NULL: not begun, or ended */
    struct jsp_lua_watch *watch; /* borrowed */
    int counter;
    uintptr_t at[2];             /* addresses of the values to add; 0: none */
    int sign;                    /* of the second value */
    uint64_t looked_ns;          /* time of the last look */
};

/* Must be called first. There are no looks before jsp_lua_memory_begin. */
void jsp_lua_memory_init(struct jsp_lua_memory *m);

/* `global` is the state's global_State. Return 0 or a negative errno. */
int jsp_lua_memory_begin(struct jsp_lua_memory *m, jsprof *session, uintptr_t global,
                         struct jsp_lua_watch *watch);

/* Look if it is time to. Usable as jsprof_options.on_drain with `m` as its data. */
void jsp_lua_memory_look(void *m);

/* Look now. Call it in the state's thread, not in a handler. */
void jsp_lua_memory_look_now(struct jsp_lua_memory *m);

/* Look one last time. Any thread may call it, also again. */
void jsp_lua_memory_end(struct jsp_lua_memory *m);

/* The same in a signal handler. Return false if the signal interrupted a look. */
bool jsp_lua_memory_end_now(struct jsp_lua_memory *m);

#endif
