/* recording.h - the one recording that gjs-console can make of its program.
 *
 * SPDX-License-Identifier: MIT
 *
 * There is one per process, because a process ends once: by returning from the
 * script, by exit() somewhere below it, or by a signal. Whichever comes first closes
 * the capture. Functions that return false have told the user why, in one line.
 */
#ifndef JSPROF_MOZJS_RECORDING_H
#define JSPROF_MOZJS_RECORDING_H

#include "options.h"

struct JSContext;

/* Open the capture that the options, or JSPROF in the environment, ask for; nothing
 * is sampled yet. True as well when nobody asks. */
bool recording_open(const struct profile_options *options);

/* Sample this thread and the scripts of cx from now on. */
bool recording_start(JSContext *cx);

/* The script is over: complete the capture, and tell of samples that are missing
 * from it. */
void recording_finish(void);

#endif
