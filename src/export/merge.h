/* export/merge.h - several captures as one.
 *
 * SPDX-License-Identifier: MIT
 *
 * Frames are read and written anew, in this machine's byte order: tagged addresses,
 * counters and accounts get numbers of their own; a pid that two captures use for
 * different command lines gets a new one in the later; times of captures that do not
 * share a boot are moved, so that their time of day agrees. What has no way to be
 * joined (call tables, listings, a file that both embed) is the first one's, and counted.
 * One thread.
 */
#ifndef JSP_EXPORT_MERGE_H
#define JSP_EXPORT_MERGE_H

#include "analyze/profile.h"
#include "export/sink.h"

struct jsp_merge {
    struct jsp_profile **inputs; /* loaded whole; borrowed */
    uint32_t n;
    struct jsp_sink *out;

    /* After it was written: */
    uint64_t samples;   /* that are in it */
    uint32_t renumbered; /* processes */
    uint32_t moved;      /* captures whose times were moved */
    uint32_t left_out;   /* embedded files that an earlier capture has as well */
};

/* Why these two can not be merged: their samples can not be added up. NULL: they can. */
const char *jsp_merge_refuses(const struct jsp_profile *a, const struct jsp_profile *b);

int jsp_merge_write(struct jsp_merge *m); /* -ENOMEM */

#endif
