/* base/grow.h - arrays that grow.
 *
 * An array is a pointer, the number of elements that it has room for, and the number of
 * those in use. The room doubles, so adding n elements one by one copies each of them
 * about once. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_GROW_H
#define JSP_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

/* Make room for `more` elements after the first `n`. `array` is the address of a pointer
 * to elements of `each` bytes. Returns 0 or -ENOMEM; after an error the array is
 * unchanged. */
int jsp_grow_by(void *array, uint32_t *room, uint32_t n, uint32_t more, size_t each);

/* Make room for one more element, like jsp_grow_by. */
static inline int jsp_grow(void *array, uint32_t *room, uint32_t n, size_t each)
{
    return n < *room ? 0 : jsp_grow_by(array, room, n, 1, each);
}

#endif
