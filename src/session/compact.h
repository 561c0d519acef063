/* session/compact.h - the block of compact samples for jsprof/stacks.
 *
 * The block is appended at every flush, and when it is full; see capture/pack.h. Like the
 * output, it belongs to the drain, or to the thread that holds the session.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_COMPACT_H
#define JSP_SESSION_COMPACT_H

#include "capture/writer.h"
#include "fold.h"
#include "frames.h"
#include "listing.h"

struct jsp_compact {
    struct jsp_pack pack;
    struct jsp_fold *fold; /* owned; NULL: each sample is written */
    uint32_t waiting; /* samples in the block */
    uint32_t lines[JSP_FRAMES_KEPT], rows[JSP_FRAMES_KEPT];
};

/* `folds`: equal samples are folded up to the next flush. Return NULL without memory. */
struct jsp_compact *jsp_compact_open(bool folds);

/* Free it. NULL does nothing. */
void jsp_compact_close(struct jsp_compact *c);

/* The parts of a sample. */
struct jsp_compact_sample {
    const struct jsp_record *record;
    const struct jsp_frames *frames;
    const uint64_t *addrs; /* one for each frame */
    int32_t tid;
    uint32_t tally;
    struct jsp_read_state state;
    uint64_t labels;
};

/* Add a sample to the block. Return 0, or -ENOBUFS if the block must be written first or
 * has no room for it at all. */
int jsp_compact_put(struct jsp_compact *c, const struct jsp_writer *w,
                    struct jsp_listings *listings, const struct jsp_compact_sample *s);

/* If the table folds, do this in place of put: add a sample to its row; *is_new: it is the row's
 * first. Return also -ENOSPC: there is no room for its stack. */
int jsp_compact_fold(struct jsp_compact *c, const struct jsp_writer *w,
                     struct jsp_listings *listings, const struct jsp_compact_sample *s,
                     bool *is_new);

/* Add a row to the block as a sample. Errors as put. */
int jsp_compact_row(struct jsp_compact *c, const struct jsp_writer *w,
                    const struct jsp_fold_row *row);

/* Append the block to the writer as a chunk. Return 0, or -ENOBUFS; the block then
 * stays. */
int jsp_compact_write(struct jsp_compact *c, struct jsp_writer *w);

/* Drop the samples of the block, and all rows. Begin a new table of nodes, because the
 * chunks with the old ones may be dropped, too. */
void jsp_compact_drop(struct jsp_compact *c);

#endif
