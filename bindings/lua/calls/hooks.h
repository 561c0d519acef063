/* hooks.h - our hook, which calls the program's own.
 *
 * In PUC Lua a hook belongs to a coroutine, and the coroutines that it makes inherit it. The
 * program's hook is written into the mask of ours, so coroutines inherit it as they would
 * without us. LuaJIT has one hook for all coroutines.
 *
 * Owner thread only. No function here raises a Lua error of its own; the program's hook may.
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
    bool has_own; /* some coroutine had, or has, a hook of the program's */
    /* PUC Lua: offsets in a coroutine of what is left of its count, and in the global state of
     * the list of all objects. */
    size_t left_at, objects_at;
    /* LuaJIT: the program's hook, and whether ours sees the next instruction. */
    lua_Hook own;
    int own_mask, own_count;
    bool steps;
};

/* Prepare; no hook is set yet. -ENOTSUP: this Lua is not as we know it; -ENOMEM. */
int jsp_lua_hooks_init(struct jsp_lua_hooks *h, lua_State *L, lua_Hook ours);

/* Set ours, which calls the program's from now on. Do nothing where ours is set already, nor
 * where no room is left to note another hook of the program's: that one stays alone then. */
void jsp_lua_hooks_put(struct jsp_lua_hooks *h, lua_State *L);

/* Set the program's alone again. False: ours was not set. */
bool jsp_lua_hooks_take(struct jsp_lua_hooks *h, lua_State *L);

/* Do the same in all coroutines. */
void jsp_lua_hooks_take_all(struct jsp_lua_hooks *h, lua_State *L);

/* Call the program's hook if it asked for this event. It may raise an error, and it may free
 * `h`. */
void jsp_lua_hooks_pass(const struct jsp_lua_hooks *h, lua_State *L, lua_Debug *ar);

/* Ours was called on a thread on which no calls are counted: set the program's alone again. */
void jsp_lua_hooks_orphan(lua_State *L, lua_Debug *ar);

/* LuaJIT: show each next instruction to ours, or no longer. Do nothing where the program's own
 * hook counts instructions: it would be disturbed. */
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
