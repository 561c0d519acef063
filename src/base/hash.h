/* base/hash.h - an index of an array by hash.
 *
 * A jsp_hash finds positions in an array of the caller: it keeps 32 bits of hash beside
 * each position, so most probes end without touching the items; the caller compares the
 * few that remain. Open addressing, never more than half full. The seed is random for
 * each table, so no file can be made in which all keys collide. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_HASH_H
#define JSP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "grow.h"

struct jsp_hash {
    uint64_t *slots; /* hash << 32 | position + 1; 0 is free */
    uint32_t mask;   /* slots - 1, a power of two - 1; 0 with slots NULL: empty */
    uint32_t used;
    uint64_t seed;
};

/* Allocate a table for about `expected` items. Return 0 or -ENOMEM. */
int jsp_hash_init(struct jsp_hash *t, uint32_t expected);

/* Free the table and zero it. A zeroed table may be freed. */
void jsp_hash_free(struct jsp_hash *t);

/* Add the item at `position` with this hash. Return 0 or -ENOMEM; then nothing is added. */
int jsp_hash_add(struct jsp_hash *t, uint32_t hash, uint32_t position);

/* Note that the item at `position` with this hash has moved to `to`. */
void jsp_hash_move(struct jsp_hash *t, uint32_t hash, uint32_t position, uint32_t to);

/* Return position + 1 of the next item with this hash, or 0 at the end. *probe starts as
 * the hash. */
static inline uint32_t jsp_hash_next(const struct jsp_hash *t, uint32_t hash,
                                      uint32_t *probe)
{
    for (;;) {
        uint64_t slot = t->slots[(*probe)++ & t->mask];
        if (slot == 0)
            return 0;
        if (slot >> 32 == hash)
            return (uint32_t)slot;
    }
}

/* Return the hash `h`, continued with one more word. */
static inline uint64_t jsp_hash_mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

/* Hash `n` words at any address, in four independent lanes so that the multiplies
 * overlap. */
uint64_t jsp_hash_words(uint64_t seed, const void *words, size_t n);

/* Hash `n` bytes at any address. */
uint64_t jsp_hash_bytes(uint64_t seed, const void *bytes, size_t n);

#endif
