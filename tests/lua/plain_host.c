/* plain_host.c - a program that embeds Lua and knows nothing of jsprof. It goes to another
 * folder first, as servers do.
 *
 *     plain_host SCRIPT
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

int main(int argc, char **argv)
{
    if (argc != 2 || chdir("/") != 0)
        return 2;
    lua_State *L = luaL_newstate();
    if (!L)
        return 1;
    luaL_openlibs(L);
    int failed = luaL_dofile(L, argv[1]);
    if (failed)
        fprintf(stderr, "plain_host: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return failed != 0;
}
