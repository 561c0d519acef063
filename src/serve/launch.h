/* serve/launch.h - starts a program that records itself: GJS, Lua, or a host that uses the library.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_LAUNCH_H
#define JSP_SERVE_LAUNCH_H

#include <stdbool.h>

#include "remote.h"

struct launch {
    const char *command;          /* for messages */
    const struct remote_ask *ask; /* hz, clock, looker, compact */
    const char *output;           /* the capture, a path */
    bool has_children;            /* also of forks, each with a capture of its own */
    char **words;                 /* the program and its arguments, which end with NULL */
};

/* What a program is, by its name, or by that of the interpreter in its first line. */
enum launch_kind { LAUNCH_HOST, LAUNCH_GJS, LAUNCH_LUA };
enum launch_kind launch_kind(const char *program, char version[8]);

/* Run it and wait for its end. Return its exit status, or 128 and the signal that ended it; 126 or
 * 127 if it could not be started, which is reported. */
int launch_run(const struct launch *l);

#endif
