/* collector.c - see collector.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "collector.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "api.h"
#include "bounds.h"

enum {
    COLLECTOR_NATIVES = 64,
    COLLECTOR_TRIES = 100000,
    COLLECTOR_BYTES = 64,
    COLLECTOR_LOOKS = 32,
    COLLECTOR_SEEN = 8,
};

/* The caller of the allocator, and the place of its call on the stack: where both are the same,
 * the functions further out are the same. */
struct collector_seen {
    const void *caller, *frame;
};

/* One search for the functions that free memory: the function of the API that runs, and
 * the functions found directly inside it. They can be several, because a compiler may
 * inline the outermost. */
struct collector_look {
    jsprof_thread *thread;
    uintptr_t api; /* 0: not now */
    uint32_t n_looks, n_seen, n;
    struct collector_seen seen[COLLECTOR_SEEN];
    struct jsp_lua_bounds found[JSP_LUA_COLLECTORS];
};

static jsprof_function *collector_function; /* shared by all sessions, never freed */

static void collector_make_function(void)
{
    jsprof_function_new(&collector_function, "[garbage collector]", NULL, 0, JSPROF_KIND_GC);
}

static void collector_keep(struct collector_look *look, const struct jsp_lua_bounds *b)
{
    for (uint32_t i = 0; i < look->n; i++)
        if (look->found[i].start == b->start)
            return;
    if (look->n < JSP_LUA_COLLECTORS && b->start && b->end > b->start)
        look->found[look->n++] = *b;
}

static void collector_look(struct collector_look *look)
{
    jsprof_backtrace_frame frames[COLLECTOR_NATIVES];
    int n = jsprof_backtrace(look->thread, NULL, frames, COLLECTOR_NATIVES);
    struct jsp_lua_bounds before = { 0, 0 }, b;
    for (int i = 0; i < n; i++) {
        if (frames[i].kind != JSPROF_KIND_NATIVE || !frames[i].pc ||
            !jsp_lua_bounds_function(frames[i].pc - (i != 0), &b))
            continue;
        if (b.start == look->api) {
            collector_keep(look, &before);
            return;
        }
        before = b;
    }
}

/* Return whether no look was taken from here yet. Once many were, one more does no harm. */
static bool collector_is_new(struct collector_look *look, const void *caller, const void *frame)
{
    for (uint32_t i = 0; i < look->n_seen; i++)
        if (look->seen[i].caller == caller && look->seen[i].frame == frame)
            return false;
    if (look->n_seen < COLLECTOR_SEEN)
        look->seen[look->n_seen++] = (struct collector_seen){ caller, frame };
    return true;
}

static void *collector_alloc(void *data, void *block, size_t before, size_t after)
{
    struct collector_look *look = data;
    (void)before;
    if (after)
        return realloc(block, after);
    if (block && look->api && look->n_looks++ < COLLECTOR_LOOKS &&
        collector_is_new(look, __builtin_return_address(0), __builtin_frame_address(0)))
        collector_look(look);
    free(block);
    return NULL;
}

static int collector_add(const struct jsprof_lua *lua, const struct collector_look *look)
{
    int err = 0;
    for (uint32_t i = 0; i < look->n && !err; i++) {
        const struct jsp_lua_bounds *b = &look->found[i];
        jsprof_code code = { .size = sizeof code, .function = collector_function,
                             .start = (const void *)b->start, .length = b->end - b->start };
        err = jsprof_code_add(lua->session, &code);
        if (!err)
            lua->walker->collectors[lua->walker->n_collectors++] = *b;
    }
    return err;
}

static void collector_begin_look(struct collector_look *look, uintptr_t api)
{
    struct jsp_lua_bounds b;
    look->n_looks = look->n_seen = 0;
    look->api = jsp_lua_bounds_function(api, &b) ? b.start : 0;
}

static void collector_garbage(lua_State *L)
{
    lua_newuserdata(L, COLLECTOR_BYTES);
    lua_pop(L, 1);
}

int jsp_lua_collector_register(const struct jsprof_lua *lua)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct collector_look look = { .thread = lua->thread };
    pthread_once(&once, collector_make_function);
    lua_State *L = collector_function ? compat_newstate(collector_alloc, &look) : NULL;
    if (!L)
        return -ENOMEM;
    collector_begin_look(&look, jsp_lua_api(JSP_LUA_API_NEWUSERDATA));
    for (int i = 0; i < COLLECTOR_TRIES && look.api && look.n_looks < COLLECTOR_LOOKS; i++)
        collector_garbage(L);
    collector_garbage(L);
    collector_begin_look(&look, jsp_lua_api(JSP_LUA_API_GC));
    lua_gc(L, LUA_GCCOLLECT, 0);
    look.api = 0;
    int err = collector_add(lua, &look);
    lua_close(L);
    return err;
}
