/* export/utf8.h - names from a capture as UTF-8, whatever their bytes are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_UTF8_H
#define JSP_EXPORT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/utf8.h"

/* Write the bytes of a character. Return how many. */
size_t jsp_utf8_put(char out[4], uint32_t character);

/* Does the character move the cursor, change colours, or reorder or hide the text around
 * it? Such are control characters, direction overrides and characters without width. */
bool jsp_utf8_is_harmful(uint32_t character);

#endif
