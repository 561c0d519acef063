/* export/moments.h - the selected samples, thread by thread and in order of time.
 *
 * For formats with a time axis. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_MOMENTS_H
#define JSP_EXPORT_MOMENTS_H

#include "analyze/calltree.h"

struct jsp_moment {
    int64_t time;
    uint64_t value; /* in the profile's unit */
    uint64_t weight, cpu_ns;
    uint32_t node;    /* in the stacks */
    uint32_t ordinal; /* number among all selected samples, in file order */
    int16_t cpu;
};

struct jsp_moments {
    struct jsp_moment *list; /* of thread t: [first[t], first[t + 1]) */
    uint32_t *first;
    uint32_t n;
};

/* Collect the samples. Return 0, -ENOMEM, or -EOVERFLOW if there are more than 2^32
 * samples. */
int jsp_moments_build(struct jsp_moments *m, struct jsp_profile *p,
                      const struct jsp_calltree *s, const struct jsp_select *select);

/* Store in list[] the nodes of a thread's samples and all their parents, parents first.
 * Return how many. `mark` has a byte for each node, all 0 before and after. */
uint32_t jsp_moments_nodes(const struct jsp_moments *m, const struct jsp_calltree *s,
                           uint32_t thread, uint8_t *mark, uint32_t *list);
void jsp_moments_free(struct jsp_moments *m);

#endif
