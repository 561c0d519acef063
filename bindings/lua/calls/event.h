/* event.h - reading a hook's event, inline, by the Lua that this is compiled for.
 *
 * jsp_lua_event_call and jsp_lua_event_return set the fields of a struct jsp_lua_event (place.h);
 * the latter leaves the function alone. jsp_lua_event_is returns whether the function of a call
 * has this key. Only a hook may call them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_EVENT_H
#define JSPROF_LUA_EVENT_H

#include "compat.h"

#ifdef LUA_JITLIBNAME
#include "jit/event.h"
#else
#include "puc/event.h"
#endif

#endif
