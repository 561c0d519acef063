/* bounds.h - where a C function of the process begins and ends.
 *
 * From the sorted table of .eh_frame_hdr, which every object carries that exceptions
 * can pass: it needs no symbols.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_BOUNDS_H
#define JSPROF_LUA_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct jsp_lua_bounds {
    uintptr_t start, end;
};

/* The function that holds `pc`. False: nothing says. */
bool jsp_lua_bounds_function(uintptr_t pc, struct jsp_lua_bounds *out);

/* The code of the object that holds `pc`, if it is an interpreter's own: a library or
 * program whose name begins with "liblua" or "lua". */
bool jsp_lua_bounds_object(uintptr_t pc, struct jsp_lua_bounds *out);

#endif
