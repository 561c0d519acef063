/* collector_host.c - a C function that makes garbage, called by Lua: the collector works for it.
 *
 *     collector_host CAPTURE
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "compat.h"
#include "jsprof-lua.h"

static const char host_script[] = "local function calls()\n"
                                  "  local start = os.clock()\n"
                                  "  repeat make() until os.clock() - start > 0.3\n"
                                  "end\n"
                                  "calls()\n";

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
    jsprof_options options = { .size = sizeof options, .path = argc > 1 ? argv[1] : NULL,
                               .clock = JSPROF_CLOCK_WALL };
    jsprof_thread *me;
    jsprof_lua *lua;
    jsprof *prof;
    lua_State *L = luaL_newstate();
    if (argc < 2 || !L)
        return 2;
    luaL_openlibs(L);
    lua_pushcfunction(L, host_make);
    lua_setglobal(L, "make");
    if (jsprof_open(&prof, &options) || jsprof_start(prof) ||
        jsprof_thread_attach(prof, "main", &me) || jsprof_lua_attach(prof, me, L, &lua))
        return 1;
    int failed = luaL_loadbuffer(L, host_script, sizeof host_script - 1, "=script") ||
                 lua_pcall(L, 0, 0, 0);
    if (failed)
        fprintf(stderr, "collector_host: %s\n", lua_tostring(L, -1));
    jsprof_lua_detach(lua);
    jsprof_thread_detach(me);
    lua_close(L);
    return failed || jsprof_close(prof) != 0;
}
