/* threads_host.c - a program that embeds Lua, knows nothing of jsprof, and hands its state from
 * thread to thread: each runs one function of the script while the others wait.
 *
 *     threads_host SCRIPT [in-c]
 *
 * With the second argument it burns half a second in C first.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static lua_State *L;
static int failed;

static void run(lua_State *on, const char *name)
{
    lua_getglobal(on, name);
    if (lua_pcall(on, 0, 0, 0) != 0) {
        fprintf(stderr, "threads_host: %s\n", lua_tostring(on, -1));
        failed = 1;
    }
}

static void *worker_main(void *name)
{
    run(L, name);
    return NULL;
}

/* The same in a coroutine. */
static void *coroutine_main(void *name)
{
    lua_State *co = lua_newthread(L);
    int status;
    lua_getglobal(co, name);
#if LUA_VERSION_NUM == 501
    status = lua_resume(co, 0);
#elif LUA_VERSION_NUM < 504
    status = lua_resume(co, L, 0);
#else
    int n;
    status = lua_resume(co, L, 0, &n);
#endif
    failed = failed || status != 0;
    lua_pop(L, 1);
    return NULL;
}

static void in_thread(void *(*main)(void *), char *name)
{
    pthread_t thread;
    pthread_create(&thread, NULL, main, name);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    static char second[] = "second", third[] = "third";
    L = luaL_newstate();
    if (argc < 2 || argc > 3 || !L)
        return 2;
    luaL_openlibs(L);
    if (luaL_dofile(L, argv[1]) != 0)
        return 1;
    for (clock_t end = clock() + CLOCKS_PER_SEC / 2; argc == 3 && clock() < end;)
        continue;
    run(L, "first");
    in_thread(worker_main, second);
    in_thread(coroutine_main, third);
    in_thread(worker_main, second); /* a new thread, maybe where the old one was */
    run(L, "last");
    lua_close(L);
    return failed;
}
