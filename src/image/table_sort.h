/* image/table_sort.h - a sort of a table's pieces by address.
 *
 * Linkers leave nearly all pieces in order, but a large object has a hundred thousand. A
 * list in order costs one pass; any other costs three passes of a radix sort.
 *
 * Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_TABLE_SORT_H
#define JSP_IMAGE_TABLE_SORT_H

#include <stdint.h>

/* The rows of one function. */
struct jsp_table_piece {
    uint32_t start, end; /* relative to the object's start */
    uint32_t first, n;   /* rows */
};

/* Sort by start; equal ones keep their order. Return 0, or -ENOMEM: nothing has
 * changed. */
int jsp_table_sort(struct jsp_table_piece *pieces, uint32_t n);

#endif
