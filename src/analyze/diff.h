/* analyze/diff.h - a comparison of two profiles, function by function, by share.
 *
 * Recordings differ in length, so this compares shares. Shares also differ by chance,
 * so each change comes with the probability of chance alone. A function is the same in
 * both if its module and its name are, except for the line and column at the name's
 * end. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_DIFF_H
#define JSP_ANALYZE_DIFF_H

#include "functions.h"

struct jsp_diff_side {
    const struct jsp_profile *profile;
    const struct jsp_functions *functions;
};

struct jsp_diff_row {
    const char *name, *module; /* borrowed from either profile */
    uint32_t kind;
    uint64_t self[2], total[2], samples[2]; /* samples of self */
    double share[2], total_share[2];        /* of 1 */
    double chance; /* probability that chance alone changes self this much; 1: always */
    double total_chance; /* the same for total */
};

struct jsp_diff {
    struct jsp_diff_row *rows; /* the largest change of self first */
    uint32_t n;
    uint32_t n_judged; /* rows whose self (or total) is at least JSP_DIFF_LEAST in one */
    uint32_t n_total_judged;
};

/* Shares below a thousandth are not judged. */
#define JSP_DIFF_LEAST 0.001

/* Return the length of the part of a function's name that identifies it in another
 * profile. */
size_t jsp_diff_name(const char *name);

/* Compare both profiles. Return 0 or -ENOMEM. */
int jsp_diff_build(struct jsp_diff *d, const struct jsp_diff_side sides[2]);

/* Free the rows. */
void jsp_diff_free(struct jsp_diff *d);

/* Return true if the change remains unlikely (below 5%) when this many functions are
 * compared: in a table, one row in twenty changes that much by chance. */
bool jsp_diff_is_real(double chance, uint32_t n_judged);

/* Return how many times as many samples would make this change real, or 0 where no number would
 * that makes sense. */
double jsp_diff_times(double chance, uint32_t n_judged);

/* Sort by the change of total share instead. */
void jsp_diff_sort_total(struct jsp_diff *d);

#endif
