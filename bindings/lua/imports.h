/* imports.h - the calls that other objects of the process make to a function by its name.
 *
 * An object calls a function of another one through a word that the loader fills. Here such
 * words are replaced in all objects but our own and the one that contains Lua. So this also
 * works with an interpreter that contains its Lua, whose functions no preloaded library
 * replaces.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_IMPORTS_H
#define JSPROF_LUA_IMPORTS_H

#include <stddef.h>
#include <stdint.h>

#include "jsprof.h"

enum { JSP_LUA_IMPORT_NAME = 28 };

/* A function of this name is replaced by ours. */
struct jsp_lua_import {
    const char *name;
    uintptr_t ours;
    uintptr_t theirs; /* only this Lua's, of several in the process; 0: any of this name */
};

/* An object whose calls were replaced. */
struct jsp_lua_importer {
    uintptr_t low, high;            /* its memory */
    char name[JSP_LUA_IMPORT_NAME]; /* of its file: "luv" */
};

/* Find Lua's functions of the list, and hide ours from stacks. Return 0, -ENOTSUP if one is not
 * found, or another negative errno. */
int jsp_lua_imports_begin(struct jsp_lua_import *list, jsprof *session);

/* Replace the calls of all objects that were loaded since the last time. The list ends with an
 * empty name. The replaced words stay until the object is unloaded. */
void jsp_lua_imports_replace(const struct jsp_lua_import *list);

/* Return the object that contains the address, or NULL if its calls were not replaced. */
const struct jsp_lua_importer *jsp_lua_imports_of(uintptr_t address);

#endif
