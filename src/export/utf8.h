/* export/utf8.h - names from a capture as UTF-8, whatever their bytes are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_UTF8_H
#define JSP_EXPORT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JSP_UTF8_REPLACEMENT = 0xFFFD };

/* Return the character at `at`, of `n` > 0 bytes, and store how many of them it takes.
 * Bytes that are not UTF-8 (overlong forms, surrogates and numbers beyond Unicode too)
 * become one replacement character for each run that could have been the start of one. */
uint32_t jsp_utf8_next(const unsigned char *at, size_t n, size_t *used);

/* Write the bytes of a character. Return how many. */
size_t jsp_utf8_put(char out[4], uint32_t character);

/* Does the character move the cursor, change colours, or reorder or hide the text around
 * it? Such are control characters, direction overrides and characters without width. */
bool jsp_utf8_is_harmful(uint32_t character);

#endif
