/* module_names.h - names for Lua's own functions and those of loaded modules.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MODULE_NAMES_H
#define JSPROF_LUA_MODULE_NAMES_H

#include "attach.h"

/* A lua_CFunction whose argument is the tie: name every function in a loaded module
 * ("string.gsub"; "print" for a global), and the functions that those return. */
int jsp_lua_name_modules(lua_State *L);

#endif
