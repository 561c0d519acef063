/* task_wraps.c - replacements for coroutine.create, resume and wrap, for the tasks of a recording;
 * see tasks.h.
 *
 * They take the functions' places in the table, once a state, and do the same by calling them as
 * C functions in their own frame, so that messages and stacks stay as they are. A function that
 * the program kept from before the recording makes no task, and its resumes are no runs.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tasks.h"

/* The part of coroutine.resume in C. LuaJIT's is no C function, so this does the same. */
#ifdef LUA_JITLIBNAME

static int wraps_refused(lua_State *L, const char *why)
{
    lua_pushboolean(L, 0);
    lua_pushstring(L, why);
    return 2;
}

static int wraps_resume(lua_State *L)
{
    lua_Debug ar;
    lua_State *co = lua_tothread(L, 1);
    luaL_argcheck(L, co, 1, "coroutine expected");
    int n = lua_gettop(L) - 1, status = lua_status(co);
    if (co == L || (status == LUA_OK && lua_getstack(co, 0, &ar)))
        return wraps_refused(L, "cannot resume running coroutine");
    if (status > LUA_YIELD || (status == LUA_OK && lua_gettop(co) == 0))
        return wraps_refused(L, "cannot resume dead coroutine");
    if (!lua_checkstack(co, n))
        return luaL_error(L, "stack overflow");
    lua_xmove(L, co, n);
    status = lua_resume(co, n);
    bool is_good = status == LUA_OK || status == LUA_YIELD;
    n = is_good ? lua_gettop(co) : 1;
    luaL_checkstack(L, n + 1, NULL);
    lua_pushboolean(L, is_good);
    lua_xmove(co, L, n);
    return n + 1;
}

static lua_CFunction wraps_resumes(lua_State *L, int upvalue)
{
    (void)L;
    (void)upvalue;
    return wraps_resume;
}

#else

static lua_CFunction wraps_resumes(lua_State *L, int upvalue)
{
    return lua_tocfunction(L, lua_upvalueindex(upvalue));
}

#endif

/* Upvalue 1: theirs. */
static int wraps_task_create(lua_State *L)
{
    int n = lua_tocfunction(L, lua_upvalueindex(1))(L);
    jsp_lua_task_coroutine(L, 1);
    return n;
}

/* Upvalue 1: theirs. */
static int wraps_task_resume(lua_State *L)
{
    struct jsp_lua_task_run r = { 0 };
    lua_State *co = lua_tothread(L, 1);
    if (co)
        jsp_lua_task_resume(&r, co, 0, NULL);
    int n = wraps_resumes(L, 1)(L);
    jsp_lua_task_end(&r, co);
    return n;
}

/* Raise the error that a coroutine ended with, which is on top, as coroutine.wrap does. */
static int wraps_raise(lua_State *L, lua_State *co)
{
    int status = lua_status(co);
#if LUA_VERSION_NUM >= 504
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_pop(L, 1);
        status = compat_closethread(co, L);
        lua_xmove(co, L, 1); /* closing its variables may have changed it */
    }
#endif
    bool is_text = LUA_VERSION_NUM < 503 ? lua_isstring(L, -1) : lua_type(L, -1) == LUA_TSTRING;
    if (status != LUA_ERRMEM && is_text) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

/* What wrap returns. Upvalue 1: the coroutine, 2: their coroutine.resume. */
static int wraps_task_wrapped(lua_State *L)
{
    struct jsp_lua_task_run r;
    lua_State *co = lua_tothread(L, lua_upvalueindex(1));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    jsp_lua_task_resume(&r, co, 0, NULL);
    int n = wraps_resumes(L, 2)(L);
    jsp_lua_task_end(&r, co);
    return lua_toboolean(L, -n) ? n - 1 : wraps_raise(L, co);
}

/* Upvalue 1: their coroutine.create, 2: their coroutine.resume. */
static int wraps_task_wrap(lua_State *L)
{
    wraps_task_create(L);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushcclosure(L, wraps_task_wrapped, 2);
    return 1;
}

/* Runs protected. The table's functions become ours; frames show them under the same names. */
static int wraps_replace_coroutine(lua_State *L)
{
    struct jsprof_lua *lua = lua_touserdata(L, 1);
    const struct {
        const char *name, *shown;
        lua_CFunction ours;
    } all[] = { { "create", "coroutine.create", wraps_task_create },
                { "resume", "coroutine.resume", wraps_task_resume },
                { "wrap", "coroutine.wrap", wraps_task_wrap },
                { NULL, "coroutine.wrap resume", wraps_task_wrapped } };
    lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
    lua_getfield(L, -1, "coroutine");
    if (!lua_istable(L, -1))
        return 0;
    lua_getfield(L, -1, "create");
    lua_getfield(L, -2, "resume");
    if (!lua_iscfunction(L, -1) || !lua_tocfunction(L, -2) ||
        lua_tocfunction(L, -1) == wraps_task_resume)
        return 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        lua_pushvalue(L, i == 1 ? -1 : -2);
        lua_pushvalue(L, -2);
        lua_pushcclosure(L, all[i].ours, 2);
        jsprof_thread_pause(lua->thread);
        jsp_lua_walk_name(lua->walker, (uintptr_t)lua_topointer(L, -1), (uintptr_t)all[i].ours,
                          all[i].shown);
        jsprof_thread_resume(lua->thread);
        if (all[i].name)
            lua_setfield(L, -4, all[i].name);
        else
            lua_pop(L, 1);
    }
    return 0;
}

int jsp_lua_task_wraps(lua_State *L, struct jsprof_lua *lua)
{
    const lua_CFunction ours[] = { wraps_task_create, wraps_task_resume, wraps_task_wrap,
                                   wraps_task_wrapped };
    struct jsp_lua_bounds b;
    int err = jsp_lua_protected(L, wraps_replace_coroutine, lua);
    for (size_t i = 0; i < sizeof ours / sizeof *ours && !err; i++)
        if (jsp_lua_bounds_function((uintptr_t)ours[i], &b))
            err = jsprof_interpreter_hide(lua->session, (const void *)b.start, b.end - b.start);
    return err;
}
