/* module_functions.c - see module_functions.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "module_functions.h"

#include <errno.h>
#include <string.h>

#include "calls/calls.h"
#include "labels.h"
#include "run.h"

void jsp_lua_field(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* -- Calls --------------------------------------------------------------------- */

static void functions_seconds(lua_State *L, const char *name, uint64_t ns)
{
    lua_pushnumber(L, (lua_Number)ns / 1e9);
    lua_setfield(L, -2, name);
}

static void functions_push_row(lua_State *L, const jsprof_calls_row *row, uint32_t modes)
{
    lua_newtable(L);
    lua_pushlstring(L, row->name, row->name_len);
    lua_setfield(L, -2, "name");
    if (row->file) {
        lua_pushlstring(L, row->file, row->file_len);
        lua_setfield(L, -2, "file");
    }
    if (row->line)
        jsp_lua_field(L, "line", row->line);
    jsp_lua_field(L, "calls", row->calls);
    functions_seconds(L, "self", row->self_ns);
    functions_seconds(L, "total", row->total_ns);
    if (modes & JSPROF_CALLS_ALLOC) {
        jsp_lua_field(L, "self_bytes", row->self_bytes);
        jsp_lua_field(L, "total_bytes", row->total_bytes);
    }
}

/* Push the list of functions, and a table of the same entries by id. */
static void functions_push_rows(lua_State *L, const jsprof_calls *calls)
{
    int n = 0;
    lua_newtable(L);
    lua_newtable(L);
    for (size_t i = 0; i < calls->n_rows; i++) {
        const jsprof_calls_row *row = &calls->rows[i];
        if (!row->calls && !row->total_ns)
            continue;
        functions_push_row(L, row, calls->modes);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, (int)row->id);
        lua_rawseti(L, -3, ++n);
    }
}

/* Pop the list by id on top, and push the list of edges. */
static void functions_push_edges(lua_State *L, const jsprof_calls *calls)
{
    int by_id = lua_gettop(L), n = 0;
    lua_newtable(L);
    for (size_t i = 0; i < calls->n_edges; i++) {
        const jsprof_calls_edge *edge = &calls->edges[i];
        lua_newtable(L);
        lua_rawgeti(L, by_id, (int)edge->caller);
        lua_setfield(L, -2, "caller");
        lua_rawgeti(L, by_id, (int)edge->callee);
        lua_setfield(L, -2, "callee");
        jsp_lua_field(L, "calls", edge->calls);
        functions_seconds(L, "total", edge->total_ns);
        lua_rawseti(L, -2, ++n);
    }
    lua_insert(L, by_id);
    lua_pop(L, 1);
}

/* Runs protected, so that the snapshot is always freed. */
static int functions_push_calls(lua_State *L)
{
    const jsprof_calls *calls = lua_touserdata(L, 1);
    functions_push_rows(L, calls);
    functions_push_edges(L, calls);
    return 2;
}

/* calls(): returns a list of the functions that were called, and a list of callers with
 * their callees. */
int jsp_lua_module_calls(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    jsprof_calls calls = { .size = sizeof calls };
    if (!run || !run->lua->calls)
        return luaL_error(L, "jsprof.calls: calls are not counted (mode \"calls\" or \"both\")");
    jsp_lua_calls_check(run->lua->calls, L);
    jsprof *prof = jsp_lua_run_hold(run);
    int err = prof ? jsprof_calls_snapshot(prof, &calls) : -ENOENT;
    if (prof)
        jsp_lua_run_let_go();
    if (err)
        return luaL_error(L, "jsprof.calls: %s", jsprof_strerror(err));
    lua_pushcfunction(L, functions_push_calls);
    lua_pushlightuserdata(L, &calls);
    int status = lua_pcall(L, 1, 2, 0);
    jsprof_calls_free(&calls);
    return status == LUA_OK ? 2 : lua_error(L);
}

/* -- Marks and counters ----------------------------------------------------------- */

/* now(): returns the time in seconds, of the clock that marks use. */
int jsp_lua_module_now(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)jsprof_now() / 1e9);
    return 1;
}

/* Return a text for C, which a zero byte would end early. */
static const char *functions_clean(lua_State *L, int at, char *to, size_t room)
{
    size_t n;
    const char *text = luaL_checklstring(L, at, &n);
    size_t kept = n < room - 1 ? n : room - 1;
    for (size_t i = 0; i < kept; i++)
        to[i] = (char)(text[i] ? text[i] : '?');
    to[kept] = 0;
    return to;
}

/* mark(name [, message [, since]]): record that something happened, or lasted since
 * then. */
int jsp_lua_module_mark(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    char name[64], message[4096] = "";
    functions_clean(L, 1, name, sizeof name);
    if (!lua_isnoneornil(L, 2))
        functions_clean(L, 2, message, sizeof message);
    lua_Number since = luaL_optnumber(L, 3, 0);
    luaL_argcheck(L, since >= 0 && since < 9e9, 3, "not a time of jsprof.now()");
    jsprof *prof = jsp_lua_run_hold(run);
    if (prof) {
        jsprof_mark(prof, (uint64_t)(since * 1e9), "Lua", name, message);
        jsp_lua_run_let_go();
    }
    return 0;
}

/* label(key, value [, function, ...]): set a label; or call the function under it, and return what
 * that returns. A nil removes the label. */
int jsp_lua_module_label(lua_State *L)
{
    enum { ARGUMENTS = 2 };
    struct module_run *run = jsp_lua_run_of(L);
    jsprof_thread *t = run ? run->thread : NULL;
    char key[80], value[300] = "";
    functions_clean(L, 1, key, sizeof key);
    luaL_argcheck(L, *key, 1, "empty");
    bool has_value = !lua_isnoneornil(L, 2);
    if (has_value)
        functions_clean(L, 2, value, sizeof value);
    if (lua_isnoneornil(L, ARGUMENTS + 1)) {
        jsprof_label_set(t, key, has_value ? value : NULL);
        return 0;
    }
    luaL_checktype(L, ARGUMENTS + 1, LUA_TFUNCTION);
    uint32_t before = jsprof_label_push(t, key, has_value ? value : NULL);
    int status = lua_pcall(L, lua_gettop(L) - ARGUMENTS - 1, LUA_MULTRET, 0);
    jsprof_label_pop(t, before);
    return status == LUA_OK ? lua_gettop(L) - ARGUMENTS : lua_error(L);
}

/* counter(name, value): record a figure over time. */
int jsp_lua_module_counter(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    char name[64];
    functions_clean(L, 1, name, sizeof name);
    lua_Number value = luaL_checknumber(L, 2);
    jsprof *prof = jsp_lua_run_hold(run);
    if (!prof)
        return 0;
    int counter = jsprof_counter(prof, "Lua", name, NULL, JSPROF_COUNTER_REAL);
    if (counter > 0)
        jsprof_counter_set_real(prof, counter, value);
    jsp_lua_run_let_go();
    if (counter == -EEXIST || counter == -ENOSPC)
        return luaL_error(L, "jsprof.counter: '%s': %s", name,
                          counter == -EEXIST ? "jsprof has a counter of that name"
                                             : "too many counters");
    return 0;
}

/* Call f and return its results. It is no tail call, so this function stays on the
 * stack. */
static const char functions_wrapper[] = "local f = ...\n"
                                     "local function pass(...) return ... end\n"
                                     "return function(...) return pass(f(...)) end\n";

/* wrap(f, name): return a function that calls f and has a label. */
int jsp_lua_module_wrap(lua_State *L)
{
    char name[sizeof JSP_LUA_LABEL_CHUNK + JSP_LUA_WHERE];
    size_t n, at = sizeof JSP_LUA_LABEL_CHUNK - 1;
    luaL_checktype(L, 1, LUA_TFUNCTION);
    const char *label = luaL_checklstring(L, 2, &n);

    luaL_argcheck(L, n > 0, 2, "a label is not empty");
    memcpy(name, JSP_LUA_LABEL_CHUNK, at);
    for (size_t i = 0; i < n && at < sizeof name - 1; i++)
        name[at++] = (char)(label[i] ? label[i] : '?');
    name[at] = 0;
    if (luaL_loadbuffer(L, functions_wrapper, sizeof functions_wrapper - 1, name) != 0)
        return lua_error(L);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}
