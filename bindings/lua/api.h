/* api.h - where Lua has a function of its API.
 *
 * A library or a program is linked with Lua and takes the address (api_linked.c). The module asks
 * the loader (api_module.c): an address that it takes is resolved when it is loaded, and then
 * calls go through that, too. Preloaded into a program that loads Lua later (nginx), it would
 * call address 0.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_API_H
#define JSPROF_LUA_API_H

#include <stdint.h>

#include "compat.h"

/* The functions that may be asked for, by the name that the linker knows. */
#define JSP_LUA_API_GC "lua_gc"
#define JSP_LUA_API_GETTOP "lua_gettop"
#define JSP_LUA_API_NEWUSERDATA COMPAT_NEWUSERDATA
#define JSP_LUA_API_PCALL COMPAT_PCALL
#define JSP_LUA_API_RESUME "lua_resume"

/* Return the function's address; 0: it is not known. */
uintptr_t jsp_lua_api(const char *name);

#endif
