/* serve/push_words.h - the words of requests to engines.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_PUSH_WORDS_H
#define JSP_SERVE_PUSH_WORDS_H

#include <stddef.h>

/* Copy a text into a label: what has a meaning in Pyroscope's names becomes "_". */
void push_word(char *out, size_t size, const char *text);

/* Append one label as `format`, which is a constant, has it. */
void push_label(char *out, size_t size, const char *format, const char *key, const char *value);

/* Read the first line of a file. Return CLI_OK, or CLI_FAILED after a report. */
int push_line_of(const char *path, char *out, size_t size);

#endif
