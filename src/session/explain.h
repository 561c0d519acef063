/* session/explain.h - explanations that an error number cannot give: the variable, the
 * value, the file, and the allowed values. Any thread; no function waits.
 *
 * The process keeps one sentence, with its error and its thread. If two threads fail at
 * the same time, one of them has only the text of its error number.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_EXPLAIN_H
#define JSP_SESSION_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* Keep the sentence for `err`; a very long one is cut. Return `err`. */
int jsp_explain(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Drop the calling thread's sentence, because it begins a new call. */
void jsp_explain_nothing(void);

/* Copy this thread's sentence for `err`. Return false if it has none. */
bool jsp_explained(int err, char *text, size_t size);

#endif
