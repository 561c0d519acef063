/* event.h - reading a hook's event in PUC Lua: its place, and the function that is called.
 *
 * Lua's API would push the function for each event, and take longer than all the rest. The hook
 * runs between two instructions of the owner thread, so what it reads here can not change.
 * See calls/event.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PUC_EVENT_H
#define JSPROF_LUA_PUC_EVENT_H

#include "calls/place.h"
#include "read.h"

#include JSPROF_LUA_LAYOUT

enum { EVENT_TAG_AT = 8, EVENT_LUA_54 = 504 };

static inline uintptr_t event_before(uintptr_t at)
{
    return layout.ci_is_array ? at - 1 : jsp_lua_pointer((const void *)at, layout.ci_previous);
}

static inline uintptr_t event_ci(lua_State *L, uintptr_t at)
{
    return layout.ci_is_array ? jsp_lua_pointer(L, layout.base_ci) + at * layout.ci_bytes : at;
}

/* Return whether the call is a tail call. 5.1 has no event for it, but the caller's
 * instruction shows it. */
static inline bool event_is_tail(lua_State *L, const lua_Debug *ar, uintptr_t at)
{
    if (!layout.ci_is_array)
        return ar->event != LUA_HOOKCALL;
    const char *ci = (const char *)event_ci(L, at - 1);
    const char *func = (const char *)jsp_lua_pointer(ci, layout.ci_func);
    if (jsp_lua_u8(func, EVENT_TAG_AT) != layout.tag_lua)
        return false;
    uintptr_t closure = jsp_lua_pointer(func, 0);
    if (jsp_lua_u8((const void *)closure, layout.is_c))
        return false;
    uintptr_t call = jsp_lua_pointer(ci, layout.ci_savedpc) - 4;
    return (jsp_lua_u32((const void *)call, 0) & ((1u << layout.op_bits) - 1)) ==
           layout.op_tailcall;
}

/* Return whether the call at this CallInfo is one of a Lua function, and its key, whose fields
 * are set one by one: a copy of the whole would wait for them. */
static inline bool event_key(uintptr_t ci, struct jsp_lua_key *key)
{
    const void *func = (const void *)jsp_lua_pointer((const void *)ci, layout.ci_func);
    const void *object = (const void *)jsp_lua_pointer(func, 0), *proto;
    uint8_t tag = jsp_lua_u8(func, EVENT_TAG_AT);
    key->code = key->source = key->line = 0;
    if (tag == layout.tag_light && layout.tag_light) {
        key->at = (uintptr_t)object;
        return false;
    }
    bool is_closure = tag == layout.tag_lua || tag == layout.tag_c;
    key->at = is_closure ? jsp_lua_pointer(object, layout.closure_proto) : 0;
    if (!is_closure || (layout.is_c ? jsp_lua_u8(object, layout.is_c) : tag == layout.tag_c))
        return false;
    proto = (const void *)key->at;
    key->code = jsp_lua_pointer(proto, layout.code);
    key->source = jsp_lua_pointer(proto, layout.source);
    key->line = jsp_lua_u32(proto, layout.linedefined);
    return true;
}

/* Before 5.4, a tail call has a place of its own at its event, and moves to its caller's
 * place later. 5.4 has moved it already. */
static inline void jsp_lua_event_call(lua_State *L, const lua_Debug *ar,
                                      struct jsp_lua_event *e)
{
    e->at = (uintptr_t)ar->i_ci;
    bool is_lua = event_key(event_ci(L, e->at), &e->key);
    if (LUA_VERSION_NUM < EVENT_LUA_54 && is_lua && event_is_tail(L, ar, e->at))
        e->at = event_before(e->at);
    e->caller = event_before(e->at);
}

static inline void jsp_lua_event_return(lua_State *L, const lua_Debug *ar,
                                        struct jsp_lua_event *e)
{
    (void)L;
    e->at = (uintptr_t)ar->i_ci;
    e->caller = event_before(e->at);
}

#endif
