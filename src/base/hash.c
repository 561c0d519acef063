/* base/hash.c - an index of an array by hash.
 *
 * SPDX-License-Identifier: MIT
 */
#include "hash.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

enum { TABLE_LEAST = 64 };

int jsp_hash_init(struct jsp_hash *t, uint32_t expected)
{
    uint64_t size = TABLE_LEAST;
    while (size < 2 * (uint64_t)expected && size < (1u << 31))
        size *= 2;
    uint64_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return -ENOMEM;
    t->slots = slots;
    t->mask = (uint32_t)size - 1;
    t->used = 0;
    /* Without entropy, use the address of the slots. */
    if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != sizeof t->seed)
        t->seed = (uint64_t)(uintptr_t)slots;
    return 0;
}

void jsp_hash_free(struct jsp_hash *t)
{
    free(t->slots);
    memset(t, 0, sizeof *t);
}

static void hash_put(struct jsp_hash *t, uint64_t slot)
{
    uint32_t at = (uint32_t)(slot >> 32);
    while (t->slots[at & t->mask])
        at++;
    t->slots[at & t->mask] = slot;
}

static int hash_double(struct jsp_hash *t)
{
    struct jsp_hash old = *t;
    if (t->mask >= (1u << 31) - 1)
        return -ENOMEM;
    uint64_t *slots = calloc(2 * ((size_t)old.mask + 1), sizeof *slots);
    if (!slots)
        return -ENOMEM;
    t->slots = slots;
    t->mask = 2 * old.mask + 1;
    for (uint64_t i = 0; i <= old.mask; i++)
        if (old.slots[i])
            hash_put(t, old.slots[i]);
    free(old.slots);
    return 0;
}

int jsp_hash_add(struct jsp_hash *t, uint32_t hash, uint32_t position)
{
    if (2 * (uint64_t)t->used > t->mask) {
        int err = hash_double(t);
        if (err < 0)
            return err;
    }
    hash_put(t, (uint64_t)hash << 32 | (position + 1));
    t->used++;
    return 0;
}

void jsp_hash_move(struct jsp_hash *t, uint32_t hash, uint32_t position, uint32_t to)
{
    uint64_t slot = (uint64_t)hash << 32 | (position + 1);
    for (uint32_t at = hash; t->slots[at & t->mask]; at++)
        if (t->slots[at & t->mask] == slot) {
            t->slots[at & t->mask] = (uint64_t)hash << 32 | (to + 1);
            return;
        }
}

static uint64_t hash_word(const uint8_t *at)
{
    uint64_t w;
    memcpy(&w, at, sizeof w);
    return w;
}

uint64_t jsp_hash_words(uint64_t seed, const void *words, size_t n)
{
    const uint8_t *at = words;
    uint64_t lane[4] = { seed, seed ^ 0xA5A5, ~seed, seed + n };
    for (; n >= 4; n -= 4, at += 32)
        for (int i = 0; i < 4; i++)
            lane[i] = jsp_hash_mix(lane[i], hash_word(at + 8 * i));
    for (; n > 0; n--, at += 8)
        lane[0] = jsp_hash_mix(lane[0], hash_word(at));
    uint64_t h = jsp_hash_mix(lane[0], lane[1]);
    return jsp_hash_mix(jsp_hash_mix(h, lane[2]), lane[3]);
}

uint64_t jsp_hash_bytes(uint64_t seed, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t last = 0, h = jsp_hash_words(seed, bytes, n / 8);
    if (n % 8)
        memcpy(&last, at + n / 8 * 8, n % 8);
    return jsp_hash_mix(h, last ^ (uint64_t)n << 56);
}
