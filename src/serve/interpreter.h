/* serve/interpreter.h - Lua interpreters that know nothing of jsprof require our module first.
 *
 * The command does it for the program that it starts, and bindings/native for a process that such
 * a program starts. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_INTERPRETER_H
#define JSP_SERVE_INTERPRETER_H

#include <stdbool.h>

enum { INTERPRETER_VERSION = 8 };

/* Return the name without its folders. */
const char *interpreter_base(const char *path);

/* Is it "lua5.4", "lua54", "luajit-2.1.0"? Store "5.4" or "jit". */
bool interpreter_is_lua(const char *name, char version[INTERPRETER_VERSION]);

/* Let an interpreter of that version, which begins in this process, require our module and then do
 * what the user's LUA_INIT says. `module` is its file; NULL: it lies where interpreters look.
 * Twice is as once. */
void interpreter_lua(const char *version, const char *module);

#endif
