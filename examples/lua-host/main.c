/* main.c - lua-host: a C program that embeds Lua and profiles what it runs.
 *
 *     lua-host CAPTURE SCRIPT [THREADS]
 *
 * Each thread has a Lua of its own and runs the script in it; a scheduler in C resumes
 * the script as a coroutine until it is done. One capture holds them all.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "jsprof-lua.h"

enum { HOST_THREADS = 16 };

struct host {
    jsprof *prof;
    const char *script;
    int failed;
};

static int host_fail(const char *what, int err)
{
    char why[300];
    fprintf(stderr, "lua-host: %s: %s\n", what, jsprof_error_text(err, why, sizeof why));
    return 1;
}

/* The same call for the five versions of lua_resume. */
static int host_resume(lua_State *co, lua_State *from)
{
#if LUA_VERSION_NUM >= 504
    int n;
    return lua_resume(co, from, 0, &n);
#elif LUA_VERSION_NUM >= 502
    return lua_resume(co, from, 0);
#else
    (void)from;
    return lua_resume(co, 0);
#endif
}

/* The scheduler. No Lua function called this coroutine, so the host reports it to jsprof. */
static int host_schedule(lua_State *L, jsprof_lua *lua, const char *script)
{
    lua_State *co = lua_newthread(L);
    int status = luaL_loadfile(co, script);
    if (status == 0) {
        do {
            lua_State *before = jsprof_lua_running(lua, co);
            status = host_resume(co, L);
            jsprof_lua_running(lua, before);
        } while (status == LUA_YIELD);
    }
    if (status != 0)
        fprintf(stderr, "lua-host: %s\n", lua_tostring(co, -1));
    lua_pop(L, 1);
    return status != 0;
}

static int host_run(lua_State *L, struct host *h)
{
    jsprof_thread *me;
    jsprof_lua *lua;
    int err = jsprof_thread_attach(h->prof, "lua", &me);
    if (err)
        return host_fail("thread", err);
    err = jsprof_lua_attach(h->prof, me, L, &lua);
    int failed = err ? host_fail("lua", err) : host_schedule(L, lua, h->script);
    if (!err)
        jsprof_lua_detach(lua);
    jsprof_thread_detach(me);
    return failed;
}

static void *host_thread(void *data)
{
    struct host *h = data;
    lua_State *L = luaL_newstate();
    if (!L)
        return NULL;
    luaL_openlibs(L);
    if (host_run(L, h))
        h->failed = 1;
    lua_close(L);
    return NULL;
}

static int host_threads(struct host *h, int n)
{
    pthread_t threads[HOST_THREADS];
    int started = 0;
    while (started < n && pthread_create(&threads[started], NULL, host_thread, h) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started < n || h->failed;
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options };
    struct host h = { 0 };
    int n = argc > 3 ? atoi(argv[3]) : 1;
    if (argc < 3 || n < 1 || n > HOST_THREADS) {
        fprintf(stderr, "Usage: lua-host CAPTURE SCRIPT [THREADS, 1 to %d]\n", HOST_THREADS);
        return 2;
    }
    options.path = argv[1];
    h.script = argv[2];
    int err = jsprof_open(&h.prof, &options);
    if (!err)
        err = jsprof_start(h.prof);
    if (err) {
        jsprof_close(h.prof);
        return host_fail(argv[1], err);
    }
    int failed = host_threads(&h, n);
    err = jsprof_close(h.prof);
    return err ? host_fail(argv[1], err) : failed;
}
