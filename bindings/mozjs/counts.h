/* counts.h - how often each function of a script was called, exactly.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey counts for coverage in its interpreters and in what its baseline compiler
 * makes; code of its optimizing compiler does not count. So scripts run without that one,
 * and slower. One thread and its context are counted.
 */
#ifndef JSPROF_MOZJS_COUNTS_H
#define JSPROF_MOZJS_COUNTS_H

#include <cstdint>

struct JSContext;

/* Is this the value of --profile-calls that asks for counts in the capture alone? */
bool counts_is_capture_alone(const char *value);

/* Begin before a context is made; `value` is that of --profile-calls, nullptr: nobody asks,
 * and the other functions do nothing. Return false after one line on stderr where the table
 * can not be written. */
bool counts_open(const char *value, const char *program);

/* Count the scripts of this new context. Call it on the context's thread. */
void counts_begin(JSContext *cx);

/* Return what the host may set SpiderMonkey's option to instead of `value`. */
uint32_t counts_optimizing(uint32_t value);

/* Read the counts of the context, once, and write them into the capture, if there is one,
 * and into the table. On the context's thread, before it ends: exit() does it, too. */
void counts_write(void);

#endif
