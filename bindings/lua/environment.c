/* environment.c - see environment.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "environment.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char environment_folder[PATH_MAX]; /* where the process was when we were loaded */

static const char *environment_get(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

/* A preloaded program may go to another folder before it has a Lua. */
__attribute__((constructor)) static void environment_remember(void)
{
    int saved_errno = errno;
    if (environment_get("JSPROF") &&
        (!getcwd(environment_folder, sizeof environment_folder) || *environment_folder != '/'))
        environment_folder[0] = 0;
    errno = saved_errno;
}

bool jsp_lua_environment_asks(void)
{
    return environment_get("JSPROF") != NULL;
}

static void environment_output(lua_State *L)
{
    const char *path = environment_get("JSPROF");
    if (*path == '/' || !*environment_folder)
        lua_pushstring(L, path);
    else
        lua_pushfstring(L, "%s/%s", environment_folder, path);
    lua_setfield(L, -2, "output");
}

static void environment_hz(lua_State *L)
{
    const char *text = environment_get("JSPROF_HZ");
    char *end;
    if (!text)
        return;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || value < 1 || value > 10000)
        luaL_error(L, "jsprof: JSPROF_HZ=%s: a whole number from 1 to 10000 is allowed", text);
    lua_pushnumber(L, (lua_Number)value);
    lua_setfield(L, -2, "hz");
}

static void environment_clock(lua_State *L)
{
    const char *text = environment_get("JSPROF_CLOCK");
    if (!text)
        return;
    if (strcmp(text, "cpu") != 0 && strcmp(text, "wall") != 0)
        luaL_error(L, "jsprof: JSPROF_CLOCK=%s: cpu or wall is allowed", text);
    lua_pushstring(L, text);
    lua_setfield(L, -2, "clock");
}

static void environment_flag(lua_State *L, const char *variable, const char *option)
{
    const char *text = environment_get(variable);
    if (!text)
        return;
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        luaL_error(L, "jsprof: %s=%s: 0 or 1 is allowed", variable, text);
    lua_pushboolean(L, *text == '1');
    lua_setfield(L, -2, option);
}

void jsp_lua_environment_push(lua_State *L)
{
    lua_newtable(L);
    environment_output(L);
    environment_hz(L);
    environment_clock(L);
    environment_flag(L, "JSPROF_COMPACT", "compact");
    environment_flag(L, "JSPROF_CHILDREN", "children");
}
