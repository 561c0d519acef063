/* lua_hook.c - what Lua's own call and return hook costs a call, when it does nothing.
 * Built by tests/bench/run, where liblua5.4-dev is there.
 *
 * SPDX-License-Identifier: MIT
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "../bench.h"

enum { LUA_HOOK_N = 22 };

static void lua_hook_empty(lua_State *L, lua_Debug *ar)
{
    (void)L, (void)ar;
}

/* ns per call. */
static double lua_hook_time(lua_State *L, lua_Hook hook)
{
    lua_sethook(L, hook, hook ? LUA_MASKCALL | LUA_MASKRET : 0, 0);
    double begin = bench_ns(CLOCK_MONOTONIC);
    lua_getglobal(L, "fib");
    lua_pushinteger(L, LUA_HOOK_N);
    bench_need(lua_pcall(L, 1, 1, 0) == LUA_OK, "running Lua");
    double calls = (double)(2 * lua_tointeger(L, -1) - 1);
    lua_pop(L, 1);
    return (bench_ns(CLOCK_MONOTONIC) - begin) / calls;
}

int main(int argc, char **argv)
{
    static struct bench_series pairs, bare, hooked;
    char peer[120];
    lua_State *L = luaL_newstate();
    if (argc != 2)
        return 2;
    bench_need(L != NULL, "luaL_newstate");
    luaL_openlibs(L);
    bench_need(luaL_dostring(L, "function fib(n) return n < 2 and 1 or fib(n-1) + fib(n-2) end")
               == LUA_OK, "loading Lua");
    bench_pin();
    for (int i = bench_rounds(51); i > 0; i--) {
        double a = lua_hook_time(L, NULL), b = lua_hook_time(L, lua_hook_empty);
        bench_add(&bare, a);
        bench_add(&hooked, b);
        bench_add(&pairs, b / a);
    }
    snprintf(peer, sizeof peer, "Lua alone %.2f ns a call, this %.2f ns", bench_median(&bare),
             bench_median(&hooked));
    bench_print(&(struct bench_row){ argv[1], NULL, 0, "x Lua", peer }, &pairs);
    lua_close(L);
    return 0;
}
