/* recording.h - the one recording that a process can make of its scripts.
 *
 * SPDX-License-Identifier: MIT
 *
 * There is one per process, because a process ends once: by a return from the script, by
 * exit() somewhere below it, or by a signal. Whichever comes first closes the capture.
 * Functions that return false have explained it to the user in one line.
 */
#ifndef JSPROF_MOZJS_RECORDING_H
#define JSPROF_MOZJS_RECORDING_H

#include "request.h"

struct JSContext;

/* Open the capture if one was requested; sampling has not begun yet. Return true also
 * without a request. Call it once a process. */
bool recording_open(const profile_options *options, const request_program *program);

/* Return whether there is a recording, from recording_open to its end. */
bool recording_is_open(void);

/* Sample this thread under this name, and the scripts of its cx, from now on. The first
 * thread begins the recording. */
bool recording_start(JSContext *cx, const char *thread);

/* If all threads were requested, sample the calling thread under this name, too, until it
 * ends. It runs no scripts. */
void recording_join_native(const char *name);

/* The calls of one function of this thread's scripts. */
struct recording_calls {
    const char *name;
    const char *file;
    uint32_t line; /* 0: not known */
    uint64_t calls;
};

/* Write exact counts into the capture; recording_count writes those of one function. Both
 * do nothing if this thread is not recorded. They return the results of jsprof_calls_set
 * and jsprof_function_new. */
int recording_count_begin(void);
int recording_count(const recording_calls *row);
/* Return the name that is shown for the file of a function: row->file, or one of a comment
 * `//# sourceURL` in evaluated code, if it is recorded. */
const char *recording_shown_file(const recording_calls *row);

/* Report the objects of a realm that this thread's context has just got, if allocations are
 * sampled. */
void recording_add_realm(void);

/* This thread's realms are about to end: what they created and did not free stays live. */
void recording_end_allocations(void);

/* Return whether tasks are to be recorded; and the calling thread, with its context, where they
 * are, else nullptr. Either function of jsprof_task does nothing for nullptr. */
bool recording_has_tasks(void);
bool recording_has_signals(void); /* handlers of signals, too */
jsprof_thread *recording_tasks(JSContext **cx);

/* Write the name that gjs gives to the C function that the script calls right now, as
 * "GLib.timeout_add", and return true; or "callback", and return false. */
bool recording_doing(char *out, size_t size);

/* Write a mark or a counter of this group, a constant, as jsprof_mark and
 * jsprof_counter_set_real do. They do nothing without a recording; stats count the marks
 * that did not fit. */
void recording_mark(const char *group, uint64_t begin_ns, const char *name, const char *message);
void recording_counter(const char *group, const char *name, double value);

/* tasks.cpp: hide what calls the scheduled functions. */
int tasks_hide(jsprof *session);

/* Return this thread's thread of the session, or nullptr. */
jsprof_thread *recording_here(void);

/* Stop recording this thread: its scripts have ended. */
void recording_leave(void);

/* All scripts have ended: complete the capture, and print a line if samples are missing
 * from it. */
void recording_finish(void);

#endif
