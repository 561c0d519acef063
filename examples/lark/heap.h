/* heap.h - memory: plain blocks, whose allocation never fails, and collected objects.
 *
 * Mark and sweep. Roots are the globals, the functions' constants and the stack
 * below l->top; a builtin keeps what it makes in args[-1] while it makes more.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_HEAP_H
#define LARK_HEAP_H

#include "lark.h"

/* Reallocate, or print one line on stderr and exit with 1. */
void *lark_heap_resize(void *block, size_t bytes);

/* Make room for n items; the capacity at least doubles. */
void *lark_heap_grow(void *block, uint32_t *capacity, uint32_t n, size_t item_bytes);

/* Make a string of n bytes that the caller fills. May collect. */
struct lark_string *lark_heap_string(struct lark *l, size_t n_bytes);

/* Make a string with a copy of n bytes. May collect. */
struct lark_string *lark_heap_text(struct lark *l, const char *text, size_t n_bytes);

/* Return the string of one byte. May collect. */
struct lark_string *lark_heap_letter(struct lark *l, uint8_t byte);

/* Make an array of n nils. May collect. */
struct lark_array *lark_heap_array(struct lark *l, size_t n);

/* Append an item. Does not collect. */
void lark_heap_append(struct lark *l, struct lark_array *array, struct lark_value item);

void lark_heap_free_all(struct lark *l);

#endif
