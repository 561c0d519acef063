/* wraps.c - see wraps.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "wraps.h"

#include "calls/calls.h"
#include "loop.h"
#include "module_names.h"
#include "run.h"
#include "tasks.h"

/* Call the replaced function, as a call of its own. */
static int wraps_call(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* Run the replaced function with the same arguments. It runs as part of this call, whose
 * begin and end the hooks see, unless it needs an upvalue: then it is called. */
static int wraps_pass(lua_State *L)
{
    lua_CFunction f = lua_tocfunction(L, lua_upvalueindex(1));
    if (!lua_getupvalue(L, lua_upvalueindex(1), 1))
        return f(L);
    lua_pop(L, 1);
    return wraps_call(L);
}

/* Pop the table on top, and replace its functions of these names by ours, which call
 * them. The list ends with NULL. */
static void wraps_replace(lua_State *L, const luaL_Reg *ours)
{
    for (int i = 0; ours[i].name && lua_istable(L, -1); i++) {
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

/* -- The program's own hooks ---------------------------------------------------- */

static struct jsp_lua_calls *wraps_counted(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    return run ? run->lua->calls : NULL;
}

static lua_State *wraps_of(lua_State *L)
{
    return lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
}

/* debug.sethook, while calls are counted: ours calls the program's new hook. */
static int wraps_sethook(lua_State *L)
{
    lua_State *of = wraps_of(L);
    int n = wraps_pass(L);
    struct jsp_lua_calls *calls = wraps_counted(L);
    if (calls)
        jsp_lua_calls_rehook(calls, of);
    return n;
}

/* debug.gethook, while calls are counted: the program sees its own hook. */
static int wraps_gethook(lua_State *L)
{
    lua_State *of = wraps_of(L);
    struct jsp_lua_calls *calls = wraps_counted(L);
    bool was_ours = calls && jsp_lua_calls_unhook(calls, of);
    int n = wraps_pass(L);
    if (was_ours)
        jsp_lua_calls_rehook(calls, of);
    return n;
}

void jsp_lua_wrap_hooks(lua_State *L)
{
    static const luaL_Reg ours[] = { { "sethook", wraps_sethook }, { "gethook", wraps_gethook },
                                     { NULL, NULL } };
    lua_getglobal(L, "debug");
    wraps_replace(L, ours);
}

/* -- Modules ------------------------------------------------------------------------ */

static bool wraps_is_loaded(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_pushvalue(L, 1);
    lua_rawget(L, -2);
    bool is_loaded = lua_toboolean(L, -1);
    lua_pop(L, 2);
    return is_loaded;
}

static int wraps_require(lua_State *L)
{
    struct module_run *run = jsp_lua_run_of(L);
    if (!run || lua_type(L, 1) != LUA_TSTRING || wraps_is_loaded(L))
        return wraps_call(L);
    lua_pushvalue(L, 1);
    lua_insert(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 2);
    lua_call(L, lua_gettop(L) - 2, LUA_MULTRET);
    run = jsp_lua_run_of(L); /* the module may have ended it */
    if (run) {
        jsp_lua_name_new_module(L, run->lua, lua_tostring(L, 1));
        jsp_lua_loop_look(run);
        jsp_lua_tasks_look(run);
    }
    return lua_gettop(L) - 1;
}

static int wraps_replace_require(lua_State *L)
{
    static const luaL_Reg ours[] = { { "require", wraps_require }, { NULL, NULL } };
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_getfield(L, -1, "_G");
    wraps_replace(L, ours);
    return 0;
}

/* Hide those of our functions that may be on the C stack between require's caller and
 * require. */
static int wraps_hide(jsprof *session, uintptr_t function)
{
    struct jsp_lua_bounds b;
    return jsp_lua_bounds_function(function, &b)
               ? jsprof_interpreter_hide(session, (const void *)b.start, b.end - b.start) : 0;
}

int jsp_lua_wrap_require(lua_State *L, struct jsprof_lua *lua)
{
    int err = jsp_lua_protected(L, wraps_replace_require, NULL);
    if (!err)
        err = wraps_hide(lua->session, (uintptr_t)wraps_require);
    if (!err)
        err = wraps_hide(lua->session, (uintptr_t)wraps_call);
    lua->walker->unshown = (uintptr_t)wraps_require;
    return err;
}

/* -- The other profiler ------------------------------------------------------------ */

#ifdef LUA_JITLIBNAME

/* Write the samples now, because without signals nothing else triggers it. */
static void wraps_write(lua_State *L)
{
    jsprof *prof = jsp_lua_run_hold(jsp_lua_run_of(L));
    if (!prof)
        return;
    jsprof_flush(prof);
    jsp_lua_run_let_go();
}

/* jit.profile.start and stop: check at once whose the signal is. */
static int wraps_profile(lua_State *L)
{
    int n = wraps_pass(L);
    struct module_run *run = jsp_lua_run_of(L);
    if (run)
        jsp_lua_memory_look_now(&run->memory);
    return n;
}

static int wraps_profile_start(lua_State *L)
{
    wraps_write(L);
    return wraps_profile(L);
}

static int wraps_profilers(lua_State *L)
{
    static const luaL_Reg ours[] = { { "start", wraps_profile_start },
                                     { "stop", wraps_profile }, { NULL, NULL } };
    lua_getglobal(L, "require");
    lua_pushliteral(L, "jit.profile");
    lua_call(L, 1, 1);
    wraps_replace(L, ours);
    return 0;
}

/* If there is no such module, do nothing. */
void jsp_lua_wrap_profilers(lua_State *L)
{
    jsp_lua_protected(L, wraps_profilers, NULL);
}

#else

void jsp_lua_wrap_profilers(lua_State *L)
{
    (void)L;
}

#endif
