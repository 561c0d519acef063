/* image/table_sort.h - the pieces of a table, by address.
 *
 * Linkers leave nearly all of them in order, yet a large object has a hundred thousand:
 * what is in order costs one look, the rest three passes of a radix sort.
 *
 * Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_TABLE_SORT_H
#define JSP_IMAGE_TABLE_SORT_H

#include <stdint.h>

/* One function's rows. */
struct jsp_table_piece {
    uint32_t start, end; /* from the object's start */
    uint32_t first, n;   /* rows */
};

/* Sort by start; equal ones keep their order. -ENOMEM: nothing has changed. */
int jsp_table_sort(struct jsp_table_piece *pieces, uint32_t n);

#endif
