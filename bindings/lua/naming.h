/* naming.h - how frames show Lua functions: a label for each, made when it is first seen.
 *
 * A function is named after the variable or field that receives it where it is made. So
 * the binding searches the code of the function that makes it; see docs/lua.md. If neither
 * that nor the call names the function, an upvalue that holds it does. The walkers call
 * this, under walk.h's rules.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_NAMING_H
#define JSPROF_LUA_NAMING_H

#include "proto.h"
#include "walk.h"

/* Begin a walk, and renew its limit of searches. */
void jsp_lua_naming_begin(struct jsp_lua_walker *w);

/* Return the label, or NULL if the function was not seen before. */
const struct jsp_lua_label *jsp_lua_naming_find(struct jsp_lua_walker *w,
                                                const struct jsp_lua_proto *p);

/* Return whether the search found an upvalue that holds this function, the wanted one. */
bool jsp_lua_naming_has_upvalue(const struct jsp_lua_walker *w, const struct jsp_lua_proto *p);

/* Add a label of this name. If `name` is NULL, the label has the upvalue's name, or else
 * describes the function. */
const struct jsp_lua_label *jsp_lua_naming_add(struct jsp_lua_walker *w,
                                               const struct jsp_lua_proto *p, const char *name);

/* Return the label of a C function (or of the number of one of LuaJIT's). If it has none
 * yet, give it this name. */
const struct jsp_lua_label *jsp_lua_naming_c(struct jsp_lua_walker *w, uintptr_t c,
                                             const char *name);

/* Begin to search the name of this function. */
void jsp_lua_naming_want(struct jsp_lua_walker *w, const struct jsp_lua_proto *p);

/* Name the functions that this Lua function makes, and those that they make, each once.
 * Look for the wanted function in its upvalues, and in the upvalues of those. */
void jsp_lua_naming_search(struct jsp_lua_walker *w, const struct jsp_lua_function *f);

/* Return whether this is the wrapper that carries a label of the program. */
bool jsp_lua_naming_is_wrapper(struct jsp_lua_walker *w, const struct jsp_lua_proto *p);

/* Name a function before a sample meets it. */
void jsp_lua_naming_given(struct jsp_lua_walker *w, const struct jsp_lua_function *f,
                          const char *name);

#endif
