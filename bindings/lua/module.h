/* module.h - what the program jsprof-lua uses of the module besides its Lua functions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MODULE_H
#define JSPROF_LUA_MODULE_H

#include "compat.h"
#include "jsprof.h"

/* `require "jsprof"`. */
JSPROF_API int luaopen_jsprof(lua_State *L);

/* Ignore JSPROF in the environment: the program follows it instead. */
void jsp_lua_module_leave_environment(void);

/* Return the result of the last capture that jsprof.stop() did not end: 0 or a negative
 * errno. */
int jsp_lua_module_result(void);

/* Return a text for such an errno. */
const char *jsp_lua_module_why(int err);

/* Complete every capture. Any thread may call it; the program is about to end. */
void jsp_lua_module_finish(void);

/* The same in a signal handler. Return false if the signal interrupted such work. */
bool jsp_lua_module_finish_now(void);

#endif
