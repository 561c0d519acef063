/* export/merge.h - joins several captures into one.
 *
 * All frames are read and written again, in this machine's byte order. Tagged addresses,
 * counters and accounts get new numbers. If two captures use one pid for different
 * command lines, the later one gets a new pid. If two captures do not share a boot, the
 * times of the later one are moved so that the times of day agree. What cannot be joined
 * (call tables, listings, a file that both embed) is taken from the first capture and
 * counted as left out of the others. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_MERGE_H
#define JSP_EXPORT_MERGE_H

#include "analyze/profile.h"
#include "sink.h"

struct jsp_merge {
    struct jsp_profile **inputs; /* completely loaded; borrowed */
    uint32_t n;
    struct jsp_sink *out;

    /* Results, valid after the merge was written: */
    uint64_t samples;   /* samples written */
    uint32_t renumbered; /* processes that got a new pid */
    uint32_t moved;      /* captures whose times were moved */
    uint32_t left_out;   /* embedded files left out because an earlier capture has them */
};

/* Return why the samples of these two captures cannot be added up, or NULL if they
 * can. */
const char *jsp_merge_refuses(const struct jsp_profile *a, const struct jsp_profile *b);

/* Write the merged capture. Return 0 or -ENOMEM. */
int jsp_merge_write(struct jsp_merge *m);

#endif
