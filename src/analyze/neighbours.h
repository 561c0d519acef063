/* analyze/neighbours.h - one function with its callers, its self and its callees.
 *
 * Each stack counts once, also under recursion: for the caller of the function's outermost
 * frame and for the callee of its innermost frame. So the callers' values add up to the
 * total, and so do the callees' values plus self. Several functions of one name are
 * merged. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_NEIGHBOURS_H
#define JSP_ANALYZE_NEIGHBOURS_H

#include "select.h"

struct jsp_neighbour {
    uint32_t function; /* UINT32_MAX: the function was outermost */
    uint64_t value, samples;
};

struct jsp_neighbours {
    struct jsp_neighbour *callers, *callees; /* the largest first */
    uint32_t n_callers, n_callees;
    uint32_t function;  /* one function of that name; UINT32_MAX: there is none */
    uint32_t n_of_name; /* number of functions of that name */
    uint64_t self, total, self_samples, total_samples;
    uint64_t value, samples; /* of all selected stacks */
};

/* jsp_filter_names decides which functions match `name`. Return 0 or -ENOMEM. */
int jsp_neighbours_build(struct jsp_neighbours *out, struct jsp_profile *p,
                         const struct jsp_select *select, const char *name);

/* Free the rows. */
void jsp_neighbours_free(struct jsp_neighbours *n);

#endif
