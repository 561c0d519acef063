/* session/compact.h - samples in the compact form, on their way to jsprof/stacks.
 *
 * The block is appended at every flush, and when it is full; see capture/pack.h. As the
 * output: the drain's, or who holds the session.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_COMPACT_H
#define JSP_SESSION_COMPACT_H

#include "capture/pack.h"
#include "capture/writer.h"
#include "frames.h"
#include "listing.h"

struct jsp_compact {
    struct jsp_pack pack;
    uint32_t waiting; /* samples in the block */
    uint32_t lines[JSP_FRAMES_KEPT], rows[JSP_FRAMES_KEPT];
};

struct jsp_compact *jsp_compact_open(void); /* NULL: no memory */
void jsp_compact_close(struct jsp_compact *c); /* NULL is fine */

/* What a sample is made of. */
struct jsp_compact_sample {
    const struct jsp_record *record;
    const struct jsp_frames *frames;
    const uint64_t *addrs; /* of the frames */
    int32_t tid;
};

/* Into the block. -ENOBUFS: it must be written first, or there is no room for it. */
int jsp_compact_put(struct jsp_compact *c, const struct jsp_writer *w,
                    struct jsp_listings *listings, const struct jsp_compact_sample *s);

/* The block becomes a chunk. -ENOBUFS: it stays. */
int jsp_compact_write(struct jsp_compact *c, struct jsp_writer *w);

/* The samples in the block are given up, and what the file was told of may be, too. */
void jsp_compact_drop(struct jsp_compact *c);

#endif
