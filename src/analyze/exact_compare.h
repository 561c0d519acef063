/* analyze/exact_compare.h - a comparison of the exact calls of two captures.
 *
 * SPDX-License-Identifier: MIT
 *
 * Functions are the same if name, file and line are equal. The remaining ones are then
 * matched by name and file, in order, because code above them may have grown. Times are
 * in ns, because each capture has its own clock. One thread.
 */
#ifndef JSP_ANALYZE_EXACT_COMPARE_H
#define JSP_ANALYZE_EXACT_COMPARE_H

#include "analyze/exact.h"

struct jsp_exact_pair {
    /* from the second capture if it is there */
    const struct jsp_exact_function *function;
    bool in_first, in_second;
    struct jsp_exact_cost first, second;       /* in ns */
};

/* List the functions that are not empty in both, the greatest change first. The caller
 * frees *out. Return 0 or -ENOMEM. */
int jsp_exact_compare(struct jsp_exact_pair **out, uint32_t *n, const struct jsp_exact *first,
                      const struct jsp_exact *second, enum jsp_exact_sort by);

#endif
