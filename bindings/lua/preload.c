/* preload.c - the module as a preloaded library: LD_PRELOAD=.../lua/5.4/jsprof.so with
 * JSPROF=FILE records a program that embeds a shared liblua, without a line of code in it.
 *
 * Every host opens the standard libraries in a state that it makes. That call comes here first:
 * afterwards the state requires the module, which does what JSPROF asks. Other processes that
 * inherit the variable have no Lua: of its functions all are weak (build.mk).
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "environment.h"
#include "module.h"
#include "probe.h"

/* Protected: as if the program did it. */
static int preload_require(lua_State *L)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    lua_pushcfunction(L, luaopen_jsprof);
    lua_setfield(L, -2, "jsprof");
    lua_getglobal(L, "require");
    lua_pushstring(L, "jsprof");
    lua_call(L, 1, 0);
    return 0;
}

/* There is nobody else to say it to. */
static void preload_state(lua_State *L)
{
    struct jsp_lua_found found = { "", -1 };
    if (!jsp_lua_environment_asks())
        return;
    if (jsp_lua_probe_version(&found) != JSP_LUA_OURS) {
        fprintf(stderr, "jsprof: nothing is recorded: the preloaded module is one of Lua %s, and "
                        "the program has Lua %s\n", jsp_lua_walk_version(), found.name);
        return;
    }
    lua_pushcfunction(L, preload_require);
    if (lua_pcall(L, 0, 0, 0) == LUA_OK)
        return;
    const char *message = lua_tostring(L, -1);
    fprintf(stderr, "jsprof: nothing is recorded: %s\n", message ? message : "an error");
    lua_pop(L, 1);
}

/* Until 5.4 and since 5.5: a Lua of another version is to be met as well. */
#undef luaL_openlibs
JSPROF_API void luaL_openlibs(lua_State *L);
JSPROF_API void luaL_openselectedlibs(lua_State *L, int load, int preload);

void luaL_openlibs(lua_State *L)
{
    void (*open)(lua_State *);
    void *next = dlsym(RTLD_NEXT, "luaL_openlibs");
    memcpy(&open, &next, sizeof open);
    if (!open)
        return;
    open(L);
    preload_state(L);
}

void luaL_openselectedlibs(lua_State *L, int load, int preload)
{
    void (*open)(lua_State *, int, int);
    void *next = dlsym(RTLD_NEXT, "luaL_openselectedlibs");
    memcpy(&open, &next, sizeof open);
    if (!open)
        return;
    open(L, load, preload);
    preload_state(L);
}
