/* counts.h - how often each function of a script was called, exactly.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey counts for its coverage report, in its interpreters and in code of its
 * baseline compiler, but not in code of its optimizing compiler. So scripts run without
 * that compiler, and slower. One thread and its context are counted.
 */
#ifndef JSPROF_MOZJS_COUNTS_H
#define JSPROF_MOZJS_COUNTS_H

#include <cstdint>

struct JSContext;

/* Return whether this value of --profile-calls asks for counts in the capture alone. */
bool counts_is_capture_alone(const char *value);

/* Begin before a context is made. `value` is that of --profile-calls; with nullptr the
 * other functions do nothing. Return false, after one line on stderr, if the table can
 * not be written. */
bool counts_open(const char *value, const char *program);

/* Count the scripts of this new context. Call it on the context's thread. */
void counts_begin(JSContext *cx);

/* Return the value for SpiderMonkey's option, which the host wants to set to `value`. */
uint32_t counts_optimizing(uint32_t value);

/* Read the counts of the context, once, and write them into the capture, if there is one,
 * and into the table. Call it on the context's thread before it ends; exit() calls it
 * too. */
void counts_write(void);

#endif
