/* base/hash.h - arrays that grow, text that stays, and an index by hash.
 *
 * SPDX-License-Identifier: MIT
 *
 * A jsp_hash finds positions in somebody's array: it keeps 32 bits of hash beside
 * each position, so most probes end without touching the items; the caller compares
 * the few that remain. Open addressing, never more than half full. The seed is
 * random for each table, so no file can be written to make every key collide. One thread.
 */
#ifndef JSP_BASE_HASH_H
#define JSP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct jsp_hash {
    uint64_t *slots; /* hash << 32 | position + 1; 0 is free */
    uint32_t mask;   /* slots - 1, a power of two - 1; 0 with slots NULL: empty */
    uint32_t used;
    uint64_t seed;
};

int jsp_hash_init(struct jsp_hash *t, uint32_t expected); /* -ENOMEM */
void jsp_hash_free(struct jsp_hash *t);
int jsp_hash_add(struct jsp_hash *t, uint32_t hash, uint32_t position); /* -ENOMEM */

/* The item at `position` with this hash now stands at `to`. */
void jsp_hash_move(struct jsp_hash *t, uint32_t hash, uint32_t position, uint32_t to);

/* Walk the candidates of a hash: *probe starts as the hash; returns position + 1 of
 * the next one whose hash is equal, 0 at the end. */
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

static inline uint64_t jsp_hash_mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

/* `n` words at any address, in four independent lanes so that the multiplies overlap. */
uint64_t jsp_hash_words(uint64_t seed, const void *words, size_t n);
uint64_t jsp_hash_bytes(uint64_t seed, const void *bytes, size_t n);

/* Room for one more of `each` bytes behind `n`; NULL: no memory, `items` still valid. */
void *jsp_grow(void *items, uint32_t *capacity, uint32_t n, size_t each);

/* Text that lives until the store is freed. */
struct jsp_store {
    struct jsp_store_block *blocks;
    size_t left;
    char *next;
};

char *jsp_store_text(struct jsp_store *s, const char *text,
                     size_t len); /* NULL: no memory */
void jsp_store_free(struct jsp_store *s);

#endif
