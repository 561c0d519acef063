/* hooks.c - the hooks of PUC Lua's coroutines; see hooks.h for the contract.
 *
 * The binding keeps no data of its own about a coroutine. Lua reads only the lower half
 * of a hook's mask. The upper half describes the program's hook: bits 4 and 5 are set if
 * it wants calls and returns, bits 6 and 7 are the number of its C function among those
 * seen so far. (debug.sethook always sets the same one, which looks up the Lua function
 * by the coroutine.) Only the program asks for lines and instructions, so their bits and
 * the count are its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "attach.h"
#include "calls/hooks.h"

#include JSPROF_LUA_LAYOUT

enum {
    HOOKS_OURS = LUA_MASKCALL | LUA_MASKRET,
    HOOKS_OWN = LUA_MASKLINE | LUA_MASKCOUNT,
    HOOKS_WANTS_SHIFT = 4,
    HOOKS_WHICH_SHIFT = 6,
    HOOKS_FUNCTIONS = 3,
    HOOKS_TAG_AT = 8,
    HOOKS_STATE_BYTES = LUA_VERSION_NUM == 501 ? 184 : 196, /* every state has them */
    HOOKS_GLOBAL_BYTES = 256,
    HOOKS_COUNT = 0x5A17C0DE, /* a value that no coroutine contains by chance */
};

/* C functions that programs set as hooks, in all states; never removed. */
static _Atomic(lua_Hook) hooks_functions[HOOKS_FUNCTIONS];

/* Return the number of `f`: 0 if it is NULL, negative if there is no room. */
static int hooks_which(lua_Hook f)
{
    for (int i = 0; f && i < HOOKS_FUNCTIONS; i++) {
        lua_Hook there = NULL;
        /* ORDER: relaxed. A place is written once. Its readers have its number from a
         * coroutine, which they got from the thread that wrote it. */
        if (atomic_compare_exchange_strong_explicit(&hooks_functions[i], &there, f,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed) || there == f)
            return i + 1;
    }
    return f ? -1 : 0;
}

/* Return the program's hook, from the mask of ours. */
static lua_Hook hooks_own(int mask)
{
    int which = mask >> HOOKS_WHICH_SHIFT;
    /* ORDER: relaxed, for the same reason. */
    return which ? atomic_load_explicit(&hooks_functions[which - 1], memory_order_relaxed)
                 : NULL;
}

static int hooks_own_mask(int mask)
{
    return (mask & HOOKS_OWN) | (mask >> HOOKS_WANTS_SHIFT & HOOKS_OURS);
}

/* Set a hook so that the program notices no change: the events left of its count stay,
 * and so does the line that is compared with the next one. */
static void hooks_set(const struct jsp_lua_hooks *h, lua_State *L, lua_Hook f, int mask)
{
    bool has_pc = layout.oldpc != LAYOUT_NONE;
    uintptr_t pc = has_pc ? jsp_lua_pointer(L, layout.oldpc) : 0;
    uint32_t left = jsp_lua_u32(L, h->left_at);
    lua_sethook(L, f, mask, lua_gethookcount(L));
    memcpy((char *)L + h->left_at, &left, sizeof left);
    if (has_pc)
        memcpy((char *)L + layout.oldpc, &pc, sizeof pc);
}

void jsp_lua_hooks_put(struct jsp_lua_hooks *h, lua_State *L)
{
    lua_Hook own = lua_gethook(L);
    int mask = own ? lua_gethookmask(L) : 0, which = own == h->ours ? -1 : hooks_which(own);
    if (which < 0)
        return;
    h->has_own = h->has_own || own;
    hooks_set(h, L, h->ours, h->events | (mask & (HOOKS_OURS | HOOKS_OWN)) |
              (mask & HOOKS_OURS) << HOOKS_WANTS_SHIFT | which << HOOKS_WHICH_SHIFT);
}

bool jsp_lua_hooks_take(struct jsp_lua_hooks *h, lua_State *L)
{
    int mask = lua_gethookmask(L);
    if (lua_gethook(L) != h->ours)
        return false;
    hooks_set(h, L, hooks_own(mask), hooks_own_mask(mask));
    return true;
}

/* A coroutine without a stack was not completed, because memory ran out. */
static bool hooks_is_coroutine(const void *object)
{
    return (jsp_lua_u8(object, HOOKS_TAG_AT) & 0x3F) == (layout.tag_thread & 0x3F) &&
           jsp_lua_pointer(object, layout.ci);
}

void jsp_lua_hooks_take_all(struct jsp_lua_hooks *h, lua_State *L)
{
    const void *global = (const void *)jsp_lua_walk_global((uintptr_t)L);
    uintptr_t at = jsp_lua_pointer(global, h->objects_at);
    for (; at; at = jsp_lua_pointer((const void *)at, 0))
        if (hooks_is_coroutine((const void *)at))
            jsp_lua_hooks_take(h, (lua_State *)at);
    at = (uintptr_t)global + layout.main_thread;
    jsp_lua_hooks_take(h, (lua_State *)(layout.main_inside ? at
                                                           : jsp_lua_pointer((void *)at, 0)));
}

void jsp_lua_hooks_pass(const struct jsp_lua_hooks *h, lua_State *L, lua_Debug *ar)
{
    int mask = lua_gethookmask(L);
    (void)h;
    if (hooks_own_mask(mask) & jsp_lua_hooks_bit(ar))
        hooks_own(mask)(L, ar);
}

void jsp_lua_hooks_orphan(lua_State *L, lua_Debug *ar)
{
    int mask = lua_gethookmask(L);
    lua_Hook own = hooks_own(mask);
    lua_sethook(L, own, hooks_own_mask(mask), lua_gethookcount(L));
    if (own && hooks_own_mask(mask) & jsp_lua_hooks_bit(ar))
        own(L, ar);
}

void jsp_lua_hooks_step(struct jsp_lua_hooks *h, lua_State *L, bool steps)
{
    (void)h, (void)L, (void)steps; /* hooks get the returns of C functions */
}

/* -- Where things are ------------------------------------------------------------- */

/* The count and the rest of it are next to each other. */
static size_t hooks_find_left(const lua_State *co)
{
    const int wanted[2] = { HOOKS_COUNT, HOOKS_COUNT };
    for (size_t at = 0; at + sizeof wanted <= HOOKS_STATE_BYTES; at += sizeof *wanted)
        if (memcmp((const char *)co + at, wanted, sizeof wanted) == 0)
            return at + sizeof *wanted;
    return 0;
}

/* A new object is the first in the list. */
static size_t hooks_find_objects(const lua_State *co)
{
    const void *global = (const void *)jsp_lua_walk_global((uintptr_t)co);
    for (size_t at = 0; at < HOOKS_GLOBAL_BYTES; at += sizeof(void *))
        if (jsp_lua_pointer(global, at) == (uintptr_t)co)
            return at;
    return 0;
}

/* Runs protected. A coroutine that it makes for this purpose shows the offsets. */
static int hooks_find(lua_State *L)
{
    struct jsp_lua_hooks *h = lua_touserdata(L, 1);
    lua_State *co = lua_newthread(L);
    h->objects_at = hooks_find_objects(co);
    lua_sethook(co, h->ours, LUA_MASKCOUNT, HOOKS_COUNT);
    h->left_at = hooks_find_left(co);
    lua_sethook(co, NULL, 0, 0);
    return 0;
}

int jsp_lua_hooks_init(struct jsp_lua_hooks *h, lua_State *L, lua_Hook ours, int events)
{
    h->ours = ours;
    h->events = events;
    int err = jsp_lua_protected(L, hooks_find, h);
    return err ? err : h->left_at && h->objects_at ? 0 : -ENOTSUP;
}
