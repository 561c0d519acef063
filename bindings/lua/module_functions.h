/* module_functions.h - the functions of the module that a Lua program calls during a
 * recording.
 *
 * They are lua_CFunctions; README.md describes the arguments of each.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MODULE_FUNCTIONS_H
#define JSPROF_LUA_MODULE_FUNCTIONS_H

#include "compat.h"

int jsp_lua_module_calls(lua_State *L);
int jsp_lua_module_wrap(lua_State *L);
int jsp_lua_module_mark(lua_State *L);
int jsp_lua_module_counter(lua_State *L);
int jsp_lua_module_label(lua_State *L);
int jsp_lua_module_now(lua_State *L);

/* errors.c */
int jsp_lua_module_traceback(lua_State *L);

#endif
