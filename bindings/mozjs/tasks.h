/* tasks.h - tasks of JavaScript functions that C calls, for tasks.cpp and signals.cpp.
 *
 * SPDX-License-Identifier: MIT
 *
 * gjs has an object for each such function, and C calls gjs with it.
 */
#ifndef JSPROF_MOZJS_TASKS_H
#define JSPROF_MOZJS_TASKS_H

#include "jsprof.h"

/* Our code between a C library, or the engine, and the script; reports hide it. */
#define TASKS_GLUE __attribute__((section("jsprof_tasks"), noinline))

/* Make a task of the object's function. Its kind is what the C function is called that the script
 * calls now, or `kind` unless that is nullptr. Return whether the function is a task now. */
bool tasks_schedule(const void *object, const char *kind);

/* Return the object's task, or 0. */
jsprof_task tasks_of(const void *object);

/* The object is freed. */
void tasks_forget(const void *object);

#endif
