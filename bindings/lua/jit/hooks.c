/* hooks.c - the one hook of LuaJIT; see hooks.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls/hooks.h"

static void hooks_set(struct jsp_lua_hooks *h, lua_State *L)
{
    int mask = h->events | h->own_mask | (h->steps ? LUA_MASKCOUNT : 0);
    lua_sethook(L, h->ours, mask, h->steps ? 1 : h->own_count);
}

int jsp_lua_hooks_init(struct jsp_lua_hooks *h, lua_State *L, lua_Hook ours, int events)
{
    (void)L;
    h->ours = ours;
    h->events = events;
    return 0;
}

void jsp_lua_hooks_put(struct jsp_lua_hooks *h, lua_State *L)
{
    if (lua_gethook(L) == h->ours)
        return;
    h->own = lua_gethook(L);
    h->has_own = h->own;
    h->own_mask = h->own ? lua_gethookmask(L) : 0;
    h->own_count = lua_gethookcount(L);
    h->steps = h->steps && !(h->own_mask & LUA_MASKCOUNT);
    hooks_set(h, L);
}

bool jsp_lua_hooks_take(struct jsp_lua_hooks *h, lua_State *L)
{
    if (lua_gethook(L) != h->ours)
        return false;
    lua_sethook(L, h->own, h->own_mask, h->own_count);
    return true;
}

void jsp_lua_hooks_take_all(struct jsp_lua_hooks *h, lua_State *L)
{
    jsp_lua_hooks_take(h, L);
}

void jsp_lua_hooks_pass(const struct jsp_lua_hooks *h, lua_State *L, lua_Debug *ar)
{
    if (h->own_mask & jsp_lua_hooks_bit(ar))
        h->own(L, ar);
}

void jsp_lua_hooks_orphan(lua_State *L, lua_Debug *ar)
{
    (void)ar;
    lua_sethook(L, NULL, 0, 0);
}

void jsp_lua_hooks_step(struct jsp_lua_hooks *h, lua_State *L, bool steps)
{
    if (steps == h->steps || h->own_mask & LUA_MASKCOUNT)
        return;
    h->steps = steps;
    hooks_set(h, L);
}
