/* session/env.h - options from the environment. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ENV_H
#define JSP_SESSION_ENV_H

#include "jsprof.h"

/* Fill path, hz, clock and flags from JSPROF, JSPROF_HZ, JSPROF_CLOCK, JSPROF_COMPACT and
 * JSPROF_CHILDREN. Return 1 if JSPROF is set, 0 if not or if the program is setuid, and
 * -EINVAL for a malformed value, with an explanation. */
int jsp_env_options(jsprof_options *options);

/* Return the folder of a relative JSPROF: the current one when this library was loaded,
 * because the variable was set before. Return NULL if JSPROF is absolute, or the host has
 * set it since. */
const char *jsp_env_folder(void);

#endif
