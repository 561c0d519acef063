/* image/table.h - one object's unwind rows, made from its .eh_frame.
 *
 * The linker leaves the functions in the order of its input; here they are sorted, equal
 * neighbours become one row, and each gap between functions gets a row "unknown" (except
 * gaps below 16 bytes, which are padding and never run). A table shares no memory with
 * the object that it was made from.
 *
 * Outside the handler only; the handler reads the object inside.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_TABLE_H
#define JSP_IMAGE_TABLE_H

#include "sigsafe/unwind_map.h"
#include "sigsafe/ehframe.h"

struct jsp_table {
    struct jsp_unwind_object object; /* the table owns its memory */
    uint64_t n_states;   /* state changes in the programs; readelf calls them rows */
    uint64_t n_fdes;     /* FDEs read */
    /* records dropped: they made no sense, or were not inside the object */
    uint64_t n_refused;
};

/* Build the table of the executable memory [start, end). A section of n = 0 makes a table
 * without rows. Return 0, -ENOMEM or -EFBIG (over 4 GiB of code); *table is then
 * untouched. */
int jsp_table_build(struct jsp_table *table, const struct jsp_ehframe_section *section,
                    uint64_t start, uint64_t end);

/* Do the same, but return -ECANCELED once another thread sets *unwanted. */
int jsp_table_build_unless(const _Atomic bool *unwanted, struct jsp_table *table,
                           const struct jsp_ehframe_section *section, uint64_t start,
                           uint64_t end);

/* Free the rows, pages, rules and expressions. */
void jsp_table_free(struct jsp_table *table);

#endif
