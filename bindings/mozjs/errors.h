/* errors.h - stacks for errors: what GLib logs as an error, a critical message or a warning.
 *
 * SPDX-License-Identifier: MIT
 *
 * GJS reports uncaught errors of scripts as critical messages or warnings, so they get the stack,
 * too: that of the report, in which the script's frames are those that called it. The place of the
 * throw is in GJS's own text.
 */
#ifndef JSPROF_MOZJS_ERRORS_H
#define JSPROF_MOZJS_ERRORS_H

#include "jsprof.h"

/* Return whether JSPROF_ERRORS=1 asks for stacks. Print a line about any other value but 0. */
bool errors_asked(const char *program);

/* From now on, add its thread's unified stack to such a message: to the text on stderr, or, where
 * GLib writes to the journal, as fields: JSPROF_STACK, JSPROF_STACK_ID and JSPROF_STACK_TIMES.
 * The same stack is written once; a repeat has its number and how often it was. `here` returns
 * the calling thread, or NULL where it is not attached. GLib allows no second writer. Call it
 * once a process. */
void errors_install(jsprof_thread *(*here)(void));

#endif
