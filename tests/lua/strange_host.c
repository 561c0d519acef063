/* strange_host.c - a program that embeds Lua and treats it unkindly. The script has a function
 * `work`.
 *
 *     strange_host closed SCRIPT         another thread closes the state, then this one burns in C
 *     strange_host attached SCRIPT FILE  the same, but the program records itself by jsprof-lua.h
 *     strange_host ended SCRIPT          a thread runs the script's `work` and ends; then this one
 *                                        allocates by functions that are no entries
 *     strange_host poor SCRIPT CAPTURE   the state's allocator fails at the first, second, ... call
 *                                        while the script runs, until it does not fail any more;
 *                                        no file is there where it has not set `started`
 *     strange_host blocked COMMAND ARG...  COMMAND runs with our signals blocked
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "jsprof-lua.h"

static lua_State *L;

static void burn(double seconds)
{
    clock_t until = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < until)
        continue;
}

static int run(const char *script)
{
    int failed = luaL_dofile(L, script);
    if (failed)
        fprintf(stderr, "strange_host: %s\n", lua_tostring(L, -1));
    return failed;
}

static void *close_main(void *unused)
{
    (void)unused;
    lua_close(L);
    return NULL;
}

static int close_elsewhere(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, close_main, NULL) || pthread_join(thread, NULL);
}

static int closed(const char *script)
{
    L = luaL_newstate();
    if (!L)
        return 1;
    luaL_openlibs(L);
    if (run(script) || close_elsewhere())
        return 1;
    burn(0.2);
    return 0;
}

static int attached(const char *script, const char *file)
{
    const jsprof_options options = { .size = sizeof options, .path = file };
    jsprof *prof;
    jsprof_thread *me;
    jsprof_lua *lua;
    L = luaL_newstate();
    if (!L || jsprof_open(&prof, &options) || jsprof_thread_attach(prof, "main", &me))
        return 1;
    luaL_openlibs(L);
    if (jsprof_lua_attach(prof, me, L, &lua) || jsprof_start(prof) || run(script) ||
        close_elsewhere())
        return 1;
    burn(0.2);
    jsprof_lua_detach(lua);
    burn(0.2);
    jsprof_thread_detach(me);
    return jsprof_close(prof) != 0;
}

static void *work_main(void *failed)
{
    lua_getglobal(L, "work");
    *(int *)failed = lua_pcall(L, 0, 0, 0);
    return NULL;
}

static int ended(const char *script)
{
    pthread_t thread;
    int failed = 1;
    L = luaL_newstate();
    luaL_openlibs(L);
    if (run(script) || pthread_create(&thread, NULL, work_main, &failed))
        return 1;
    pthread_join(thread, NULL);
    for (int i = 0; i < 100; i++) { /* longer than the drain keeps a thread that ended */
        for (int k = 0; k < 1000; k++) {
            lua_newtable(L);
            lua_pop(L, 1);
        }
        usleep(10000);
    }
    lua_close(L);
    return failed;
}

/* -- Without memory ---------------------------------------------------------------- */

static long left = -1; /* calls of the allocator until one fails; -1: none does */

static void *poor_alloc(void *data, void *block, size_t before, size_t after)
{
    (void)data;
    if (!after) {
        free(block);
        return NULL;
    }
    if (block && after <= before) /* Lua relies on that */
        return realloc(block, after);
    if (left == 0)
        return NULL;
    left -= left > 0;
    return realloc(block, after);
}

static lua_State *poor_state(void)
{
#if LUA_VERSION_NUM == 505
    return lua_newstate(poor_alloc, NULL, 1);
#else
    return lua_newstate(poor_alloc, NULL);
#endif
}

/* Runs protected: the second argument says how many calls succeed. */
static int poor_run(lua_State *on)
{
    int failed = luaL_loadfile(on, lua_touserdata(on, 1));
    left = *(long *)lua_touserdata(on, 2);
    if (failed)
        return lua_error(on);
    lua_call(on, 0, 0);
    return 0;
}

static int poor_once(char *script, const char *capture, long calls)
{
    left = -1;
    L = poor_state();
    if (!L)
        return 1;
    luaL_openlibs(L);
    lua_pushcfunction(L, poor_run);
    lua_pushlightuserdata(L, script);
    lua_pushlightuserdata(L, &calls);
    int failed = lua_pcall(L, 2, 0, 0);
    bool is_over = left > 0;
    left = -1;
    if (failed && is_over)
        fprintf(stderr, "strange_host: %s\n", lua_tostring(L, -1));
    lua_getglobal(L, "started");
    bool is_left = failed && !lua_toboolean(L, -1) && access(capture, F_OK) == 0;
    lua_close(L);
    if (is_left)
        fprintf(stderr, "strange_host: call %ld: start failed, and records\n", calls);
    if (failed)
        unlink(capture);
    return failed ? is_over || is_left ? 1 : -1 : 0;
}

static int poor(char *script, const char *capture)
{
    int status = -1;
    for (long calls = 1; status < 0 && calls < 100000; calls++)
        status = poor_once(script, capture, calls);
    return status != 0;
}

static int blocked(char **argv)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGURG);
    sigprocmask(SIG_BLOCK, &set, NULL);
    execvp(argv[0], argv);
    return 127;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    if (strcmp(what, "closed") == 0)
        return closed(argv[2]);
    if (strcmp(what, "ended") == 0)
        return ended(argv[2]);
    if (strcmp(what, "attached") == 0 && argc == 4)
        return attached(argv[2], argv[3]);
    if (strcmp(what, "poor") == 0 && argc == 4)
        return poor(argv[2], argv[3]);
    return strcmp(what, "blocked") == 0 ? blocked(argv + 2) : 2;
}
