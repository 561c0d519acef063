/* request.h - the request for a recording: its source, its options, its destination.
 *
 * SPDX-License-Identifier: MIT
 *
 * Our own options have precedence, then JSPROF in the environment, then Sysprof.
 * Functions that return false have explained it to the user in one line on stderr.
 */
#ifndef JSPROF_MOZJS_REQUEST_H
#define JSPROF_MOZJS_REQUEST_H

#include "jsprof.h"
#include "relay.h"

/* Values as the user typed them; nullptr: not given. They are owned and live as long as
 * the process. */
struct profile_options {
    char *output;
    char *hz;
    char *clock;
    char *toggle;
    char *form;
    char *calls; /* only of gjs-console: see counts.h */
    char *threads;
    char *alloc;
    char *tasks;  /* "1": record tasks; "signals": also handlers of signals */
    char *stalls; /* only turns of the loop that take longer, with their tasks */
    bool is_environment; /* JSPROF_HZ and JSPROF_CLOCK */
};

/* The program that asks. */
struct request_program {
    const char *name;  /* for messages */
    bool interactive;  /* GJS_TRACE_FD of Sysprof is ignored at a prompt, as in gjs */
    bool gjs_profiler; /* gjs's own profiler was requested, too */
};

/* The answer. */
struct request {
    jsprof *session;      /* nullptr: no recording */
    relay *passes_on;     /* nullptr: the session writes to a file itself */
    bool toggles;         /* SIGUSR2 stops it and continues it */
    bool begins_stopped;  /* until the first SIGUSR2 */
    bool allocates;       /* allocations are sampled */
    bool has_tasks;       /* tasks are recorded */
    bool has_signals;     /* also handlers of signals */
    bool all_threads;     /* threads without scripts are sampled, too */
    char name[4200];      /* its name in messages: option and path */
};

bool request_open(const profile_options *options, const request_program *program,
                  request *out);

/* Return whether the program prints elsewhere: a capture or a table in the middle of its own
 * output would spoil both. So would "-", the name that other programs have for that. */
bool request_is_apart(const char *program, const char *option, const char *path);

/* Return whether --profile-output, -hz, -clock, -toggle, -form, -threads, -alloc, -tasks and
 * -stalls accept these values. */
bool request_check(const profile_options *options, const char *program);

#endif
