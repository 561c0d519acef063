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

#include "../printed.h"
#include "jsprof.h"
#include "module_options.h"

static char environment_folder[PATH_MAX]; /* its value when the module was loaded */

static const char *environment_get(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

/* A preloaded program may change its folder before it makes a Lua state. */
__attribute__((constructor)) static void environment_remember(void)
{
    int saved_errno = errno;
    if ((environment_get("JSPROF") || environment_get("JSPROF_CONTINUOUS")) &&
        (!getcwd(environment_folder, sizeof environment_folder) || *environment_folder != '/'))
        environment_folder[0] = 0;
    errno = saved_errno;
}

bool jsp_lua_environment_asks(void)
{
    const char *control = environment_get("JSPROF_CONTROL");
    return environment_get("JSPROF") || environment_get("JSPROF_CONTINUOUS") ||
           (control && strcmp(control, "0") != 0);
}

int jsp_lua_environment_flag(const char *name)
{
    const char *value = environment_get(name);
    bool is_known = !value || strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
    return is_known ? value && *value == '1' : -1;
}

/* Set the option of this variable, if the variable exists. */
static const char *environment_set(lua_State *L, jsprof_options *o, const char *variable)
{
    char why[300];
    const char *text = environment_get(variable);
    int err = text ? jsprof_options_set(o, variable, text) : 0;
    if (err < 0)
        luaL_error(L, "jsprof: %s", jsprof_error_text(err, why, sizeof why));
    return text;
}

static void environment_flag(lua_State *L, bool is, const char *option)
{
    lua_pushboolean(L, is);
    lua_setfield(L, -2, option);
}

static bool environment_checked(lua_State *L, const char *name)
{
    int is = jsp_lua_environment_flag(name);
    if (is < 0)
        luaL_error(L, "jsprof: %s=%s: 0 or 1 is allowed", name, getenv(name));
    return is;
}

static void environment_text(lua_State *L, const char *text, const char *option)
{
    if (!text)
        return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, option);
}

/* A relative path belongs to the folder at the start. */
static void environment_path(lua_State *L, const char *variable, const char *option)
{
    const char *path = environment_get(variable);
    if (!path || *path == '/' || !*environment_folder)
        lua_pushstring(L, path); /* nil for NULL */
    else
        lua_pushfstring(L, "%s/%s", environment_folder, path);
    lua_setfield(L, -2, option);
}

static void environment_number(lua_State *L, uint32_t value, const char *option)
{
    if (!value)
        return;
    lua_pushnumber(L, (lua_Number)value);
    lua_setfield(L, -2, option);
}

const char *jsp_lua_environment_calls(void)
{
    const char *text = environment_get("JSPROF_CALLS");
    return text && !jsp_lua_options_modes(text) ? "" : text;
}

/* The same rule as for an option: what the program prints to is no capture. */
static void environment_output(lua_State *L)
{
    const char *path = environment_get("JSPROF");
    environment_path(L, "JSPROF", "output");
    lua_getfield(L, -1, "output");
    if (path && (strcmp(path, "-") == 0 || jsp_is_printed(lua_tostring(L, -1))))
        luaL_error(L, "jsprof: JSPROF=%s: " JSP_LUA_PRINTED, path);
    lua_pop(L, 1);
}

void jsp_lua_environment_push(lua_State *L)
{
    jsprof_options o = { .size = sizeof o };
    const char *calls = jsp_lua_environment_calls();
    if (calls && !*calls)
        luaL_error(L, "jsprof: JSPROF_CALLS=%s: " JSP_LUA_MODES_ALLOWED, getenv("JSPROF_CALLS"));
    const char *source = environment_set(L, &o, "JSPROF_SOURCE");
    const char *alone = environment_set(L, &o, "JSPROF_NO_THREAD");
    environment_set(L, &o, "JSPROF_DEPTH");
    const char *clock = environment_set(L, &o, "JSPROF_CLOCK");
    environment_set(L, &o, "JSPROF_HZ");
    environment_set(L, &o, "JSPROF_ALLOC");
    environment_set(L, &o, "JSPROF_COMPACT");
    environment_set(L, &o, "JSPROF_CHILDREN");
    environment_set(L, &o, "JSPROF_CONTROL");
    bool traces = environment_checked(L, "JSPROF_TRACES");
    bool loop = environment_checked(L, "JSPROF_LOOP");
    bool tasks = environment_checked(L, "JSPROF_TASKS");
    const char *stalls = environment_set(L, &o, "JSPROF_STALLS");
    const char *segment = environment_set(L, &o, "JSPROF_SEGMENT");
    const char *keep = environment_set(L, &o, "JSPROF_KEEP");
    environment_set(L, &o, "JSPROF_KEEP_MIB");
    lua_newtable(L);
    environment_output(L);
    environment_path(L, "JSPROF_CONTINUOUS", "continuous");
    environment_text(L, segment, "segment");
    environment_text(L, keep, "keep");
    environment_number(L, o.keep_mib, "keep_mib");
    environment_number(L, o.hz, "hz");
    environment_number(L, o.alloc, "alloc");
    environment_number(L, o.max_depth, "max_depth");
    environment_text(L, clock, "clock");
    environment_text(L, source, "source");
    environment_text(L, calls, "calls");
    environment_flag(L, alone && !(o.flags & JSPROF_NO_THREAD), "thread");
    environment_flag(L, o.flags & JSPROF_COMPACT, "compact");
    environment_flag(L, o.flags & JSPROF_CHILDREN, "children");
    environment_flag(L, o.flags & JSPROF_CONTROL, "control");
    environment_flag(L, traces, "traces");
    environment_flag(L, loop, "loop");
    environment_flag(L, tasks, "tasks");
    environment_text(L, stalls, "stalls");
}
