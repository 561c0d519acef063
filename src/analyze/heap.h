/* analyze/heap.h - the sampled allocations of a capture: how many, and which are live.
 *
 * First every ALLOCATION frame is added, in file order. A block is live if the last that the
 * capture says about it is that it was allocated. Blocks have numbers of their own in our
 * captures, and addresses, which are used again, in those of others. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_HEAP_H
#define JSP_ANALYZE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/read.h"

struct jsp_heap_event {
    uint64_t block;
    int64_t time;
    int32_t pid;
    uint32_t at;      /* in file order */
    uint32_t ordinal; /* among allocations; UINT32_MAX: it was freed */
};

struct jsp_heap {
    uint64_t n_allocated, n_freed; /* frames */
    uint64_t every; /* bytes from one sampled byte to the next, on average; 0: unknown */
    bool is_live_wanted;           /* set by the caller, before it adds */
    struct jsp_heap_event *events;
    uint32_t n_events, room;
    uint8_t *live; /* by ordinal: a bit for each */
};

/* Add a frame of type ALLOCATION. Return 0, or -ENOMEM (also for more than 2^32 frames, if it
 * is wanted which are live). */
int jsp_heap_add(struct jsp_heap *h, const struct jsp_read *r, const struct jsp_read_frame *f);

/* Find out what is live. Return 0 or -ENOMEM. */
int jsp_heap_seal(struct jsp_heap *h);

/* Is this allocation live? Call it after sealing. */
bool jsp_heap_is_live(const struct jsp_heap *h, uint64_t ordinal);

/* Free what was noted of allocations. */
void jsp_heap_free(struct jsp_heap *h);

#endif
