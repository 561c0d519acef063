/* clocks.c - for pairs.lua: the CPU clocks of the thread and of the process, and whether
 * the thread hears SIGPROF. For turns.lua: a hook that does nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <lua.h>
#include <signal.h>
#include <time.h>

static double clocks_read(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int clocks_cpu(lua_State *L)
{
    lua_pushnumber(L, clocks_read(CLOCK_THREAD_CPUTIME_ID));
    lua_pushnumber(L, clocks_read(CLOCK_PROCESS_CPUTIME_ID));
    return 2;
}

/* Not heard, the timer's first signal waits, and the timer is set again by its handler
 * only: until then nothing is sampled, and nothing else is different. */
static int clocks_hear(lua_State *L)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGPROF);
    pthread_sigmask(lua_toboolean(L, 1) ? SIG_UNBLOCK : SIG_BLOCK, &one, NULL);
    return 0;
}

static void clocks_nothing(lua_State *L, lua_Debug *ar)
{
    (void)L;
    (void)ar;
}

static int clocks_hook(lua_State *L)
{
    lua_sethook(L, clocks_nothing, lua_toboolean(L, 1) ? LUA_MASKCALL | LUA_MASKRET : 0, 0);
    return 0;
}

int luaopen_clocks(lua_State *L);
int luaopen_clocks(lua_State *L)
{
    lua_createtable(L, 0, 3);
    lua_pushcclosure(L, clocks_cpu, 0);
    lua_setfield(L, -2, "cpu");
    lua_pushcclosure(L, clocks_hear, 0);
    lua_setfield(L, -2, "hear");
    lua_pushcclosure(L, clocks_hook, 0);
    lua_setfield(L, -2, "hook");
    lua_setglobal(L, "clocks");
    return 0;
}
