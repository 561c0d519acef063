/* session/env.h - what the environment asks for. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ENV_H
#define JSP_SESSION_ENV_H

#include "../../include/jsprof.h"

/* Fill path, hz, clock and flags from JSPROF, JSPROF_HZ, JSPROF_CLOCK,
 * JSPROF_COMPACT. 1: asked for; 0: not, or the program is setuid; -EINVAL: malformed. */
int jsp_env_options(jsprof_options *options);

#endif
