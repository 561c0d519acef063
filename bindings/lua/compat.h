/* compat.h - one name for each function that the six Lua APIs spell differently.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_COMPAT_H
#define JSPROF_LUA_COMPAT_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

/* The loader resolves functions that some versions lack when it loads the module. They
 * are weak, so they may be missing: a module of the wrong version loads, and can then
 * report that it is wrong. */
#if LUA_VERSION_NUM == 501
#pragma weak luaL_loadbuffer
#pragma weak lua_call
#pragma weak lua_cpcall
#pragma weak lua_objlen
#pragma weak lua_pcall
#pragma weak lua_tonumber
#else
#pragma weak luaL_loadbufferx
#pragma weak luaL_setfuncs
#pragma weak lua_callk
#pragma weak lua_getglobal
#pragma weak lua_pcallk
#pragma weak lua_rawlen
#pragma weak lua_tonumberx
#endif
#if LUA_VERSION_NUM < 503
#pragma weak lua_insert
#else
#pragma weak lua_rotate
#endif
#if LUA_VERSION_NUM < 504
#pragma weak lua_newuserdata
#else
#pragma weak lua_newuserdatauv
#endif

#if LUA_VERSION_NUM == 501
#define LUA_OK 0
static inline void compat_setfuncs(lua_State *L, const luaL_Reg *functions)
{
    for (; functions->name; functions++) {
        lua_pushcfunction(L, functions->func);
        lua_setfield(L, -2, functions->name);
    }
}
static inline int compat_resume(lua_State *co, lua_State *from, int n)
{
    (void)from;
    return lua_resume(co, n);
}
/* Call f(data) protected. To push a C function may fail for want of memory; this does it inside. */
static inline int compat_cpcall(lua_State *L, lua_CFunction f, void *data)
{
    return lua_cpcall(L, f, data);
}
static inline size_t compat_length(lua_State *L, int at)
{
    return lua_objlen(L, at);
}
static inline void compat_pushglobals(lua_State *L)
{
    lua_pushvalue(L, LUA_GLOBALSINDEX);
}
#else
static inline void compat_setfuncs(lua_State *L, const luaL_Reg *functions)
{
    luaL_setfuncs(L, functions, 0);
}
static inline int compat_cpcall(lua_State *L, lua_CFunction f, void *data)
{
    lua_pushcfunction(L, f);
    lua_pushlightuserdata(L, data);
    return lua_pcall(L, 1, 0, 0);
}
static inline size_t compat_length(lua_State *L, int at)
{
    return lua_rawlen(L, at);
}
static inline void compat_pushglobals(lua_State *L)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}
#if LUA_VERSION_NUM < 504
static inline int compat_resume(lua_State *co, lua_State *from, int n)
{
    return lua_resume(co, from, n);
}
#else
static inline int compat_resume(lua_State *co, lua_State *from, int n)
{
    int results;
    return lua_resume(co, from, n, &results);
}
#endif
#endif

#if LUA_VERSION_NUM == 504
static inline int compat_closethread(lua_State *co, lua_State *from)
{
    (void)from;
    return lua_resetthread(co);
}
#elif LUA_VERSION_NUM > 504
static inline int compat_closethread(lua_State *co, lua_State *from)
{
    return lua_closethread(co, from);
}
#endif

#if LUA_VERSION_NUM < 505
static inline lua_State *compat_newstate(lua_Alloc f, void *data)
{
    return lua_newstate(f, data);
}
#else
static inline lua_State *compat_newstate(lua_Alloc f, void *data)
{
    return lua_newstate(f, data, 0);
}
#endif

/* The function of the API that makes a userdata. */
#if LUA_VERSION_NUM < 504
#define compat_newuserdata lua_newuserdata
#define COMPAT_NEWUSERDATA "lua_newuserdata"
#else
#define compat_newuserdata lua_newuserdatauv
#define COMPAT_NEWUSERDATA "lua_newuserdatauv"
#endif

/* The function of the API that makes a protected call. */
#if LUA_VERSION_NUM == 501
#define compat_pcall lua_pcall
#define COMPAT_PCALL "lua_pcall"
#else
#define compat_pcall lua_pcallk
#define COMPAT_PCALL "lua_pcallk"
#endif

/* Make a negative index absolute, so that it stays valid while the stack grows. */
static inline int compat_absolute(lua_State *L, int at)
{
    return at > 0 || at <= LUA_REGISTRYINDEX ? at : lua_gettop(L) + at + 1;
}

#endif
