/* analyze/walk.h - the samples of a profile in file order, each with its stack.
 *
 * For callers that need the time of samples: exports, timelines. The walk returns exactly
 * the samples that the profile counted, so the values add up to its own. Samples of one
 * thread are in the order of time, those of several threads nearly. One thread; defects
 * were counted when the profile was loaded.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_WALK_H
#define JSP_ANALYZE_WALK_H

#include "samples.h"
#include "select.h"

struct jsp_walk {
    struct jsp_profile *profile;
    const struct jsp_select *select; /* NULL: all */
    struct jsp_read_cursor cursor;
    struct jsp_samples samples;
};

struct jsp_walk_item {
    int64_t time;
    uint32_t stack, thread; /* in the profile */
    int16_t cpu;
    uint64_t value;          /* in the profile's unit */
    uint64_t weight, cpu_ns; /* as in struct jsp_weight */
};

/* Begin before the first sample. */
void jsp_walk_start(struct jsp_walk *w, struct jsp_profile *p,
                    const struct jsp_select *select);

/* Return the next sample of the selected threads. Call jsp_select_frames once for each
 * stack to find out if it counts, and which of its frames. */
bool jsp_walk_next(struct jsp_walk *w, struct jsp_walk_item *out);

#endif
