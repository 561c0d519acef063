/* native/program.h - what the program is into which the library was loaded: one that records itself
 * better than its C stacks would, or any other one.
 *
 * Before the program's main, on its one thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_NATIVE_PROGRAM_H
#define JSP_NATIVE_PROGRAM_H

#include <stdbool.h>

enum { NATIVE_PATH = 4096 + 32 };

/* A variable of the environment, or NULL. Some libraries, such as SpiderMonkey's, export functions
 * of the names getenv and setenv, so these read and write the array itself. What they add lives as
 * long as the process. */
const char *native_get(const char *name);
void native_rename(const char *name, const char *other);

/* Write the pattern of the capture of this process: for the `first` one of a recording that of
 * JSPROF, and a name beside it for the others. */
void native_place(char path[NATIVE_PATH], bool is_first);

/* Leave a program alone that has the library, a Lua interpreter for which we have a module, and a
 * GJS program, with an environment in which it records itself. JSPROF is set. Return false if it is
 * another one. GJS needs another library from its start: the process executes its program again. */
bool native_leaves(bool is_first, bool is_again);

/* Remove the capture that this process wrote before it executed the program that it runs now. */
void native_remove(const char *pattern);

#endif
