/* session/explain.h - what an error number can not say: which variable, which value, which
 * file, and what is allowed. Any thread; nothing here waits.
 *
 * One sentence is kept for the whole process, with its error and its thread. Where two
 * threads fail at once, one of them has to do with what the number says.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_EXPLAIN_H
#define JSP_SESSION_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Keep the sentence for `err`, cut where it is very long; returns `err`. */
int jsp_explain(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The calling thread begins something new. */
void jsp_explain_nothing(void);

/* Copy the sentence that this thread has for `err`. False: it has none. */
bool jsp_explained(int err, char *text, size_t size);

#endif
