/* event.h - reading a hook's event in LuaJIT; see calls/event.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_JIT_EVENT_H
#define JSPROF_LUA_JIT_EVENT_H

#include "calls/place.h"
#include "labels.h"

static inline void jsp_lua_event_call(lua_State *L, const lua_Debug *ar,
                                      struct jsp_lua_event *e)
{
    *e = (struct jsp_lua_event){ .at = jsp_lua_place(L, ar) }; /* a tail call has its caller's */
}

static inline bool jsp_lua_event_is(const struct jsp_lua_event *e, const struct jsp_lua_key *key)
{
    (void)e, (void)key; /* the function is not known */
    return false;
}

static inline void jsp_lua_event_return(lua_State *L, const lua_Debug *ar,
                                        struct jsp_lua_event *e)
{
    jsp_lua_event_call(L, ar, e);
}

#endif
