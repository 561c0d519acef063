/* counts.h - how often each function of a script was called, exactly.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey counts for coverage, and only its interpreters count every call: compiled
 * code stops. So the script runs without compilers, and slower. For gjs-console's main
 * thread.
 */
#ifndef JSPROF_MOZJS_COUNTS_H
#define JSPROF_MOZJS_COUNTS_H

struct JSContext;

/* Before a context is made. False: `path` can not be written, and one line said why.
 * nullptr: nobody asks, and the others do nothing. */
bool counts_open(const char *path);

/* Around making the context, which is to have no compilers. The script sees its
 * environment as it was. */
void counts_before_context(void);
void counts_after_context(JSContext *cx);

/* Write the table: when the script is over, or by exit() from inside. Once. */
void counts_write(void);

#endif
