/* base/pool.c - see pool.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pool.h"

#include <errno.h>
#include <string.h>

#include "block.h"

enum { POOL_SLOTS = 64, POOL_MOST = 1 << 28 };

static uint32_t pool_hash(const uint8_t *bytes, uint32_t n)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

/* Return the slot that holds these bytes, or the free one where they belong. */
static struct jsp_pool_slot *pool_slot(const struct jsp_pool *pool, uint32_t hash,
                                       const void *bytes, uint32_t n)
{
    for (uint32_t i = hash;; i++) { /* ends, because a quarter of the slots is free */
        struct jsp_pool_slot *slot = &pool->slots[i & (pool->n_slots - 1)];
        if (!slot->n || (slot->hash == hash && slot->n == n &&
                         memcmp(pool->bytes + slot->at, bytes, n) == 0))
            return slot;
    }
}

static int pool_grow_slots(struct jsp_pool *pool)
{
    struct jsp_pool bigger = *pool;
    bigger.n_slots = pool->n_slots ? pool->n_slots * 2 : POOL_SLOTS;
    bigger.slots = jsp_block_zeros(bigger.n_slots, sizeof *bigger.slots);
    if (!bigger.slots)
        return -ENOMEM;
    for (uint32_t i = 0; i < pool->n_slots; i++) {
        const struct jsp_pool_slot *old = &pool->slots[i];
        if (old->n)
            *pool_slot(&bigger, old->hash, pool->bytes + old->at, old->n) = *old;
    }
    jsp_block_free(pool->slots);
    *pool = bigger;
    return 0;
}

static int pool_grow_bytes(struct jsp_pool *pool, uint32_t n)
{
    if (n > POOL_MOST - pool->n_bytes)
        return -EFBIG;
    uint32_t room = pool->room ? pool->room : 1024;
    while (room - pool->n_bytes < n)
        room *= 2;
    uint8_t *bytes = jsp_block_grow(pool->bytes, room);
    if (!bytes)
        return -ENOMEM;
    pool->bytes = bytes;
    pool->room = room;
    return 0;
}

int64_t jsp_pool_add(struct jsp_pool *pool, const void *bytes, uint32_t n)
{
    int err;
    if (pool->n_used >= pool->n_slots / 4 * 3 && (err = pool_grow_slots(pool)) < 0)
        return err;
    uint32_t hash = pool_hash(bytes, n);
    struct jsp_pool_slot *slot = pool_slot(pool, hash, bytes, n);
    if (slot->n)
        return slot->at;
    if (pool->room - pool->n_bytes < n && (err = pool_grow_bytes(pool, n)) < 0)
        return err;
    *slot = (struct jsp_pool_slot){ hash, pool->n_bytes, n };
    memcpy(pool->bytes + pool->n_bytes, bytes, n);
    pool->n_bytes += n;
    pool->n_used++;
    return slot->at;
}
