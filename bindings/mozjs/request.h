/* request.h - who asks for a recording, and where it goes.
 *
 * SPDX-License-Identifier: MIT
 *
 * In this order: our own options, JSPROF in the environment, Sysprof. Functions that
 * return false have told the user why, in one line on stderr.
 */
#ifndef JSPROF_MOZJS_REQUEST_H
#define JSPROF_MOZJS_REQUEST_H

#include "jsprof.h"
#include "relay.h"

/* As typed; nullptr: not given. Owned, lives as long as the process. */
struct profile_options {
    char *output;
    char *hz;
    char *clock;
    char *toggle;
    char *form;
    char *calls; /* of gjs-console only: see counts.h */
    bool is_environment; /* JSPROF_HZ and JSPROF_CLOCK */
};

/* Who is asking us. */
struct request_program {
    const char *name;  /* for messages */
    bool interactive;  /* Sysprof's GJS_TRACE_FD is not for prompts, as in gjs */
    bool gjs_profiler; /* gjs's own profiler was asked for, too */
};

/* The answer. */
struct request {
    jsprof *session;      /* nullptr: nobody asks */
    relay *passes_on;     /* nullptr: the session writes to a file itself */
    bool toggles;         /* SIGUSR2 stops it and lets it go on */
    bool begins_stopped;  /* until the first SIGUSR2 */
    char name[4200];      /* how messages call it: option and path */
};

bool request_open(const profile_options *options, const request_program *program,
                  request *out);

/* Are these values that --profile-output, -hz, -clock, -toggle and -form take? */
bool request_check(const profile_options *options, const char *program);

#endif
