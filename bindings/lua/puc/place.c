/* place.c - places in PUC Lua; see place.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "puc/event.h"

#include "peek.h"

uintptr_t jsp_lua_place(lua_State *L, const lua_Debug *ar)
{
    (void)L;
    return (uintptr_t)ar->i_ci;
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
    for (uintptr_t caller = event_before(at); top; caller = event_before(caller)) {
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
        (object[EVENT_TAG_AT] & 0x3F) != (layout.tag_thread & 0x3F))
        return JSP_LUA_GONE;
    uintptr_t base = layout.base_ci_inside ? co + layout.base_ci
                                           : jsp_lua_pointer(object, layout.base_ci);
    if (object[layout.status] == PLACE_YIELDED)
        return JSP_LUA_SUSPENDED;
    bool runs = object[layout.status] == 0 && jsp_lua_pointer(object, layout.ci) != base;
    return runs ? JSP_LUA_RESUMED : JSP_LUA_GONE;
}
