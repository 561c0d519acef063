/* analyze/exact_compare.h - exact calls of two captures, function beside function.
 *
 * SPDX-License-Identifier: MIT
 *
 * Functions are the same when name, file and line are; those that are left then, when
 * name and file are, in order: code above them may have grown. Times are in ns, for the
 * two have clocks of their own. One thread.
 */
#ifndef JSP_ANALYZE_EXACT_COMPARE_H
#define JSP_ANALYZE_EXACT_COMPARE_H

#include "analyze/exact.h"

struct jsp_exact_pair {
    const struct jsp_exact_function *function; /* of the second where it is there */
    bool in_first, in_second;
    struct jsp_exact_cost first, second;       /* in ns */
};

/* Those that are not empty in both, the greatest change first; free() it. -ENOMEM. */
int jsp_exact_compare(struct jsp_exact_pair **out, uint32_t *n, const struct jsp_exact *first,
                      const struct jsp_exact *second, enum jsp_exact_sort by);

#endif
