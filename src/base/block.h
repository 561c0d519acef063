/* base/block.h - memory that is the system's again when it is freed.
 *
 * Reading symbols and unwind tables takes megabytes for some milliseconds. From malloc
 * they would stay in the host's resident memory, below whatever was allocated since; so
 * blocks of JSP_BLOCK_LARGE bytes and more are mappings of their own. Outside the
 * handler only, any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_BLOCK_H
#define JSP_BASE_BLOCK_H

#include <stddef.h>

enum { JSP_BLOCK_LARGE = 1 << 15 };

/* As realloc: `block` NULL makes one; NULL: no memory, and the old one stays. The size is
 * more than 0. */
void *jsp_block_grow(void *block, size_t size);

/* `n` times `each` bytes, all 0; NULL: no memory. */
void *jsp_block_zeros(size_t n, size_t each);

/* NULL is fine. */
void jsp_block_free(void *block);

#endif
