/* names_host.c - a C program that calls C functions of its own through Lua, so that no
 * instruction of Lua names them; then it calls one that Lua calls by a name.
 *
 *     names_host CAPTURE [calls]    count calls, and take no samples
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "compat.h"
#include "jsprof-lua.h"

static volatile unsigned long host_sum;

static void host_burn(double seconds)
{
    clock_t until = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < until)
        for (unsigned long i = 0; i < 1000; i++)
            host_sum += i;
}

static int first_of_host(lua_State *L)
{
    (void)L;
    host_burn(0.3);
    host_sum++; /* another body than that of the next */
    return 0;
}

static int second_of_host(lua_State *L)
{
    (void)L;
    host_burn(0.3);
    return 0;
}

static int third_of_host(lua_State *L)
{
    (void)L;
    host_burn(0.3);
    host_sum += 2;
    return 0;
}

static int host_run(jsprof *prof, bool counts)
{
    jsprof_thread *me;
    jsprof_lua *lua;
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    if (jsprof_thread_attach(prof, "lua", &me) || jsprof_lua_attach(prof, me, L, &lua) ||
        (counts ? jsprof_lua_calls(lua, L, JSPROF_CALLS_ALL) : jsprof_start(prof)))
        return 1;
    lua_pushcfunction(L, first_of_host);
    int failed = lua_pcall(L, 0, 0, 0);
    lua_pushcfunction(L, second_of_host);
    failed |= lua_pcall(L, 0, 0, 0);
    lua_pushcfunction(L, third_of_host);
    lua_setglobal(L, "by_a_name");
    failed |= luaL_dostring(L, "local x = by_a_name() return x");
    jsprof_lua_detach(lua);
    jsprof_thread_detach(me);
    lua_close(L);
    return failed;
}

int main(int argc, char **argv)
{
    jsprof_options options = { .size = sizeof options };
    jsprof *prof;
    if (argc < 2)
        return 2;
    options.path = argv[1];
    if (jsprof_open(&prof, &options) != 0)
        return 1;
    int failed = host_run(prof, argc > 2);
    jsprof_stop(prof);
    return jsprof_close(prof) != 0 || failed;
}
