/* base/grow.h - arrays that grow.
 *
 * An array is a pointer, the elements there is room for, and those that are used. Room doubles,
 * so adding n elements one by one copies each of them about once. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_GROW_H
#define JSP_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

/* Make room in `array`, the address of a pointer to elements of `each` bytes, for `more`
 * elements after the `n` that it has. 0; -ENOMEM: the array is as before. */
int jsp_grow_by(void *array, uint32_t *room, uint32_t n, uint32_t more, size_t each);

/* The same for one element. */
static inline int jsp_grow(void *array, uint32_t *room, uint32_t n, size_t each)
{
    return n < *room ? 0 : jsp_grow_by(array, room, n, 1, each);
}

#endif
