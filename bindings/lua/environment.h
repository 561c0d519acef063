/* environment.h - what JSPROF in the environment asks of the module: to record without a line of
 * code in the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_ENVIRONMENT_H
#define JSPROF_LUA_ENVIRONMENT_H

#include <stdbool.h>

#include "compat.h"

/* Does anybody ask? Not in a program that was given privileges. */
bool jsp_lua_environment_asks(void);

/* Push the table for jsprof.start that says the same. Raises an error where a variable has a
 * value that is not allowed. */
void jsp_lua_environment_push(lua_State *L);

#endif
