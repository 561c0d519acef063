/* image/table.h - one object's unwind rows, made from its .eh_frame.
 *
 * The linker leaves the functions in the order of its input; here they are sorted,
 * neighbours that say the same become one row, and what lies between functions gets a
 * row that says "nothing known" (gaps below 16 bytes are padding, which nobody runs).
 * A table shares nothing with the object it was made of.
 *
 * Outside the handler only; the object inside is for it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_TABLE_H
#define JSP_IMAGE_TABLE_H

#include "sigsafe/unwind_map.h"
#include "sigsafe/ehframe.h"

struct jsp_table {
    struct jsp_unwind_object object; /* its memory is owned by the table */
    uint64_t n_states;   /* changes that the programs told: what readelf calls rows */
    uint64_t n_fdes;     /* read */
    uint64_t n_refused;  /* left out: they made no sense, or were not inside the object */
};

/* The table of the executable memory [start, end). A section of n = 0 makes one without
 * rows. -ENOMEM; -EFBIG: over 4 GiB of code; *table is untouched then. */
int jsp_table_build(struct jsp_table *table, const struct jsp_ehframe_section *section,
                    uint64_t start, uint64_t end);

void jsp_table_free(struct jsp_table *table);

#endif
