/* place.c - places in PUC Lua; see place.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls/place.h"

#include "peek.h"

#include JSPROF_LUA_LAYOUT

enum { PLACE_TAG_AT = 8, PLACE_LUA_54 = 504 };

static uintptr_t place_before(uintptr_t at)
{
    return layout.ci_is_array ? at - 1 : jsp_lua_pointer((const void *)at, layout.ci_previous);
}

uintptr_t jsp_lua_place(lua_State *L, const lua_Debug *ar)
{
    (void)L;
    return (uintptr_t)ar->i_ci;
}

/* Return whether the call is a tail call. 5.1 has no event for it, but the caller's
 * instruction shows it. */
static bool place_is_tail(lua_State *L, const lua_Debug *ar, uintptr_t at)
{
    uintptr_t call, closure, ci = jsp_lua_pointer(L, layout.base_ci) + (at - 1) * layout.ci_bytes;
    const char *func = (const char *)jsp_lua_pointer((const void *)ci, layout.ci_func);
    if (!layout.ci_is_array)
        return ar->event != LUA_HOOKCALL;
    if (jsp_lua_u8(func, PLACE_TAG_AT) != layout.tag_lua)
        return false;
    closure = jsp_lua_pointer(func, 0);
    if (jsp_lua_u8((const void *)closure, layout.is_c))
        return false;
    call = jsp_lua_pointer((const void *)ci, layout.ci_savedpc) - 4;
    return (jsp_lua_u32((const void *)call, 0) & ((1u << layout.op_bits) - 1)) ==
           layout.op_tailcall;
}

/* Before 5.4, a tail call has a place of its own at its event, and moves to its caller's
 * place later. 5.4 has moved it already. */
uintptr_t jsp_lua_place_tail(lua_State *L, const lua_Debug *ar, uintptr_t at)
{
    if (LUA_VERSION_NUM >= PLACE_LUA_54 || !place_is_tail(L, ar, at))
        return at;
    return place_before(at);
}

static struct jsp_lua_open *place_over_number(struct jsp_lua_open *top, uintptr_t at)
{
    struct jsp_lua_open *over = NULL;
    for (; top && top->at >= at; top = jsp_lua_open_up(top))
        over = top;
    return over;
}

/* Return the entry just inside the nearest known caller, or the outermost if no caller is
 * known. */
struct jsp_lua_open *jsp_lua_place_over(struct jsp_lua_open *top, uintptr_t at)
{
    if (layout.ci_is_array)
        return place_over_number(top, at);
    for (uintptr_t caller = place_before(at); top; caller = place_before(caller)) {
        struct jsp_lua_open *over = NULL, *e = top;
        for (; e && e->at != caller; e = jsp_lua_open_up(e))
            over = e;
        if (e || !caller)
            return over;
    }
    return NULL;
}

struct jsp_lua_open *jsp_lua_place_inside(struct jsp_lua_open *top, uintptr_t at)
{
    (void)top, (void)at; /* every end of a call has an event, or one follows */
    return NULL;
}

bool jsp_lua_place_needs_step(void)
{
    return false;
}

enum jsp_lua_state_now jsp_lua_place_state(uintptr_t co)
{
    enum { PLACE_YIELDED = 1 };
    uint8_t object[256];
    if (!jsp_lua_peek(co, object, layout.state_bytes) ||
        (object[PLACE_TAG_AT] & 0x3F) != (layout.tag_thread & 0x3F))
        return JSP_LUA_GONE;
    uintptr_t base = layout.base_ci_inside ? co + layout.base_ci
                                           : jsp_lua_pointer(object, layout.base_ci);
    if (object[layout.status] == PLACE_YIELDED)
        return JSP_LUA_SUSPENDED;
    bool runs = object[layout.status] == 0 && jsp_lua_pointer(object, layout.ci) != base;
    return runs ? JSP_LUA_RESUMED : JSP_LUA_GONE;
}
