/* place.c - places in LuaJIT; see place.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit/layout.h"
#include "peek.h"
#include "calls/place.h"

/* Return the place of the outer frame, if the function has variable arguments: then it
 * has two frames, and makes the inner one when it begins. */
uintptr_t jsp_lua_place(lua_State *L, const lua_Debug *ar)
{
    uintptr_t at = (uintptr_t)ar->i_ci & 0xFFFF; /* lua_getstack puts its size above */
    uintptr_t link = jsp_lua_pointer((const void *)jsp_lua_pointer(L, JIT_L_STACK), 8 * at);
    if ((link & JIT_LINK_TYPEP) == JIT_LINK_VARG)
        at -= (link & ~(uintptr_t)JIT_LINK_TYPEP) / 8;
    return at;
}

struct jsp_lua_open *jsp_lua_place_over(struct jsp_lua_open *top, uintptr_t at)
{
    struct jsp_lua_open *over = NULL;
    for (; top && top->at >= at; top = jsp_lua_open_up(top))
        over = top;
    return over;
}

struct jsp_lua_open *jsp_lua_place_inside(struct jsp_lua_open *top, uintptr_t at)
{
    return jsp_lua_place_over(top, at + 1);
}

bool jsp_lua_place_needs_step(void)
{
    return true;
}

enum jsp_lua_state_now jsp_lua_place_state(uintptr_t co)
{
    uint8_t object[JIT_L_BYTES];
    if (!jsp_lua_peek(co, object, sizeof object) || object[JIT_KIND_AT] != JIT_THREAD)
        return JSP_LUA_GONE;
    if (jsp_lua_pointer(object, JIT_L_CFRAME))
        return JSP_LUA_RESUMED;
    return object[JIT_L_STATUS] == LUA_YIELD ? JSP_LUA_SUSPENDED : JSP_LUA_GONE;
}
