/* environment.h - JSPROF, JSPROF_CONTINUOUS, JSPROF_CONTROL and their variables: record without a
 * line of code in the program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_ENVIRONMENT_H
#define JSPROF_LUA_ENVIRONMENT_H

#include <stdbool.h>

#include "compat.h"

/* Return whether the environment asks to record, or to listen until `jsprof record` asks. It can
 * not ask a program that runs with raised privileges. */
bool jsp_lua_environment_asks(void);

/* Return whether JSPROF_TRACES, JSPROF_LOOP or JSPROF_TASKS is set to 1; -1 if its value is not
 * allowed. */
int jsp_lua_environment_flag(const char *name);

/* Return JSPROF_CALLS, NULL if it is unset or empty, or "" if it has an unknown word. */
const char *jsp_lua_environment_calls(void);

/* Push the table for jsprof.start that means the same. Raise an error if a variable has a
 * value that is not allowed. */
void jsp_lua_environment_push(lua_State *L);

#endif
