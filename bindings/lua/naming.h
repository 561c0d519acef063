/* naming.h - how frames show Lua functions: a label for each, made when it is first seen.
 *
 * A function is named by what it is put into where it is made, so the code of whoever made
 * it is looked through; see docs/lua.md. Called by the walkers, under walk.h's rules.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_NAMING_H
#define JSPROF_LUA_NAMING_H

#include "proto.h"
#include "walk.h"

/* A walk begins: what it may look through is bounded. */
void jsp_lua_naming_begin(struct jsp_lua_walker *w);

/* NULL: not seen before. */
const struct jsp_lua_label *jsp_lua_naming_find(struct jsp_lua_walker *w,
                                                const struct jsp_lua_proto *p);

/* A label of this name; NULL: for want of one, what it is. */
const struct jsp_lua_label *jsp_lua_naming_add(struct jsp_lua_walker *w,
                                               const struct jsp_lua_proto *p, const char *name);

/* The label of a C function (or of the number that stands for one); where it has none yet,
 * this name becomes it. */
const struct jsp_lua_label *jsp_lua_naming_c(struct jsp_lua_walker *w, uintptr_t c,
                                             const char *name);

/* Names the functions that this one makes, and those that they make; each once. */
void jsp_lua_naming_search(struct jsp_lua_walker *w, const struct jsp_lua_proto *p);

/* Is it the wrapper that stands behind a label of the program's? */
bool jsp_lua_naming_is_wrapper(struct jsp_lua_walker *w, const struct jsp_lua_proto *p);

/* Names a function before it is seen. */
void jsp_lua_naming_given(struct jsp_lua_walker *w, const struct jsp_lua_function *f,
                          const char *name);

#endif
