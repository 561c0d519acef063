/* serve/launch.h - starts a program so that it is recorded: GJS, Lua, a host that uses the library,
 * or any other one, whose C stacks a preloaded library samples.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_LAUNCH_H
#define JSP_SERVE_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "remote.h"

enum { LAUNCH_NOT_RUN = 126, LAUNCH_NOT_FOUND = 127, LAUNCH_SIGNAL = 128 };

struct launch {
    const char *command;          /* for messages */
    const struct remote_ask *ask; /* hz, clock, looker, compact */
    const char *output;           /* the capture, a path */
    bool has_children;            /* also of forks, each with a capture of its own */
    char **words;                 /* the program and its arguments, which end with NULL */
};

/* Run it. Return its process, or -1 after a report. */
pid_t launch_begin(const struct launch *l);

/* Wait for its end. Return its exit status, or 128 and the signal that ended it; 126 or 127 if it
 * could not be started, which is reported. */
int launch_end(pid_t child);

#endif
