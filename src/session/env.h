/* session/env.h - what the environment asks for. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ENV_H
#define JSP_SESSION_ENV_H

#include "jsprof.h"

/* Fill path, hz, clock and flags from JSPROF, JSPROF_HZ, JSPROF_CLOCK, JSPROF_COMPACT,
 * JSPROF_CHILDREN. 1: asked for; 0: not, or the program is setuid; -EINVAL: malformed, and
 * explained. */
int jsp_env_options(jsprof_options *options);

/* The folder of a relative JSPROF: where the process was when this library was loaded, for
 * the variable was given before. NULL: JSPROF is
 * absolute, or the host has set it since. */
const char *jsp_env_folder(void);

#endif
