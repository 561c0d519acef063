/* analyze/samples.h - an iterator over samples, with all data of each.
 *
 * Callers use it if they need the order or the time of samples; the stacks of a profile hold
 * only their sums. One thread may have several walks at the same time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_SAMPLES_H
#define JSP_ANALYZE_SAMPLES_H

#include "profile.h"
#include "weights.h"

struct jsp_samples {
    const struct jsp_profile *profile;
    struct jsp_read_cursor body;
    struct jsp_weights_cursor weights, states, tasks, labels;
    uint64_t task; /* of the last sample, in its block of jsprof/running */
    uint64_t label; /* the same of jsprof/labels */
    uint64_t ordinal; /* of the next SAMPLE frame */
    uint64_t weight_left, cpu_left; /* larger sums could overflow */
    uint32_t epoch;
    bool is_bytes; /* of allocations */
};

struct jsp_sample {
    struct jsp_read_sample body;
    struct jsp_weight weight;
    struct jsp_read_state state;
    uint64_t task; /* number of the innermost task that ran; 0: none */
    uint64_t labels; /* the same of its labels; see jsp_samples_labels */
    uint64_t ordinal;
    uint32_t ref; /* for jsp_read_rows; 0: its rows are in jsprof/pcs */
    uint32_t epoch; /* for jsp_profile_function */
    /* What a sample of an allocation represents; the weight is the number of blocks. */
    uint64_t bytes;
};

/* Begin a walk. `defects` counts unreadable bodies; NULL: do not count. */
void jsp_samples_start(struct jsp_samples *s, const struct jsp_profile *p,
                       struct jsp_read_defects *defects);

/* Read one sample. Pass every frame of type SAMPLE, in file order, or with a profile of
 * allocations every frame of those. Return false if it is not readable, or not live where the
 * profile measures live bytes. */
bool jsp_samples_take(struct jsp_samples *s, const struct jsp_read_frame *f,
                      struct jsp_sample *out);

/* Return the name of the system call in which a sample of this process sleeps, or of what the
 * host waits for; empty if there is none. */
struct jsp_read_text jsp_samples_detail(const struct jsp_profile *p, const struct jsp_sample *s,
                                        int32_t pid);

/* Store the position of the set of labels of a sample of this process, with those of its task, in
 * labels.sets[] of the profile. Return 0 or -ENOMEM. */
int jsp_samples_labels(struct jsp_profile *p, const struct jsp_sample *s, int32_t pid,
                       uint32_t *set);

/* Return true if an epoch ends here: equal addresses may be other functions
 * afterwards. */
bool jsp_samples_end_epoch(const struct jsp_samples *s);

#endif
