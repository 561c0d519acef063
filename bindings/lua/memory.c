/* memory.c - see memory.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memory.h"

#include "peek.h"
#include "walk.h"

enum { MEMORY_EVERY_NS = 150000000 };

static int64_t memory_read(uintptr_t at)
{
    int64_t value;
    return at && jsp_lua_peek(at, &value, sizeof value) ? value : 0;
}

static void memory_report(struct jsp_lua_memory *m)
{
    jsprof_counter_set(m->session, m->counter,
                       memory_read(m->at[0]) + m->sign * memory_read(m->at[1]));
    jsp_lua_watch_look(m->watch);
    m->looked_ns = jsprof_now();
}

void jsp_lua_memory_init(struct jsp_lua_memory *m)
{
    *m = (struct jsp_lua_memory){ .session = NULL };
    pthread_mutex_init(&m->lock, NULL);
}

int jsp_lua_memory_begin(struct jsp_lua_memory *m, jsprof *session, uintptr_t global,
                         struct jsp_lua_watch *watch)
{
    int counter = jsprof_counter(session, "Lua", "memory", "bytes in use, collectgarbage count",
                                 JSPROF_COUNTER_WHOLE);
    if (counter < 0)
        return counter;
    pthread_mutex_lock(&m->lock);
    m->counter = counter;
    m->watch = watch;
    m->sign = jsp_lua_walk_memory(global, m->at);
    m->session = session;
    memory_report(m);
    pthread_mutex_unlock(&m->lock);
    return 0;
}

/* Skip this look if the lock is held: the signal may have interrupted its holder. */
void jsp_lua_memory_look(void *data)
{
    struct jsp_lua_memory *m = data;
    if (pthread_mutex_trylock(&m->lock) != 0)
        return;
    if (m->session && jsprof_now() - m->looked_ns >= MEMORY_EVERY_NS)
        memory_report(m);
    pthread_mutex_unlock(&m->lock);
}

void jsp_lua_memory_look_now(struct jsp_lua_memory *m)
{
    pthread_mutex_lock(&m->lock);
    if (m->session)
        memory_report(m);
    pthread_mutex_unlock(&m->lock);
}

static void memory_end_locked(struct jsp_lua_memory *m)
{
    if (m->session)
        memory_report(m);
    m->session = NULL;
    pthread_mutex_unlock(&m->lock);
}

void jsp_lua_memory_end(struct jsp_lua_memory *m)
{
    pthread_mutex_lock(&m->lock);
    memory_end_locked(m);
}

bool jsp_lua_memory_end_now(struct jsp_lua_memory *m)
{
    if (pthread_mutex_trylock(&m->lock) != 0)
        return false;
    memory_end_locked(m);
    return true;
}
