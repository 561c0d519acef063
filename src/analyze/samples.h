/* analyze/samples.h - one sample after the other, with all the capture says of it.
 *
 * SPDX-License-Identifier: MIT
 *
 * For those who need the order or the time of samples; the stacks of a profile have
 * them counted. Any number of walks at once, by one thread.
 */
#ifndef JSP_ANALYZE_SAMPLES_H
#define JSP_ANALYZE_SAMPLES_H

#include "analyze/profile.h"
#include "analyze/weights.h"

struct jsp_samples {
    const struct jsp_profile *profile;
    struct jsp_read_cursor body;
    struct jsp_weights_cursor weights;
    uint64_t ordinal; /* of the next SAMPLE frame */
    uint64_t weight_left, cpu_left; /* more than this could not be added up */
    uint32_t epoch;
};

struct jsp_sample {
    struct jsp_read_sample body;
    struct jsp_weight weight;
    uint64_t ordinal;
    uint32_t ref; /* for jsp_read_rows; 0: rows stand in jsprof/pcs */
    uint32_t epoch; /* for jsp_profile_function */
};

/* `defects` counts bodies that are not readable; NULL: nobody does. */
void jsp_samples_start(struct jsp_samples *s, const struct jsp_profile *p,
                       struct jsp_read_defects *defects);

/* Every frame of type SAMPLE goes in, in file order; false: it is not readable. */
bool jsp_samples_take(struct jsp_samples *s, const struct jsp_read_frame *f,
                      struct jsp_sample *out);

/* May the next sample's addresses be other functions than those of the one before? */
bool jsp_samples_end_epoch(const struct jsp_samples *s);

#endif
