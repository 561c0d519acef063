/* module_options.c - see module_options.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "module_options.h"

#include <stdio.h>
#include <string.h>

#include "../printed.h"
#include "compat.h"

static const char *options_text(lua_State *L, const char *field, const char *fallback)
{
    lua_getfield(L, 1, field);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return fallback;
    }
    if (lua_type(L, -1) != LUA_TSTRING)
        luaL_error(L, "jsprof.start: %s must be a string, not a %s", field,
                   luaL_typename(L, -1));
    const char *text = lua_tostring(L, -1);
    if (strlen(text) != compat_length(L, -1))
        luaL_error(L, "jsprof.start: %s holds a zero byte", field);
    lua_pop(L, 1); /* the table keeps the string alive */
    return text;
}

static void options_set(lua_State *L, jsprof_options *o, const char *field, const char *text)
{
    char why[300];
    int err = jsprof_options_set(o, field, text);
    if (err < 0)
        luaL_error(L, "jsprof.start: %s", jsprof_error_text(err, why, sizeof why));
}

static void options_as_text(lua_State *L, jsprof_options *o, const char *field)
{
    const char *text = options_text(L, field, NULL);
    if (text)
        options_set(L, o, field, text);
}

/* Drop the fraction of a number, as this function always did. */
static void options_number(lua_State *L, jsprof_options *o, const char *field)
{
    char text[32];
    lua_getfield(L, 1, field);
    lua_Number value = lua_tonumber(L, -1);
    if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TNUMBER)
        luaL_error(L, "jsprof.start: %s must be a number, not a %s", field,
                   luaL_typename(L, -1));
    if (value >= 1 && value <= UINT32_MAX)
        snprintf(text, sizeof text, "%u", (unsigned)value);
    else
        snprintf(text, sizeof text, "%.14g", (double)value);
    if (!lua_isnil(L, -1))
        options_set(L, o, field, text);
    lua_pop(L, 1);
}

static bool options_flag(lua_State *L, const char *field)
{
    lua_getfield(L, 1, field);
    bool value = lua_toboolean(L, -1);
    if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
        luaL_error(L, "jsprof.start: %s must be true or false, not a %s", field,
                   luaL_typename(L, -1));
    lua_pop(L, 1);
    return value;
}

/* The bytes from one sampled allocation to the next, or true. Return false if there are no
 * samples. */
static bool options_alloc(lua_State *L, jsprof_options *o)
{
    lua_getfield(L, 1, "alloc");
    bool is_number = lua_type(L, -1) == LUA_TNUMBER;
    if (!is_number && !lua_isboolean(L, -1) && !lua_isnil(L, -1))
        luaL_error(L, "jsprof.start: alloc must be true, false or a number, not a %s",
                   luaL_typename(L, -1));
    lua_pop(L, 1);
    if (is_number)
        options_number(L, o, "alloc");
    else
        o->alloc = options_flag(L, "alloc");
    return o->alloc;
}

static const struct {
    const char *word;
    uint32_t modes;
} options_modes[] = {
    { "count", JSPROF_CALLS_COUNT }, { "time", JSPROF_CALLS_TIME },
    { "alloc", JSPROF_CALLS_ALLOC }, { "edges", JSPROF_CALLS_EDGES },
    { "all", JSPROF_CALLS_ALL },
};

uint32_t jsp_lua_options_modes(const char *text)
{
    uint32_t sum = 0, one = 1;
    while (text && one) {
        size_t n = strcspn(text, ",");
        one = 0;
        for (size_t i = 0; i < sizeof options_modes / sizeof *options_modes; i++)
            if (strlen(options_modes[i].word) == n &&
                strncmp(options_modes[i].word, text, n) == 0)
                one = options_modes[i].modes;
        sum |= one;
        text = text[n] ? text + n + 1 : NULL;
    }
    return one ? sum : 0;
}

/* Exact calls, in addition to samples unless the mode is "calls". */
static void options_calls(lua_State *L, struct jsp_lua_options *o)
{
    const char *calls = options_text(L, "calls", NULL);
    o->modes = calls ? jsp_lua_options_modes(calls)
                     : JSPROF_CALLS_ALL & ~(o->alloc ? 0u : (uint32_t)JSPROF_CALLS_ALLOC);
    if (!o->modes)
        luaL_error(L, "jsprof.start: calls is \"%s\": " JSP_LUA_MODES_ALLOWED, calls);
    if (calls && strcmp(o->mode, "sample") == 0)
        o->mode = "both";
}

/* Whether the session has threads of its own. The looker is one, which events need on the wall
 * clock. */
static void options_thread(lua_State *L, jsprof_options *o)
{
    options_as_text(L, o, "source");
    bool has_looker = o->flags & JSPROF_LOOKER ||
                      (o->flags & JSPROF_PERF && o->clock == JSPROF_CLOCK_WALL);
    if (options_flag(L, "thread") || has_looker)
        o->flags &= ~(uint32_t)JSPROF_NO_THREAD;
}

/* Stalls are of tasks. */
static void options_tasks(lua_State *L, struct jsp_lua_options *o)
{
    const char *stalls = options_text(L, "stalls", NULL);
    if (stalls)
        options_set(L, &o->open, "stalls", stalls);
    o->tasks = options_flag(L, "tasks") || stalls;
}

static const char *options_output(lua_State *L)
{
    const char *path = options_text(L, "output", NULL);
    if (path && jsp_is_printed(path))
        luaL_error(L, "jsprof.start: output=%s: " JSP_LUA_PRINTED, path);
    return path;
}

/* What is recorded as long as the program runs, and how much of it is kept. */
static void options_continuous(lua_State *L, struct jsp_lua_options *o)
{
    options_as_text(L, &o->open, "continuous");
    options_as_text(L, &o->open, "segment");
    options_as_text(L, &o->open, "keep");
    options_number(L, &o->open, "keep_mib");
    if (o->open.continuous && strcmp(o->mode, "sample") != 0)
        luaL_error(L, "jsprof.start: continuous needs mode \"sample\"");
}

static bool options_known(const char *name)
{
    static const char *const known[] = { "output", "hz", "clock", "mode", "max_depth",
                                         "alloc", "compact", "children", "traces", "loop",
                                         "calls", "thread", "source", "control", "tasks",
                                         "stalls", "continuous", "segment", "keep",
                                         "keep_mib" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

static void options_check_names(lua_State *L)
{
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING)
            luaL_error(L, "jsprof.start: options have names, this one is a %s",
                       luaL_typename(L, -2));
        if (!options_known(lua_tostring(L, -2)))
            luaL_error(L, "jsprof.start: no option '%s', only output, hz, clock, mode, "
                          "max_depth, alloc, compact, children, traces, loop, calls, thread, "
                          "source, control, tasks, stalls, continuous, segment, keep, "
                          "keep_mib", lua_tostring(L, -2));
    }
}

void jsp_lua_options_read(lua_State *L, struct jsp_lua_options *o)
{
    o->open = (jsprof_options){ .size = sizeof o->open, .flags = JSPROF_NO_THREAD };
    o->mode = "sample";
    o->modes = JSPROF_CALLS_ALL & ~(uint32_t)JSPROF_CALLS_ALLOC;
    if (lua_isnoneornil(L, 1))
        return;
    luaL_checktype(L, 1, LUA_TTABLE);
    options_check_names(L);
    o->open.path = options_output(L);
    options_number(L, &o->open, "hz");
    options_number(L, &o->open, "max_depth");
    options_as_text(L, &o->open, "clock");
    o->mode = options_text(L, "mode", "sample");
    if (strcmp(o->mode, "sample") != 0 && strcmp(o->mode, "calls") != 0 &&
        strcmp(o->mode, "both") != 0)
        luaL_error(L, "jsprof.start: mode is \"sample\", \"calls\" or \"both\", not \"%s\"",
                   o->mode);
    o->alloc = options_alloc(L, &o->open);
    options_calls(L, o);
    options_thread(L, &o->open);
    if (strcmp(o->mode, "calls") == 0)
        o->open.alloc = 0; /* counted, not sampled */
    o->open.flags |= options_flag(L, "compact") ? JSPROF_COMPACT : 0u;
    o->open.flags |= options_flag(L, "children") ? JSPROF_CHILDREN : 0u;
    o->open.flags |= options_flag(L, "control") ? JSPROF_CONTROL : 0u;
    options_continuous(L, o);
    o->loop = options_flag(L, "loop");
    options_tasks(L, o);
    if ((o->loop || o->tasks) && strcmp(o->mode, "sample") != 0)
        luaL_error(L, "jsprof.start: %s needs mode \"sample\"", o->loop ? "loop" : "tasks");
    o->traces = options_flag(L, "traces");
    if (o->traces && strcmp(o->mode, "sample") != 0)
        luaL_error(L, "jsprof.start: traces needs mode \"sample\": nothing is compiled while "
                      "calls are counted");
#ifndef LUA_JITLIBNAME
    if (o->traces)
        luaL_error(L, "jsprof.start: traces: only LuaJIT compiles");
#endif
}
