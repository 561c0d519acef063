/* bounds.h - the first and last address of a C function of the process.
 *
 * Reads the sorted table of .eh_frame_hdr, which every object has that exceptions can
 * pass. It needs no symbols.
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

/* Find the function that contains `pc`. Return false if no table has it. */
bool jsp_lua_bounds_function(uintptr_t pc, struct jsp_lua_bounds *out);

/* Find the code of the object that contains `pc`, if that object is an interpreter: a
 * library or program whose name begins with "liblua" or "lua". */
bool jsp_lua_bounds_object(uintptr_t pc, struct jsp_lua_bounds *out);

#endif
