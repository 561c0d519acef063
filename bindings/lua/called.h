/* called.h - the names of functions and coroutines that a library in C calls.
 *
 * Only the thread that runs the state calls these, outside of signals.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_CALLED_H
#define JSPROF_LUA_CALLED_H

#include "labels.h"
#include "run.h"

/* Begin to name functions for this run, if nothing did yet. Return 0 or -ENOMEM, or -ENOTSUP. */
int jsp_lua_called_begin(lua_State *L, struct module_run *run);

/* Free the run's part. */
void jsp_lua_called_end(struct module_run *run);

/* Return "name (file:line)" of the function that has `n` arguments above it; of the function that
 * coroutine.wrap made, that of its coroutine. Return NULL for a main chunk or another C function.
 * The text stays until functions with other names take its place: use it at once. */
const char *jsp_lua_called_function(lua_State *L, int n, struct module_run *run);

/* Return the same of the outermost function of a coroutine that is suspended: it has yielded, or
 * has that function and `n` arguments. Return NULL if it has none. */
const char *jsp_lua_called_coroutine(lua_State *co, int n, struct module_run *run);

/* Write the name of the C function that runs now. Return false if it has none. */
bool jsp_lua_called_running(lua_State *L, struct module_run *run, char out[JSP_LUA_NAME]);

#endif
