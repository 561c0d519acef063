/* names.h - the names that Lua's own functions and those of loaded modules have.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_NAMES_H
#define JSPROF_LUA_NAMES_H

#include "attach.h"

/* A lua_CFunction, given the tie: names every function that stands in a loaded module
 * ("string.gsub"; "print" for a global), and the functions that those give out. */
int jsp_lua_names(lua_State *L);

#endif
