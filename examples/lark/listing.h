/* listing.h - a function's bytecode as text, for people and for the profiler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_LISTING_H
#define LARK_LISTING_H

#include "lark.h"

#include <jsprof.h>

struct lark_listing {
    jsprof_listing_row *rows; /* owned, one per operation */
    char *texts;              /* owned; the rows borrow from it */
    uint64_t *targets;        /* owned; the rows borrow from it */
};

void lark_listing_make(struct lark_listing *out, const struct lark *l,
                       const struct lark_function *f);
void lark_listing_free(struct lark_listing *listing);

#endif
