/* hooks.h - our hook in front of the program's own.
 *
 * In PUC Lua a hook belongs to a coroutine, and those that it makes inherit it; what the
 * program's is stands in ours, so it is inherited as it would be without. LuaJIT has one
 * hook for all coroutines.
 *
 * Owner thread only; nothing here raises an error of Lua's but what the program's hook
 * raises.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_HOOKS_H
#define JSPROF_LUA_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "compat.h"

/* Of one state. */
struct jsp_lua_hooks {
    lua_Hook ours;
    bool has_own; /* some coroutine had, or has, one of the program's */
    /* PUC Lua. Where it keeps them: what a coroutine has left of its count, and the list of
     * all objects. */
    size_t left_at, objects_at;
    /* LuaJIT. The program's; does ours see the next instruction? */
    lua_Hook own;
    int own_mask, own_count;
    bool steps;
};

/* Nothing is hooked yet. -ENOTSUP: this Lua is not as we know it; -ENOMEM. */
int jsp_lua_hooks_init(struct jsp_lua_hooks *h, lua_State *L, lua_Hook ours);

/* Ours is there from now on, and the program's behind it. Nothing is done where ours is there
 * already, nor where there is no room for one more of the program's: it stays alone then. */
void jsp_lua_hooks_put(struct jsp_lua_hooks *h, lua_State *L);

/* The program's is alone again; false: ours was not there. */
bool jsp_lua_hooks_take(struct jsp_lua_hooks *h, lua_State *L);

/* The same in all coroutines. */
void jsp_lua_hooks_take_all(struct jsp_lua_hooks *h, lua_State *L);

/* Call the program's, if it wants to see this. It may throw, and may end all of this. */
void jsp_lua_hooks_pass(const struct jsp_lua_hooks *h, lua_State *L, lua_Debug *ar);

/* Ours was called, but nobody counts on this thread: the program's is alone from now on. */
void jsp_lua_hooks_orphan(lua_State *L, lua_Debug *ar);

/* LuaJIT: ours sees each next instruction, or no more. A program that counts instructions by a
 * hook of its own would be disturbed: not then. */
void jsp_lua_hooks_step(struct jsp_lua_hooks *h, lua_State *L, bool steps);

/* The LUA_MASK... of an event. */
static inline int jsp_lua_hooks_bit(const lua_Debug *ar)
{
#ifdef LUA_HOOKTAILCALL
    return ar->event == LUA_HOOKTAILCALL ? LUA_MASKCALL : 1 << ar->event;
#else
    return ar->event > LUA_HOOKCOUNT ? LUA_MASKRET : 1 << ar->event; /* 5.1: a tail return */
#endif
}

#endif
