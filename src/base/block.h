/* base/block.h - memory that goes back to the system when it is freed.
 *
 * Reading symbols and unwind tables takes megabytes for some milliseconds. Memory of
 * malloc would stay resident in the host, below later allocations; so blocks of
 * JSP_BLOCK_LARGE bytes and more are mappings of their own. Outside the handler only, any
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_BLOCK_H
#define JSP_BASE_BLOCK_H

#include <stddef.h>

enum { JSP_BLOCK_LARGE = 1 << 15 };

/* Resize a block like realloc; `block` NULL makes a new one. `size` is more than 0.
 * Return NULL without memory; the old block then stays. */
void *jsp_block_grow(void *block, size_t size);

/* Make room in `array`, the address of a pointer to a block of elements of `each` bytes, for one
 * more after the first `n`. Return 0, or -ENOMEM; the array is then as before. */
int jsp_block_room(void *array, size_t *room, size_t n, size_t each);

/* Return a block of `n` times `each` zero bytes, or NULL without memory. */
void *jsp_block_zeros(size_t n, size_t each);

/* Free a block; NULL is allowed. */
void jsp_block_free(void *block);

#endif
