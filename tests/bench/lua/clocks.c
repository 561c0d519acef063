/* clocks.c - for pairs.lua: the CPU clocks of the thread and of the process, and whether
 * the thread hears SIGPROF. For turns.lua: a hook that does nothing, or only reads
 * the clock of exact calls.
 *
 * SPDX-License-Identifier: MIT
 */
#include <lua.h>
#include <signal.h>
#include <string.h>
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

static volatile unsigned long long clocks_last;

static void clocks_time(lua_State *L, lua_Debug *ar)
{
    (void)L;
    (void)ar;
#ifdef __x86_64__
    clocks_last = __builtin_ia32_rdtsc();
#else
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(clocks_last));
#endif
}

/* clocks.hook("nothing"), clocks.hook("time"), clocks.hook(): none. */
static int clocks_hook(lua_State *L)
{
    const char *which = lua_tostring(L, 1);
    lua_Hook f = which && strcmp(which, "time") == 0 ? clocks_time : clocks_nothing;
    lua_sethook(L, f, which ? LUA_MASKCALL | LUA_MASKRET : 0, 0);
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
