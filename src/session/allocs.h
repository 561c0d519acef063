/* session/allocs.h - sampled allocations on their way into the capture: ALLOCATION frames, and
 * jsprof/allocations for what these can not hold.
 *
 * Only the drain uses it, like the output.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALLOCS_H
#define JSP_SESSION_ALLOCS_H

#include "capture/writer.h"
#include "frames.h"

struct jsp_allocs {
    uint64_t every;      /* bytes from one sampled byte to the next, on average */
    uint64_t n;          /* ALLOCATION frames appended, except those of freed blocks */
    uint64_t n_lost;     /* records that the file could not take */
    uint64_t first;      /* ordinal of the first one in `block` */
    uint32_t count, used;
    uint8_t block[1 << 15];
};

struct jsp_allocs_sample {
    const struct jsp_record *record;
    const struct jsp_frames *frames;
    const uint64_t *addrs; /* of the frames */
    int32_t tid;
    uint64_t labels; /* their number; 0: none */
};

/* Append an allocation, or a free with no frames. Return 0 or -ENOBUFS. */
int jsp_allocs_put(struct jsp_allocs *a, struct jsp_writer *w,
                   const struct jsp_allocs_sample *s);

/* Append the block as a chunk. Without room it stays. */
void jsp_allocs_write(struct jsp_allocs *a, struct jsp_writer *w);

/* Count what the buffer still holds as lost: it will be dropped. */
void jsp_allocs_give_up(struct jsp_allocs *a, const struct jsp_writer *w);

/* Return the bytes that a sampled allocation of this size represents. */
uint64_t jsp_allocs_weight(uint64_t bytes, uint64_t every);

#endif
