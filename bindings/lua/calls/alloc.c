/* alloc.c - see alloc.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Since 5.5 a long string keeps the allocator that it was made with, until the state frees it. */
enum { ALLOC_IS_KEPT = LUA_VERSION_NUM >= 505 };

/* The number of the calling thread; 0: not assigned yet. An address would name another thread
 * after this one has ended. */
static __thread uint64_t alloc_me;
static _Atomic uint64_t alloc_threads;

struct jsp_lua_alloc {
    jsprof_thread *thread; /* NULL: nothing is reported */
    /* number of the thread that runs the state: others report nothing, and `thread` may be gone
     * for them */
    uint64_t me;
    lua_Alloc below;
    void *below_data;
    struct jsp_lua_alloc *next; /* list of those that are idle but may still be called */
};

static pthread_mutex_t alloc_lock = PTHREAD_MUTEX_INITIALIZER;
static struct jsp_lua_alloc *alloc_idle;

/* Take an idle allocator that calls the same one, or make a new one. NULL: no memory. */
static struct jsp_lua_alloc *alloc_take(lua_Alloc below, void *below_data)
{
    pthread_mutex_lock(&alloc_lock);
    struct jsp_lua_alloc **at = &alloc_idle, *a;
    while ((a = *at) && (a->below != below || a->below_data != below_data))
        at = &a->next;
    if (a)
        *at = a->next;
    pthread_mutex_unlock(&alloc_lock);
    if (!a)
        a = calloc(1, sizeof *a);
    return a;
}

static void alloc_give(struct jsp_lua_alloc *a)
{
    if (!ALLOC_IS_KEPT) {
        free(a);
        return;
    }
    a->thread = NULL;
    pthread_mutex_lock(&alloc_lock);
    a->next = alloc_idle;
    alloc_idle = a;
    pthread_mutex_unlock(&alloc_lock);
}

static inline void alloc_report(const struct jsp_lua_alloc *a, const void *block, size_t bytes)
{
    if (a->me != alloc_me)
        return;
    jsprof_alloc(a->thread, bytes);
    jsprof_allocated(a->thread, block, bytes);
}

/* Report the block before another thread may get its memory. */
static __attribute__((noinline)) void *alloc_free(const struct jsp_lua_alloc *a, void *block,
                                                  size_t before)
{
    jsprof_freed(a->thread, block);
    return a->below(a->below_data, block, before, 0);
}

static __attribute__((noinline)) void *alloc_resize(const struct jsp_lua_alloc *a, void *block,
                                                    size_t before, size_t after)
{
    void *result = a->below(a->below_data, block, before, after);
    if (result && a->me == alloc_me)
        jsprof_moved(a->thread, block, result);
    if (result && after > before)
        alloc_report(a, result, after - before);
    return result;
}

/* The usual cases save no register. Without a block, `before` is no size: since 5.2 it is a kind
 * of object. */
static void *alloc_counted(void *data, void *block, size_t before, size_t after)
{
    const struct jsp_lua_alloc *a = data;
    if (!after && a->me == alloc_me && jsprof_alloc_may_know(a->thread, block))
        return alloc_free(a, block, before);
    if (!after)
        return a->below(a->below_data, block, before, after);
    if (block)
        return alloc_resize(a, block, before, after);
    void *result = a->below(a->below_data, block, before, after);
    if (result)
        alloc_report(a, result, after);
    return result;
}

int jsp_lua_alloc_begin(struct jsp_lua_alloc **out, jsprof_thread *thread, lua_State *L)
{
    void *below_data;
    lua_Alloc below = lua_getallocf(L, &below_data);
    struct jsp_lua_alloc *a = alloc_take(below, below_data);
    if (!a)
        return -ENOMEM;
    jsp_lua_alloc_run(a, thread);
    a->below = below;
    a->below_data = below_data;
    lua_setallocf(L, alloc_counted, a);
    *out = a;
    return 0;
}

void jsp_lua_alloc_run(struct jsp_lua_alloc *a, jsprof_thread *thread)
{
    if (!a)
        return;
    /* ORDER: relaxed. The number only has to be unique. */
    if (!alloc_me)
        alloc_me = 1 + atomic_fetch_add_explicit(&alloc_threads, 1, memory_order_relaxed);
    a->thread = thread;
    a->me = alloc_me;
}

void jsp_lua_alloc_leave(void)
{
    alloc_me = 0;
}

void jsp_lua_alloc_end(struct jsp_lua_alloc *a, lua_State *L)
{
    void *data;
    if (!a)
        return;
    if (lua_getallocf(L, &data) == alloc_counted && data == a) {
        lua_setallocf(L, a->below, a->below_data);
        alloc_give(a);
    } else {
        a->thread = NULL; /* the program's allocator still calls it */
    }
}
