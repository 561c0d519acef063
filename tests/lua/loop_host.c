/* loop_host.c - a program whose event loop is in C: it resumes the coroutines itself, and says
 * nothing of that to jsprof.
 *
 *     loop_host CAPTURE SCRIPT CASE
 *
 * idle: the main coroutine has no calls while the script's `tasks` run. called: the script
 * calls the loop, and so do its tasks; or `make`, a C function that makes garbage.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compat.h"
#include "jsprof-lua.h"

enum { LOOP_TASKS = 16 };

/* CPU time of this thread; os.clock counts what the recording's own thread does, too. */
static int loop_clock(lua_State *L)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    lua_pushnumber(L, (lua_Number)now.tv_sec + (lua_Number)now.tv_nsec / 1e9);
    return 1;
}

/* As an event loop keeps them: not where Lua's stack shows it. */
struct loop {
    lua_State *tasks[LOOP_TASKS];
    int n;
};

static void loop_fail(const char *what, lua_State *L)
{
    fprintf(stderr, "loop_host: %s: %s\n", what, L ? lua_tostring(L, -1) : "");
    exit(1);
}

/* The functions of the list on top of L become coroutines. */
static void loop_fill(struct loop *loop, lua_State *L)
{
    loop->n = 0;
    for (size_t i = 1; i <= compat_length(L, -1) && loop->n < LOOP_TASKS; i++) {
        lua_State *co = lua_newthread(L);
        lua_rawseti(L, LUA_REGISTRYINDEX, 1000 + loop->n + 100 * (lua_gettop(L) & 7));
        lua_rawgeti(L, -1, (int)i);
        lua_xmove(L, co, 1);
        loop->tasks[loop->n++] = co;
    }
}

__attribute__((noinline)) static int loop_turn(struct loop *loop, lua_State *from)
{
    int n_left = 0;
    for (int i = 0; i < loop->n; i++) {
        lua_State *co = loop->tasks[i];
        int status = co ? compat_resume(co, from, 0) : LUA_OK;
        if (status != LUA_OK && status != LUA_YIELD)
            loop_fail("task", co);
        if (status == LUA_OK)
            loop->tasks[i] = NULL;
        n_left += loop->tasks[i] != NULL;
    }
    return n_left;
}

__attribute__((noinline)) static void loop_run(lua_State *L, lua_State *from)
{
    struct loop *loop = calloc(1, sizeof *loop);
    if (!loop)
        loop_fail("memory", NULL);
    lua_gc(L, LUA_GCSTOP, 0); /* the registry's numbers may be used again */
    loop_fill(loop, L);
    while (loop_turn(loop, from))
        continue;
    free(loop);
}

/* Called by Lua, with a list of functions; `from` is not said, as most do. */
static int loop_called(lua_State *L)
{
    loop_run(L, NULL);
    return 0;
}

__attribute__((noinline)) static void host_garbage(lua_State *L)
{
    for (int i = 0; i < 20000; i++) {
        lua_newuserdata(L, 64);
        lua_pop(L, 1);
    }
}

static int host_make(lua_State *L)
{
    host_garbage(L);
    return 0;
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options, .path = argc > 3 ? argv[1] : NULL,
                               .clock = JSPROF_CLOCK_WALL };
    jsprof_thread *me;
    jsprof_lua *lua;
    jsprof *prof;
    lua_State *L = luaL_newstate();
    if (argc < 4 || !L)
        return 2;
    luaL_openlibs(L);
    lua_pushcfunction(L, loop_called);
    lua_setglobal(L, "loop");
    lua_pushcfunction(L, loop_clock);
    lua_setglobal(L, "clock");
    lua_pushcfunction(L, host_make);
    lua_setglobal(L, "make");
    if (luaL_dofile(L, argv[2]))
        loop_fail("script", L);
    if (jsprof_open(&prof, &options) || jsprof_start(prof) ||
        jsprof_thread_attach(prof, "loop", &me) || jsprof_lua_attach(prof, me, L, &lua))
        loop_fail("jsprof", NULL);
    if (strcmp(argv[3], "idle") == 0) {
        lua_getglobal(L, "tasks");
        loop_run(L, NULL);
    } else {
        lua_getglobal(L, "main");
        if (lua_pcall(L, 0, 0, 0))
            loop_fail("main", L);
    }
    jsprof_lua_detach(lua);
    jsprof_thread_detach(me);
    lua_close(L);
    return jsprof_close(prof) != 0;
}
