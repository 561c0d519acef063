/* analyze/weights.h - the weight of each sample: the file jsprof/samples.
 *
 * First every chunk is added, and each of its records is checked; then any number of
 * cursors walk the samples in file order and read each one's record. Records are decoded
 * in place, on demand; a sample without a record has weight 1 and unknown CPU time. One
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_WEIGHTS_H
#define JSP_ANALYZE_WEIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/embedded.h"

struct jsp_weights_block {
    uint64_t first, count; /* ordinals [first, first + count), ascending over blocks */
    const uint8_t *at, *end;
    uint64_t offset; /* of the chunk's frame, for the count of defects */
};

struct jsp_weights {
    struct jsp_weights_block *blocks;
    uint32_t n, capacity;
};

struct jsp_weights_cursor {
    uint32_t block; /* the block that may contain the next sample */
    uint64_t next;  /* ordinal of its next record */
    const uint8_t *at;
};

/* Add one chunk of jsprof/samples, which is borrowed. Returns 0, -ENOMEM or -EBADMSG: it
 * holds a bad record (the blocks before it are added). */
int jsp_weights_add(struct jsp_weights *w, const uint8_t *at, const uint8_t *end,
                    uint64_t offset);

/* The records of a file of blocks: `skip` reads one, which has `least` bytes at least. */
struct jsp_weights_record {
    bool (*skip)(const uint8_t **at, const uint8_t *end);
    uint32_t least;
};

/* Add one block of such a file, with the end and the offset of `chunk`, and move *at after it.
 * Return as jsp_weights_add. */
int jsp_weights_block(struct jsp_weights *w, const uint8_t **at,
                      const struct jsp_weights_block *chunk,
                      const struct jsp_weights_record *record);

/* Begin before the first record. */
void jsp_weights_start(const struct jsp_weights *w, struct jsp_weights_cursor *c);

/* Store the record of sample `ordinal`, which increases by one from call to call. */
void jsp_weights_get(const struct jsp_weights *w, struct jsp_weights_cursor *c,
                     uint64_t ordinal, struct jsp_weight *out);

/* Return the block in which the cursor is at the record of sample `ordinal`, or NULL if that
 * sample has none. The caller reads the record, then steps to the next one. */
const struct jsp_weights_block *jsp_weights_at(const struct jsp_weights *w,
                                               const struct jsp_weights_cursor *c,
                                               uint64_t ordinal);

/* Go to the next record, after the caller has read one. */
void jsp_weights_step(const struct jsp_weights *w, struct jsp_weights_cursor *c);

/* Free the list of blocks. */
void jsp_weights_free(struct jsp_weights *w);

#endif
