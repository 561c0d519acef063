/* heap.h - memory: plain blocks that never fail, and objects that are collected.
 *
 * Mark and sweep. Roots are the globals, the functions' constants and the stack
 * below l->top; a builtin keeps what it makes in args[-1] while it makes more.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_HEAP_H
#define LARK_HEAP_H

#include "lark.h"

/* realloc, or one line on stderr and exit 1. */
void *lark_heap_resize(void *block, size_t bytes);

/* Make room for n items; the capacity at least doubles. */
void *lark_heap_grow(void *block, uint32_t *capacity, uint32_t n, size_t item_bytes);

/* A string of n bytes, still to be filled. May collect. */
struct lark_string *lark_heap_string(struct lark *l, size_t n_bytes);

/* A copy of n bytes. May collect. */
struct lark_string *lark_heap_text(struct lark *l, const char *text, size_t n_bytes);

/* The string of one byte. May collect. */
struct lark_string *lark_heap_letter(struct lark *l, uint8_t byte);

/* An array of n nils. May collect. */
struct lark_array *lark_heap_array(struct lark *l, size_t n);

/* Append. Does not collect. */
void lark_heap_append(struct lark *l, struct lark_array *array, struct lark_value item);

void lark_heap_free_all(struct lark *l);

#endif
