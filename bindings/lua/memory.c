/* memory.c - see memory.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "peek.h"
#include "walk.h"

enum { MEMORY_EVERY_MS = 250 };

struct jsp_lua_memory {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ends;
    bool is_ending;
    jsprof *session;
    struct jsp_lua_watch *watch;
    int counter;
    uintptr_t at[2];  /* what is added up; 0: nothing */
};

static int64_t memory_read(uintptr_t at)
{
    int64_t value;
    return at && jsp_lua_peek(at, &value, sizeof value) ? value : 0;
}

static void memory_tell(const struct jsp_lua_memory *m)
{
    jsprof_counter_set(m->session, m->counter, memory_read(m->at[0]) + memory_read(m->at[1]));
}

static void *memory_thread(void *data)
{
    struct jsp_lua_memory *m = data;
    pthread_mutex_lock(&m->lock);
    while (!m->is_ending) {
        struct timespec until;
        memory_tell(m);
        jsp_lua_watch_look(m->watch);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += MEMORY_EVERY_MS * 1000000l;
        until.tv_sec += until.tv_nsec / 1000000000l;
        until.tv_nsec %= 1000000000l;
        pthread_cond_timedwait(&m->ends, &m->lock, &until);
    }
    memory_tell(m);
    jsp_lua_watch_look(m->watch);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

/* Signals are the program's. */
static int memory_start(struct jsp_lua_memory *m)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&m->thread, NULL, memory_thread, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

int jsp_lua_memory_begin(struct jsp_lua_memory **out, jsprof *session, uintptr_t global,
                         struct jsp_lua_watch *watch)
{
    struct jsp_lua_memory *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    m->session = session;
    m->watch = watch;
    jsp_lua_walk_memory(global, m->at);
    m->counter = jsprof_counter(session, "Lua", "memory", "bytes in use, collectgarbage count",
                                JSPROF_COUNTER_WHOLE);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->ends, NULL);
    int err = m->counter < 0 ? m->counter : memory_start(m);
    if (err)
        free(m);
    else
        *out = m;
    return err;
}

void jsp_lua_memory_end(struct jsp_lua_memory *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->is_ending = true;
    pthread_cond_signal(&m->ends);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->ends);
    free(m);
}
