/* hooks.h - our hook, which calls the program's own.
 *
 * In PUC Lua a hook belongs to a coroutine, and the coroutines that it makes inherit it. The
 * program's hook is written into the mask of ours, so coroutines inherit it as they would
 * without us. LuaJIT has one hook for all coroutines.
 *
 * Only the owner thread may call these. No function here raises a Lua error of its own;
 * the program's hook may.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_HOOKS_H
#define JSPROF_LUA_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "compat.h"

/* The hooks of one state. */
struct jsp_lua_hooks {
    lua_Hook ours;
    int events;   /* LUA_MASKCALL, or with it LUA_MASKRET: what ours needs */
    bool has_own; /* a coroutine had, or has, a hook of the program */
    /* PUC Lua: the offset, in a coroutine, of the events left of its count; and in the
     * global state, of the list of all objects. */
    size_t left_at, objects_at;
    /* LuaJIT: the program's hook, and whether our hook gets the next instruction. */
    lua_Hook own;
    int own_mask, own_count;
    bool steps;
};

/* Prepare; no hook is set yet. Return 0, -ENOTSUP if the layout of this Lua is unknown,
 * or -ENOMEM. */
int jsp_lua_hooks_init(struct jsp_lua_hooks *h, lua_State *L, lua_Hook ours, int events);

/* Set our hook, which from now on calls the program's. Do nothing if ours is set
 * already, or if there is no room to note another hook of the program: then that hook
 * stays alone. */
void jsp_lua_hooks_put(struct jsp_lua_hooks *h, lua_State *L);

/* Set only the program's hook again. Return false if ours was not set. */
bool jsp_lua_hooks_take(struct jsp_lua_hooks *h, lua_State *L);

/* Do the same in all coroutines. */
void jsp_lua_hooks_take_all(struct jsp_lua_hooks *h, lua_State *L);

/* Call the program's hook if it asked for this event. It may raise an error, and it may free
 * `h`. */
void jsp_lua_hooks_pass(const struct jsp_lua_hooks *h, lua_State *L, lua_Debug *ar);

/* Our hook was called on a thread that counts no calls: set only the program's again. */
void jsp_lua_hooks_orphan(lua_State *L, lua_Debug *ar);

/* LuaJIT: start or stop calling our hook at each instruction. Do nothing if the program's
 * own hook counts instructions, which this would disturb. */
void jsp_lua_hooks_step(struct jsp_lua_hooks *h, lua_State *L, bool steps);

/* Return the LUA_MASK... of an event. */
static inline int jsp_lua_hooks_bit(const lua_Debug *ar)
{
#ifdef LUA_HOOKTAILCALL
    return ar->event == LUA_HOOKTAILCALL ? LUA_MASKCALL : 1 << ar->event;
#else
    return ar->event > LUA_HOOKCOUNT ? LUA_MASKRET : 1 << ar->event; /* 5.1: a tail return */
#endif
}

#endif
