/* unit/pool_test.c - src/base/pool.c: each byte string is kept once and found again, near the
 * slot where its hash begins.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/pool.h"

#include "base/block.h"
#include "test.h"

enum { STRINGS = 30000, LONGEST = 40 };

static uint8_t strings[STRINGS][LONGEST];
static uint32_t lengths[STRINGS];
static int64_t places[STRINGS];
static uint64_t seed = 7;

static uint32_t chance(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/* All different: the first four bytes are a number. */
static void invent(uint32_t i)
{
    memcpy(strings[i], &i, sizeof i);
    lengths[i] = (uint32_t)sizeof i + chance(LONGEST - sizeof i);
    for (uint32_t k = sizeof i; k < lengths[i]; k++)
        strings[i][k] = (uint8_t)chance(3);
}

static void done(struct jsp_pool *pool)
{
    jsp_block_free(pool->bytes);
    jsp_block_free(pool->slots);
}

TEST(string_that_was_added_is_found_again_as_it_was)
{
    struct jsp_pool pool = { 0 };
    uint32_t bytes = 0;
    int wrong = 0;
    for (uint32_t i = 0; i < STRINGS; i++) {
        invent(i);
        places[i] = jsp_pool_add(&pool, strings[i], lengths[i]);
        wrong += places[i] != bytes;
        bytes += lengths[i];
        uint32_t old = chance(i + 1);
        wrong += jsp_pool_add(&pool, strings[old], lengths[old]) != places[old];
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(pool.n_bytes, bytes);
    for (uint32_t i = 0; i < STRINGS; i++)
        wrong += memcmp(pool.bytes + places[i], strings[i], lengths[i]) != 0;
    CHECK_EQ(wrong, 0);
    done(&pool);
}

/* Where three of four slots are taken, 2.5 are looked at on average; by a list, thousands. */
TEST(string_is_a_few_slots_after_its_hash)
{
    struct jsp_pool pool = { 0 };
    uint64_t distances = 0;
    for (uint32_t i = 0; i < STRINGS; i++)
        jsp_pool_add(&pool, strings[i], lengths[i]);
    for (uint32_t i = 0; i < pool.n_slots; i++)
        if (pool.slots[i].n)
            distances += (i - pool.slots[i].hash) & (pool.n_slots - 1);
    CHECK_EQ(pool.n_used, STRINGS);
    CHECK(distances < 5 * STRINGS);
    done(&pool);
}

TEST_MAIN()
