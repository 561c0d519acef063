/* module_options.h - the table that a script gives to jsprof.start.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_MODULE_OPTIONS_H
#define JSPROF_LUA_MODULE_OPTIONS_H

#include <stdbool.h>

#include <lauxlib.h>
#include <lua.h>

#include "jsprof.h"

struct jsp_lua_options {
    jsprof_options open;
    const char *mode; /* "sample", "calls" or "both" */
    uint32_t modes;   /* JSPROF_CALLS_..., if the mode is not "sample" */
    bool alloc, traces, loop, tasks;
};

#define JSP_LUA_MODES_ALLOWED \
    "all, or some of count, time, alloc and edges with commas between, is allowed"

/* Return the JSPROF_CALLS_... of a text such as "count,time"; 0: a word is unknown. */
uint32_t jsp_lua_options_modes(const char *text);

#define JSP_LUA_PRINTED "the program prints there; this needs a file of its own"

/* Read the table at the stack's first place, or the defaults where there is none. Raise a Lua
 * error that names a wrong option. The table keeps the texts. */
void jsp_lua_options_read(lua_State *L, struct jsp_lua_options *o);

#endif
