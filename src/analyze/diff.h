/* analyze/diff.h - two profiles, function by function, by share.
 *
 * SPDX-License-Identifier: MIT
 *
 * Recordings differ in length and in luck: shares are compared, each with what chance
 * does to it. A function is the same in both when its name is, but for the line and
 * column at the name's end, and its module. One thread.
 */
#ifndef JSP_ANALYZE_DIFF_H
#define JSP_ANALYZE_DIFF_H

#include "analyze/functions.h"

struct jsp_diff_side {
    const struct jsp_profile *profile;
    const struct jsp_functions *functions;
};

struct jsp_diff_row {
    const char *name, *module; /* borrowed from either profile */
    uint32_t kind;
    uint64_t self[2], total[2], samples[2]; /* samples of self */
    double share[2], total_share[2];        /* of 1 */
    double chance;       /* how often chance alone does as much to self; 1: always */
    double total_chance; /* the same of total */
};

struct jsp_diff {
    struct jsp_diff_row *rows; /* the largest change of self first */
    uint32_t n;
    uint32_t n_judged; /* rows whose self, or total, is at least JSP_DIFF_LEAST of one */
    uint32_t n_total_judged;
};

/* Shares below a thousandth are not worth judging. */
#define JSP_DIFF_LEAST 0.001

/* How much of a function's name says that it is the same one in the other profile. */
size_t jsp_diff_name(const char *name);

int jsp_diff_build(struct jsp_diff *d, const struct jsp_diff_side sides[2]); /* -ENOMEM */
void jsp_diff_free(struct jsp_diff *d);

/* Changes that remain unlikely (below 5%) when as many functions as this are looked at:
 * in a whole table one in twenty has one such row by chance. */
bool jsp_diff_is_real(double chance, uint32_t n_judged);

/* By the change of total share instead. */
void jsp_diff_sort_total(struct jsp_diff *d);

#endif
