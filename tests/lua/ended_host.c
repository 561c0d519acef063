/* ended_host.c - a program whose thread runs a state with sampled allocations and ends; then the
 * main thread allocates by functions of Lua's that are no entries, and closes the state.
 *
 *     ended_host CAPTURE [SCRIPT]
 *
 * With a script it runs only that, which has the capture's name in the global `output`.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static lua_State *L;
static int failed;

static void run(const char *code)
{
    if (luaL_loadstring(L, code) == 0 && lua_pcall(L, 0, 0, 0) == 0)
        return;
    fprintf(stderr, "ended_host: %s\n", lua_tostring(L, -1));
    failed = 1;
}

static void *worker_main(void *unused)
{
    run("local t = {} for i = 1, 100000 do t[i] = { i } end");
    return unused;
}

static int with_script(const char *capture, const char *script)
{
    lua_pushstring(L, capture);
    lua_setglobal(L, "output");
    if (luaL_loadfile(L, script) != 0 || lua_pcall(L, 0, 0, 0) != 0) {
        fprintf(stderr, "ended_host: %s\n", lua_tostring(L, -1));
        failed = 1;
    }
    lua_close(L);
    return failed;
}

int main(int argc, char **argv)
{
    char code[512];
    pthread_t worker;
    snprintf(code, sizeof code, "require 'jsprof'.start{ output = '%s', alloc = 4096 }",
             argc > 1 ? argv[1] : "");
    L = luaL_newstate();
    luaL_openlibs(L);
    if (argc > 2)
        return with_script(argv[1], argv[2]);
    run(code);
    if (pthread_create(&worker, NULL, worker_main, NULL) != 0)
        return 2;
    pthread_join(worker, NULL);
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
