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
#include "labels.h"
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

/* Set the function of the call at this CallInfo. */
static inline void event_function(uintptr_t ci, struct jsp_lua_event *e)
{
    const void *func = (const void *)jsp_lua_pointer((const void *)ci, layout.ci_func);
    const void *object = (const void *)jsp_lua_pointer(func, 0);
    uint8_t tag = jsp_lua_u8(func, EVENT_TAG_AT);
    bool is_closure = tag == layout.tag_lua || tag == layout.tag_c;
    e->is_lua = tag == layout.tag_lua && !(layout.is_c && jsp_lua_u8(object, layout.is_c));
    if (is_closure)
        e->function = jsp_lua_pointer(object, layout.closure_proto);
    else
        e->function = layout.tag_light && tag == layout.tag_light ? (uintptr_t)object : 0;
}

static inline bool jsp_lua_event_is(const struct jsp_lua_event *e, const struct jsp_lua_key *key)
{
    const void *proto = (const void *)e->function;
    if (key->at != e->function)
        return false;
    if (!e->is_lua)
        return !key->code && !key->source;
    return key->code == jsp_lua_pointer(proto, layout.code) &&
           key->source == jsp_lua_pointer(proto, layout.source) &&
           key->line == jsp_lua_u32(proto, layout.linedefined);
}

/* Before 5.4, a tail call has a place of its own at its event, and moves to its caller's
 * place later. 5.4 has moved it already. */
static inline void jsp_lua_event_call(lua_State *L, const lua_Debug *ar,
                                      struct jsp_lua_event *e)
{
    e->at = (uintptr_t)ar->i_ci;
    event_function(event_ci(L, e->at), e);
    if (LUA_VERSION_NUM < EVENT_LUA_54 && e->is_lua && event_is_tail(L, ar, e->at))
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
