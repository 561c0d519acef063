/* session/options.h - the options of a session: their ranges and defaults, and their names in
 * text. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_OPTIONS_H
#define JSP_SESSION_OPTIONS_H

#include "jsprof.h"

/* The size that hosts know which were compiled with the oldest header. */
enum { JSP_OPTIONS_OLDEST = offsetof(jsprof_options, fd) + sizeof(int) };

/* Replace each number that is 0 by its default, and check all. -EINVAL, which is explained:
 * a value is out of range. */
int jsp_options_complete(jsprof_options *o);

/* See jsprof_options_set. */
int jsp_options_set(jsprof_options *o, const char *name, const char *value);

/* -- env.c: options from the environment */

/* Return the value of a variable, or NULL if it is unset or empty, or if the program has
 * additional privileges. */
const char *jsp_env_get(const char *name);

/* Fill path, hz, clock, alloc, max_depth and flags from JSPROF, JSPROF_HZ, JSPROF_CLOCK,
 * JSPROF_COMPACT, JSPROF_CHILDREN, JSPROF_ALLOC, JSPROF_DEPTH, JSPROF_NO_THREAD,
 * JSPROF_SOURCE, JSPROF_SCHED and JSPROF_CONTROL, and the options of continuous mode. Return
 * 1 if JSPROF or JSPROF_CONTINUOUS is set or JSPROF_CONTROL is 1, 0 if not or if the program is
 * setuid, and -EINVAL for a malformed value, with an explanation. */
int jsp_env_options(jsprof_options *options);

/* Store JSPROF_CALLS as modes for jsprof_calls_set, 0 if it is unset. Return 0, or -EINVAL for
 * a malformed value, with an explanation. */
int jsp_env_calls(uint32_t *modes);

/* Return the folder of a relative JSPROF or JSPROF_CONTINUOUS: the current one when this library
 * was loaded, because the variable was set before. Return NULL if it is absolute, or the host has
 * set it since. */
const char *jsp_env_folder(void);

#endif
