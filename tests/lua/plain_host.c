/* plain_host.c - a program that embeds Lua and knows nothing of jsprof. It goes to another
 * folder first, as servers do. -DONE_BY_ONE: it opens the standard libraries one by one, as texlua
 * does.
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

#ifndef ONE_BY_ONE
#define open_libraries luaL_openlibs
#else
static void open_libraries(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        { "", luaopen_base }, { "package", luaopen_package }, { "string", luaopen_string },
        { "table", luaopen_table }, { "math", luaopen_math }, { "io", luaopen_io },
        { "os", luaopen_os },
    };
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        const char *name = libraries[i].name;
#if LUA_VERSION_NUM == 501
        lua_pushcfunction(L, libraries[i].func);
        lua_pushstring(L, name);
        lua_call(L, 1, 0);
#else
        luaL_requiref(L, *name ? name : "_G", libraries[i].func, 1);
        lua_pop(L, 1);
#endif
    }
}
#endif

int main(int argc, char **argv)
{
    if (argc != 2 || chdir("/") != 0)
        return 2;
    lua_State *L = luaL_newstate();
    if (!L)
        return 1;
    open_libraries(L);
    int failed = luaL_dofile(L, argv[1]);
    if (failed)
        fprintf(stderr, "plain_host: %s\n", lua_tostring(L, -1));
    lua_close(L);
    return failed != 0;
}
