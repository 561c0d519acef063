/* source_line.h - whether a line of a source file makes the function of a name.
 *
 * A field of a module may hold a function that another one made: then all functions from
 * there would get the field's name. So the name must be at the function's own line.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_SOURCE_LINE_H
#define JSPROF_LUA_SOURCE_LINE_H

#include <stdbool.h>
#include <stddef.h>

/* The file that was read last. Zero it to begin. */
struct jsp_lua_source {
    char *path, *text; /* owned; NULL: none, or it can not be read */
    size_t n;
};

/* Return whether this line of the chunk (a name such as "@file.lua"), from 1, is like
 * `function m.NAME(`, `local function NAME(` or `NAME = function(`. */
bool jsp_lua_source_names(struct jsp_lua_source *source, const char *chunk, int line,
                          const char *name);

void jsp_lua_source_free(struct jsp_lua_source *source);

#endif
