/* analyze/functions.h - a profile by function, or by group of functions: self, total,
 * hottest line.
 *
 * Total counts a stack once for each function on it, however often the function recurs,
 * so no share exceeds the whole. The same holds for groups. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_FUNCTIONS_H
#define JSP_ANALYZE_FUNCTIONS_H

#include "groups.h"
#include "select.h"

enum jsp_sort { JSP_SORT_SELF, JSP_SORT_TOTAL, JSP_SORT_SAMPLES, JSP_SORT_NAME };

struct jsp_function_row {
    uint32_t function; /* or the group; then kind and the line are 0 */
    uint32_t kind; /* the kind of most of its frames, by their part of total */
    uint32_t line; /* the line with most of self; 0: unknown */
    uint32_t file; /* file of that line, in files[]; 0: the one in the name */
    uint64_t line_value;
    /* the part of total in which its innermost frame was compiled code */
    uint64_t jit_total;
    uint64_t self, total; /* in the profile's unit */
    uint64_t self_samples, total_samples;
};

struct jsp_functions {
    struct jsp_function_row *rows;
    uint32_t n;
    uint64_t value, samples, weight; /* of the selected stacks */
    bool has_lines;
    const struct jsp_groups *groups; /* rows are of these; NULL: of functions. Borrowed */
};

/* Build the table of the selected stacks, by function. Return 0 or -ENOMEM. */
int jsp_functions_build(struct jsp_functions *out, struct jsp_profile *p,
                        const struct jsp_select *select);

/* Do the same by group. `groups` is borrowed as long as `out` is used; NULL: by function. */
int jsp_functions_build_by(struct jsp_functions *out, struct jsp_profile *p,
                           const struct jsp_select *select, struct jsp_groups *groups);

/* Return the name of the function or group of a row. */
const char *jsp_functions_name(const struct jsp_functions *f, const struct jsp_profile *p,
                               const struct jsp_function_row *row);

/* Sort the rows. Without memory they stay unsorted, but complete. */
void jsp_functions_sort(struct jsp_functions *f, const struct jsp_profile *p,
                        enum jsp_sort by);

/* Free the rows. */
void jsp_functions_free(struct jsp_functions *f);

#endif
