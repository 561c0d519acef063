/* fork_host.c - a program that embeds Lua and gives it fork(), as luaposix does. It knows nothing
 * of jsprof.
 *
 *     fork_host SCRIPT
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static int host_fork(lua_State *L)
{
    lua_pushinteger(L, fork());
    return 1;
}

int main(int argc, char **argv)
{
    lua_State *L = argc == 2 ? luaL_newstate() : NULL;
    if (!L)
        return 1;
    luaL_openlibs(L);
    lua_register(L, "fork", host_fork);
    int failed = luaL_dofile(L, argv[1]);
    if (failed)
        fprintf(stderr, "fork_host: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return failed != 0;
}
