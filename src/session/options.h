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

#endif
