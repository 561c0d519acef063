/* module.h - what the program jsprof-lua needs of the module besides what scripts see.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MODULE_H
#define JSPROF_LUA_MODULE_H

#include "compat.h"
#include "jsprof.h"

/* `require "jsprof"`. */
JSPROF_API int luaopen_jsprof(lua_State *L);

/* The module does not do what JSPROF in the environment asks: the program does. */
void jsp_lua_module_leave_environment(void);

/* How the last capture ended that was not ended by jsprof.stop(): 0 or a negative errno. */
int jsp_lua_module_result(void);

/* What such an errno means. */
const char *jsp_lua_module_why(int err);

/* Complete every capture, from any thread; the program is about to end. */
void jsp_lua_module_finish(void);

/* The same in a signal handler. False: a signal interrupted who does so. */
bool jsp_lua_module_finish_now(void);

#endif
