/* recording.h - the one recording that a process can make of its scripts.
 *
 * SPDX-License-Identifier: MIT
 *
 * There is one per process, because a process ends once: by returning from the
 * script, by exit() somewhere below it, or by a signal. Whichever comes first closes
 * the capture. Functions that return false have told the user why, in one line.
 */
#ifndef JSPROF_MOZJS_RECORDING_H
#define JSPROF_MOZJS_RECORDING_H

#include "request.h"

struct JSContext;

/* Open the capture that somebody asks for; nothing is sampled yet. True as well when
 * nobody asks. Once a process. */
bool recording_open(const profile_options *options, const request_program *program);

/* Is there one, from recording_open to its end? */
bool recording_is_open(void);

/* Sample this thread, named so, and the scripts of its cx from now on. The first thread
 * begins the recording. */
bool recording_start(JSContext *cx, const char *thread);

/* How often one function of this thread's scripts was called. */
struct recording_calls {
    const char *name;
    const char *file;
    uint32_t line; /* 0: not known */
    uint64_t calls;
};

/* Write exact counts into the capture, which recording_count does for one function. Both do
 * nothing where this thread is not recorded. They return what jsprof_calls_set and
 * jsprof_function_new do. */
int recording_count_begin(void);
int recording_count(const recording_calls *row);

/* A mark and a counter of the group JavaScript, as jsprof_mark and jsprof_counter_set_real. They
 * do nothing where nothing is recorded; stats count what did not fit. */
void recording_mark(uint64_t begin_ns, const char *name, const char *message);
void recording_counter(const char *name, double value);

/* This thread's scripts are over. */
void recording_leave(void);

/* All scripts are over: complete the capture, and tell of samples that are missing
 * from it. */
void recording_finish(void);

#endif
