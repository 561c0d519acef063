/* traces.c - see traces.h for the contract.
 *
 * LuaJIT calls one function for each kind of event: jit.attach replaces the one before. So
 * ours calls the one that it replaced, and jit.attach is replaced to put ours back in
 * front of any later one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "traces.h"

#include <errno.h>

#ifndef LUA_JITLIBNAME

int jsp_lua_traces_begin(lua_State *L)
{
    (void)L;
    return -ENOTSUP;
}

void jsp_lua_traces_end(lua_State *L)
{
    (void)L;
}

#else

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "attach.h"
#include "labels.h"
#include "run.h"

/* The registry keeps our handler at this address, and the key of it in the table of
 * handlers at the next one. */
static const char traces_key[2] = { 0 };

#define TRACES_HANDLERS "_VMEVENTS" /* the registry's table of handlers */

/* Upvalues of the handler. */
enum { TRACES_BEFORE = 1, TRACES_STATE, TRACES_START, TRACES_FUNCINFO, TRACES_FUNCBC, TRACES_DEFS,
       TRACES_N = TRACES_DEFS };

/* Arguments of an event. */
enum { TRACES_WHAT = 1, TRACES_FUNCTION = 3, TRACES_PC = 4, TRACES_ERROR = 5, TRACES_INFO = 6 };

enum { TRACES_LEVELS = 8, TRACES_REASON = 200, TRACES_NAME = 40,
       TRACES_PLACE = JSP_LUA_NAME + JSP_LUA_WHERE + 16 };

/* The trace that the compiler records now. */
struct traces_state {
    uint64_t since;
    lua_Integer pc;  /* of its first instruction */
    lua_Integer op;  /* of that; < 0: a side trace, or not known */
    char place[TRACES_PLACE];
};

static void traces_mark(struct module_run *run, uint64_t since, const char *name,
                        const char *message)
{
    jsp_lua_run_mark(run, since, "trace", name, message);
}

/* -- Places ----------------------------------------------------------------------- */

/* Push the table by which jit.util describes the function, or nil. */
static void traces_describe(lua_State *L, int function, lua_Integer pc)
{
    lua_pushvalue(L, lua_upvalueindex(TRACES_FUNCINFO));
    lua_pushvalue(L, function);
    lua_pushinteger(L, pc);
    lua_call(L, 2, 1);
}

static lua_Integer traces_field(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    lua_Integer value = lua_tointeger(L, -1);
    lua_pop(L, 1);
    return value;
}

/* LuaJIT of 2026 calls handlers in a coroutine of its own. Then only the main coroutine can be
 * searched, and nothing may be pushed there, because the compiler works on it. */
static const char *traces_called_in_main(lua_State *L, int function, lua_Debug *ar)
{
    struct module_run *run = jsp_lua_run_of(L);
    lua_State *main = run ? (lua_State *)run->lua->main : L;
    lua_Debug wanted;
    lua_pushvalue(L, function);
    lua_getinfo(L, ">S", &wanted);
    for (int level = 0; main != L && level < TRACES_LEVELS && lua_getstack(main, level, ar);
         level++) {
        lua_getinfo(main, "nS", ar);
        if (ar->name && ar->source == wanted.source && ar->linedefined == wanted.linedefined)
            return ar->name;
    }
    return "function";
}

/* Return the name by which the function was called, if it is on the stack. `ar` keeps it. */
static const char *traces_called(lua_State *L, int function, lua_Debug *ar)
{
    for (int level = 1; level < TRACES_LEVELS && lua_getstack(L, level, ar); level++) {
        lua_getinfo(L, "nf", ar);
        bool is_it = lua_rawequal(L, -1, function);
        lua_pop(L, 1);
        if (is_it && ar->name)
            return ar->name;
    }
    return traces_called_in_main(L, function, ar);
}

/* Write "name (file:line)" of an instruction. */
static void traces_place(lua_State *L, int function, lua_Integer pc, char out[TRACES_PLACE])
{
    char where[JSP_LUA_WHERE] = "?";
    lua_Debug ar;
    size_t n = 0;
    traces_describe(L, function, pc);
    bool is_lua = lua_istable(L, -1) && traces_field(L, "bytecodes") > 0;
    bool is_main = is_lua && traces_field(L, "linedefined") == 0;
    if (is_lua) {
        lua_Integer line = traces_field(L, "currentline");
        lua_getfield(L, -1, "source");
        const char *source = lua_tolstring(L, -1, &n);
        if (source)
            jsp_lua_where(&(struct jsp_lua_chunk){ source, n, n, line > 0 ? (uint64_t)line : 0 },
                          where);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    const char *name = is_main ? "main chunk" : traces_called(L, function, &ar);
    snprintf(out, TRACES_PLACE, "%.*s (%s)", JSP_LUA_NAME - 1, name, where);
}

/* Return the opcode of an instruction, which changes where the compiler gives up for ever.
 * -1: it can not be read. */
static lua_Integer traces_opcode(lua_State *L, int function, lua_Integer pc)
{
    lua_pushvalue(L, lua_upvalueindex(TRACES_FUNCBC));
    lua_pushvalue(L, function);
    lua_pushinteger(L, pc);
    lua_call(L, 2, 1);
    lua_Integer op = lua_isnumber(L, -1) ? (lua_Integer)((int64_t)lua_tonumber(L, -1) & 0xFF) : -1;
    lua_pop(L, 1);
    return op;
}

/* -- Reasons ---------------------------------------------------------------------- */

/* Push the entry of a table of jit.vmdef, or nil. */
static void traces_definition(lua_State *L, const char *table, lua_Integer i)
{
    lua_pushvalue(L, lua_upvalueindex(TRACES_DEFS));
    if (lua_istable(L, -1))
        lua_getfield(L, -1, table);
    else
        lua_pushnil(L);
    lua_remove(L, -2);
    if (lua_istable(L, -1))
        lua_rawgeti(L, -1, (int)i);
    else
        lua_pushnil(L);
    lua_remove(L, -2);
}

/* Push the name of bytecode operation i, without the spaces after it, or nil. */
static void traces_bytecode(lua_State *L, lua_Integer i)
{
    enum { WIDTH = 6 };
    size_t n;
    lua_pushvalue(L, lua_upvalueindex(TRACES_DEFS));
    if (lua_istable(L, -1))
        lua_getfield(L, -1, "bcnames");
    else
        lua_pushnil(L);
    lua_remove(L, -2);
    const char *names = lua_tolstring(L, -1, &n);
    if (!names || i < 0 || (size_t)(i + 1) * WIDTH > n) {
        lua_pop(L, 1);
        lua_pushnil(L);
        return;
    }
    const char *at = names + i * WIDTH;
    size_t len = 0;
    while (len < WIDTH && at[len] != ' ')
        len++;
    lua_pushlstring(L, at, len);
    lua_remove(L, -2);
}

/* Push the name of a function that the compiler can not compile. */
static void traces_function(lua_State *L, int function)
{
    Dl_info found = { 0 };
    traces_describe(L, function, 0);
    lua_Integer id = lua_istable(L, -1) ? traces_field(L, "ffid") : 0;
    lua_pop(L, 1);
    lua_CFunction c = lua_tocfunction(L, function);
    if (id > 0) {
        traces_definition(L, "ffnames", id);
    } else if (c && dladdr((const void *)(uintptr_t)c, &found) && found.dli_sname) {
        lua_pushstring(L, found.dli_sname);
    } else {
        lua_pushnil(L);
    }
}

/* Push the information that belongs to a reason, as a string, or nil. */
static void traces_information(lua_State *L, const char *reason)
{
    if (strncmp(reason, "NYI: bytecode", 13) == 0)
        traces_bytecode(L, lua_tointeger(L, TRACES_INFO));
    else if (lua_isfunction(L, TRACES_INFO))
        traces_function(L, TRACES_INFO);
    else
        lua_pushnil(L);
    if (!lua_isnil(L, -1) || lua_isfunction(L, TRACES_INFO))
        return;
    lua_pop(L, 1);
    lua_pushvalue(L, TRACES_INFO);
}

/* Write the reason of an abort: jit.vmdef's text, with its information in it. */
static void traces_reason(lua_State *L, char out[TRACES_REASON])
{
    int top = lua_gettop(L);
    lua_Integer number = lua_tointeger(L, TRACES_ERROR);
    if (lua_type(L, TRACES_ERROR) == LUA_TNUMBER)
        traces_definition(L, "traceerr", number);
    else
        lua_pushvalue(L, TRACES_ERROR);
    const char *text = lua_tostring(L, -1), *place = text ? strchr(text, '%') : NULL;
    if (!text) {
        snprintf(out, TRACES_REASON, "error %d", (int)number);
    } else if (!place) {
        snprintf(out, TRACES_REASON, "%s", text);
    } else {
        traces_information(L, text);
        const char *information = lua_tostring(L, -1);
        snprintf(out, TRACES_REASON, "%.*s%s%s", (int)(place - text), text,
                 information ? information : "?", place[1] ? place + 2 : "");
    }
    lua_settop(L, top);
}

/* -- Events ----------------------------------------------------------------------- */

static void traces_start(lua_State *L, struct traces_state *s)
{
    bool is_side = lua_type(L, TRACES_ERROR) == LUA_TNUMBER;
    s->since = jsprof_now();
    s->pc = lua_tointeger(L, TRACES_PC);
    s->op = is_side ? -1 : traces_opcode(L, TRACES_FUNCTION, s->pc);
    traces_place(L, TRACES_FUNCTION, s->pc, s->place);
    lua_pushvalue(L, TRACES_FUNCTION);
    lua_replace(L, lua_upvalueindex(TRACES_START));
}

static void traces_abort(lua_State *L, struct traces_state *s, struct module_run *run)
{
    char reason[TRACES_REASON], place[TRACES_PLACE];
    char message[TRACES_REASON + 2 * TRACES_PLACE + 32];
    traces_reason(L, reason);
    traces_place(L, TRACES_FUNCTION, lua_tointeger(L, TRACES_PC), place);
    bool is_long = strlen(reason) >= TRACES_NAME, is_elsewhere = strcmp(place, s->place) != 0;
    snprintf(message, sizeof message, "%s%s%s%s%s", is_long ? reason : "", is_long ? ": " : "",
             place, is_elsewhere ? ", from " : "", is_elsewhere ? s->place : "");
    traces_mark(run, s->since, reason, message);
    lua_pushvalue(L, lua_upvalueindex(TRACES_START));
    if (s->op >= 0 && traces_opcode(L, lua_gettop(L), s->pc) != s->op)
        traces_mark(run, 0, "now blacklisted", s->place);
    lua_pop(L, 1);
}

/* Make marks of an event: start, stop, abort or flush. */
static void traces_event_marks(lua_State *L, struct module_run *run, const char *what)
{
    struct traces_state *s = lua_touserdata(L, lua_upvalueindex(TRACES_STATE));
    bool has_place = lua_isfunction(L, TRACES_FUNCTION);
    if (has_place && strcmp(what, "start") == 0)
        traces_start(L, s);
    else if (strcmp(what, "flush") == 0)
        traces_mark(run, 0, "flushed", NULL);
    else if (has_place && s->since && strcmp(what, "abort") == 0)
        traces_abort(L, s, run);
    else if (s->since && strcmp(what, "stop") == 0)
        traces_mark(run, s->since, "compiled", s->place);
}

static int traces_event(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    int n = lua_gettop(L);
    if (run && lua_type(L, TRACES_WHAT) == LUA_TSTRING) {
        lua_settop(L, TRACES_INFO);
        traces_event_marks(L, run, lua_tostring(L, TRACES_WHAT));
    }
    lua_settop(L, n);
    if (!lua_isfunction(L, lua_upvalueindex(TRACES_BEFORE)))
        return 0;
    lua_pushvalue(L, lua_upvalueindex(TRACES_BEFORE));
    lua_insert(L, 1);
    lua_call(L, n, 0);
    return 0;
}

/* -- The handler's place ------------------------------------------------------------ */

static void traces_get(lua_State *L, int which)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&traces_key[which]);
    lua_rawget(L, LUA_REGISTRYINDEX);
}

/* Pop a value and keep it. */
static void traces_keep(lua_State *L, int which)
{
    lua_pushlightuserdata(L, (void *)(uintptr_t)&traces_key[which]);
    lua_insert(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
}

/* Push our handler, the table of handlers, and the one in our place. Return false, and push
 * nothing, if we have none. */
static bool traces_places(lua_State *L)
{
    traces_get(L, 0);
    lua_getfield(L, LUA_REGISTRYINDEX, TRACES_HANDLERS);
    traces_get(L, 1);
    if (!lua_isfunction(L, -3) || !lua_istable(L, -2) || lua_isnil(L, -1)) {
        lua_pop(L, 3);
        return false;
    }
    lua_rawget(L, -2);
    return true;
}

/* Put our handler back in front of one that the program attached. */
static void traces_again(lua_State *L)
{
    if (!traces_places(L))
        return;
    bool is_ours = lua_rawequal(L, -1, -3);
    if (!is_ours) {
        lua_setupvalue(L, -3, TRACES_BEFORE);
        traces_get(L, 1);
        lua_pushvalue(L, -3);
        lua_rawset(L, -3);
    }
    lua_pop(L, is_ours ? 3 : 2);
}

/* jit.attach(f): detach a handler; where ours has the place, the program's is in ours. */
static void traces_detach(lua_State *L)
{
    if (!traces_places(L))
        return;
    lua_getupvalue(L, -3, TRACES_BEFORE);
    bool is_it = lua_rawequal(L, -1, 1);
    lua_pop(L, 3);
    if (is_it) {
        lua_pushnil(L);
        lua_setupvalue(L, -2, TRACES_BEFORE);
    }
    lua_pop(L, 1);
}

/* jit.attach, as long as the state lives. */
static int traces_attach(lua_State *L)
{
    int n = lua_gettop(L);
    if (n && lua_isnoneornil(L, 2))
        traces_detach(L);
    lua_pushvalue(L, lua_upvalueindex(1));
    for (int i = 1; i <= n; i++)
        lua_pushvalue(L, i);
    lua_call(L, n, 0);
    traces_again(L);
    return 0;
}

/* -- Begin and end -------------------------------------------------------------------- */

/* Push what require returns for a module; nil: there is no such module. */
static void traces_module(lua_State *L, const char *name)
{
    lua_getglobal(L, "require");
    lua_pushstring(L, name);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_istable(L, -1))
        return;
    lua_pop(L, 1);
    lua_pushnil(L);
}

static void traces_push_handler(lua_State *L)
{
    lua_pushnil(L);
    memset(lua_newuserdata(L, sizeof(struct traces_state)), 0, sizeof(struct traces_state));
    lua_pushnil(L);
    traces_module(L, "jit.util");
    lua_getfield(L, -1, "funcinfo");
    lua_getfield(L, -2, "funcbc");
    lua_remove(L, -3);
    traces_module(L, "jit.vmdef");
    lua_pushcclosure(L, traces_event, TRACES_N);
}

/* Push a copy of the table of handlers, without attaching any. */
static void traces_push_copy(lua_State *L)
{
    lua_newtable(L);
    lua_getfield(L, LUA_REGISTRYINDEX, TRACES_HANDLERS);
    if (lua_istable(L, -1))
        for (lua_pushnil(L); lua_next(L, -2);) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -5);
        }
    lua_pop(L, 1);
}

/* Attach the handler at 1, and learn by that which key is that of its event. */
static void traces_learn(lua_State *L)
{
    traces_push_copy(L);
    traces_module(L, "jit");
    lua_getfield(L, -1, "attach");
    lua_pushvalue(L, 1);
    lua_pushliteral(L, "trace");
    lua_call(L, 2, 0);
    lua_getfield(L, LUA_REGISTRYINDEX, TRACES_HANDLERS);
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
        if (lua_rawequal(L, -1, 1)) {
            lua_pushvalue(L, -2);
            traces_keep(L, 1);
            lua_pushvalue(L, -2);
            lua_rawget(L, 2);
            lua_setupvalue(L, 1, TRACES_BEFORE);
        }
    lua_pop(L, 1);
    lua_pushvalue(L, 1);
    traces_keep(L, 0);
}

static int traces_begin(lua_State *L)
{
    lua_settop(L, 0);
    traces_push_handler(L);
    traces_learn(L);
    lua_settop(L, 1);
    traces_module(L, "jit");
    lua_getfield(L, -1, "attach");
    if (lua_tocfunction(L, -1) != traces_attach) {
        lua_pushcclosure(L, traces_attach, 1);
        lua_setfield(L, -2, "attach");
    }
    return 0;
}

static int traces_end(lua_State *L)
{
    if (!traces_places(L))
        return 0;
    if (lua_rawequal(L, -1, -3)) {
        traces_get(L, 1);
        lua_getupvalue(L, -4, TRACES_BEFORE);
        lua_rawset(L, -4);
    }
    for (int i = 0; i < 2; i++) {
        lua_pushnil(L);
        traces_keep(L, i);
    }
    return 0;
}

int jsp_lua_traces_begin(lua_State *L)
{
    return jsp_lua_protected(L, traces_begin, NULL);
}

void jsp_lua_traces_end(lua_State *L)
{
    jsp_lua_protected(L, traces_end, NULL);
}

#endif
