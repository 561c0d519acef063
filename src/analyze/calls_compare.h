/* analyze/calls_compare.h - exact calls of two captures, function beside function.
 *
 * SPDX-License-Identifier: MIT
 *
 * Functions are the same when name, file and line are; those that are left then, when
 * name and file are, in order: code above them may have grown. Times are in ns, for the
 * two have clocks of their own. One thread.
 */
#ifndef JSP_ANALYZE_CALLS_COMPARE_H
#define JSP_ANALYZE_CALLS_COMPARE_H

#include "analyze/calls.h"

struct jsp_calls_pair {
    const struct jsp_calls_function *function; /* of the second where it is there */
    bool in_first, in_second;
    struct jsp_calls_cost first, second;       /* in ns */
};

/* Those that are not empty in both, the greatest change first; free() it. -ENOMEM. */
int jsp_calls_compare(struct jsp_calls_pair **out, uint32_t *n, const struct jsp_calls *first,
                      const struct jsp_calls *second, enum jsp_calls_sort by);

#endif
