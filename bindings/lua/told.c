/* told.c - see told.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "told.h"

#include <errno.h>
#include <string.h>

#include "calls.h"
#include "labels.h"
#include "run.h"

void jsp_lua_field(lua_State *L, const char *name, uint64_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

/* -- Calls --------------------------------------------------------------------- */

static void told_seconds(lua_State *L, const char *name, uint64_t ns)
{
    lua_pushnumber(L, (lua_Number)ns / 1e9);
    lua_setfield(L, -2, name);
}

static void told_push_row(lua_State *L, const jsprof_calls_row *row, uint32_t modes)
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
    told_seconds(L, "self", row->self_ns);
    told_seconds(L, "total", row->total_ns);
    if (modes & JSPROF_CALLS_ALLOC) {
        jsp_lua_field(L, "self_bytes", row->self_bytes);
        jsp_lua_field(L, "total_bytes", row->total_bytes);
    }
}

/* The list of functions, and on top of it the same by id. */
static void told_push_rows(lua_State *L, const jsprof_calls *calls)
{
    int n = 0;
    lua_newtable(L);
    lua_newtable(L);
    for (size_t i = 0; i < calls->n_rows; i++) {
        const jsprof_calls_row *row = &calls->rows[i];
        if (!row->calls && !row->total_ns)
            continue;
        told_push_row(L, row, calls->modes);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, (int)row->id);
        lua_rawseti(L, -3, ++n);
    }
}

/* From the list by id on top, which goes, to the list of edges. */
static void told_push_edges(lua_State *L, const jsprof_calls *calls)
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
        told_seconds(L, "total", edge->total_ns);
        lua_rawseti(L, -2, ++n);
    }
    lua_insert(L, by_id);
    lua_pop(L, 1);
}

/* Protected, so that the snapshot is given back whatever happens. */
static int told_push_calls(lua_State *L)
{
    const jsprof_calls *calls = lua_touserdata(L, 1);
    told_push_rows(L, calls);
    told_push_edges(L, calls);
    return 2;
}

/* calls(): a list of the functions that were called, and one of who called whom. */
int jsp_lua_told_calls(lua_State *L)
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
    lua_pushcfunction(L, told_push_calls);
    lua_pushlightuserdata(L, &calls);
    int status = lua_pcall(L, 1, 2, 0);
    jsprof_calls_free(&calls);
    return status == LUA_OK ? 2 : lua_error(L);
}

/* The function that was there, on the arguments that we were given. As a part of this call,
 * of which hooks see the beginning and the end, not as one more, unless it needs more than
 * its arguments. */
static int told_pass(lua_State *L)
{
    lua_CFunction f = lua_tocfunction(L, lua_upvalueindex(1));
    if (!lua_getupvalue(L, lua_upvalueindex(1), 1))
        return f(L);
    lua_pop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

static struct jsp_lua_calls *told_counted(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    return run ? run->lua->calls : NULL;
}

static lua_State *told_of(lua_State *L)
{
    return lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
}

/* debug.sethook of a program whose calls are counted: ours goes in front of it. */
static int told_sethook(lua_State *L)
{
    lua_State *of = told_of(L);
    int n = told_pass(L);
    struct jsp_lua_calls *calls = told_counted(L);
    if (calls)
        jsp_lua_calls_rehook(calls, of);
    return n;
}

/* And debug.gethook: it sees its own. */
static int told_gethook(lua_State *L)
{
    lua_State *of = told_of(L);
    struct jsp_lua_calls *calls = told_counted(L);
    bool was_ours = calls && jsp_lua_calls_unhook(calls, of);
    int n = told_pass(L);
    if (was_ours)
        jsp_lua_calls_rehook(calls, of);
    return n;
}

/* Of the table on top, which goes, these two become ours, around what they were. */
static void told_replace(lua_State *L, const luaL_Reg ours[2])
{
    for (int i = 0; i < 2 && lua_istable(L, -1); i++) {
        lua_getfield(L, -1, ours[i].name);
        if (!lua_iscfunction(L, -1) || lua_tocfunction(L, -1) == ours[i].func) {
            lua_pop(L, 1);
            continue;
        }
        lua_pushcclosure(L, ours[i].func, 1);
        lua_setfield(L, -2, ours[i].name);
    }
    lua_pop(L, 1);
}

void jsp_lua_told_hooks(lua_State *L)
{
    static const luaL_Reg ours[] = { { "sethook", told_sethook }, { "gethook", told_gethook } };
    lua_getglobal(L, "debug");
    told_replace(L, ours);
}

/* -- The other profiler ------------------------------------------------------------ */

#ifdef LUA_JITLIBNAME

/* What was sampled is written now: without signals nobody would. */
static void told_write(lua_State *L)
{
    jsprof *prof = jsp_lua_run_hold(jsp_lua_run_of(L));
    if (!prof)
        return;
    jsprof_flush(prof);
    jsp_lua_run_let_go();
}

/* jit.profile.start and stop: whose is the signal now? */
static int told_profile(lua_State *L)
{
    int n = told_pass(L);
    struct module_run *run = jsp_lua_run_of(L);
    if (run)
        jsp_lua_memory_look_now(&run->memory);
    return n;
}

static int told_profile_start(lua_State *L)
{
    told_write(L);
    return told_profile(L);
}

static int told_wrap_profilers(lua_State *L)
{
    static const luaL_Reg ours[] = { { "start", told_profile_start },
                                     { "stop", told_profile } };
    lua_getglobal(L, "require");
    lua_pushliteral(L, "jit.profile");
    lua_call(L, 1, 1);
    told_replace(L, ours);
    return 0;
}

/* Where there is no such module, nothing is to be wrapped. */
void jsp_lua_told_profilers(lua_State *L)
{
    jsp_lua_protected(L, told_wrap_profilers, NULL);
}

#else

void jsp_lua_told_profilers(lua_State *L)
{
    (void)L;
}

#endif

/* -- Marks and counters ----------------------------------------------------------- */

/* now(): the clock that marks stand on, in seconds. */
int jsp_lua_told_now(lua_State *L)
{
    lua_pushnumber(L, (lua_Number)jsprof_now() / 1e9);
    return 1;
}

/* A text for C: zeros would end it. */
static const char *told_clean(lua_State *L, int at, char *to, size_t room)
{
    size_t n;
    const char *text = luaL_checklstring(L, at, &n);
    size_t kept = n < room - 1 ? n : room - 1;
    for (size_t i = 0; i < kept; i++)
        to[i] = (char)(text[i] ? text[i] : '?');
    to[kept] = 0;
    return to;
}

/* mark(name [, message [, since]]): something happened, or went on since then. */
int jsp_lua_told_mark(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    char name[64], message[4096] = "";
    told_clean(L, 1, name, sizeof name);
    if (!lua_isnoneornil(L, 2))
        told_clean(L, 2, message, sizeof message);
    lua_Number since = luaL_optnumber(L, 3, 0);
    luaL_argcheck(L, since >= 0 && since < 9e9, 3, "not a time of jsprof.now()");
    jsprof *prof = jsp_lua_run_hold(run);
    if (prof) {
        jsprof_mark(prof, (uint64_t)(since * 1e9), "Lua", name, message);
        jsp_lua_run_let_go();
    }
    return 0;
}

/* counter(name, value): a figure over time. */
int jsp_lua_told_counter(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    char name[64];
    told_clean(L, 1, name, sizeof name);
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

/* Calls f and hands its results on, by no tail call: it stays on the stack. */
static const char told_wrapper[] = "local f = ...\n"
                                     "local function pass(...) return ... end\n"
                                     "return function(...) return pass(f(...)) end\n";

/* wrap(f, name): a function that does what f does, under a label. */
int jsp_lua_told_wrap(lua_State *L)
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
    if (luaL_loadbuffer(L, told_wrapper, sizeof told_wrapper - 1, name) != 0)
        return lua_error(L);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}
