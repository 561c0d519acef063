/* module_names.h - names for Lua's own functions and those of loaded modules.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MODULE_NAMES_H
#define JSPROF_LUA_MODULE_NAMES_H

#include "attach.h"

/* A lua_CFunction whose argument is the tie: name every function of a loaded module
 * ("string.gsub"; "print" for a global), and the functions that those return. */
int jsp_lua_name_modules(lua_State *L);

/* Name the functions of the module that was loaded under this name ("lpeg.match"): those in
 * C, and those in Lua whose source line has their name. Name also the C functions of the
 * types of userdata that the state has so far ("FILE*.write"). May raise an error. */
void jsp_lua_name_new_module(lua_State *L, struct jsprof_lua *lua, const char *module);

/* Name the C functions of all modules that are loaded by now, and of the types of userdata, for a
 * state whose `require` is not replaced. */
void jsp_lua_name_c_functions(lua_State *L, struct jsprof_lua *lua);

/* Write the name with that of its module ("mod.f") if a loaded module has this function, by
 * lua_topointer, in the field of that name. Return false if none has. */
bool jsp_lua_name_in_module(lua_State *L, const void *function, const char *name,
                            char out[JSP_LUA_NAME]);

#endif
