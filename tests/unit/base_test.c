/* unit/base_test.c - src/base: arrays grow and keep what they have, a bisection finds each
 * place, an index finds each item among colliding ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/block.h"
#include "base/grow.h"
#include "base/hash.h"
#include "test.h"

TEST(an_array_keeps_its_items_when_it_grows)
{
    uint32_t *list = NULL, room = 0, n = 0;
    while (n < 1000 && CHECK_EQ(jsp_grow(&list, &room, n, sizeof *list), 0)) {
        list[n] = n * 7;
        n++;
    }
    CHECK(room >= 1000 && room < 2048);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < n; i++)
        wrong += list[i] != i * 7;
    CHECK_EQ(wrong, 0);
    CHECK_EQ(jsp_grow_by(&list, &room, n, 5000, sizeof *list), 0);
    CHECK(room >= 6000);
    CHECK_EQ(list[999], 999 * 7);
    uint32_t before = room;
    CHECK_EQ(jsp_grow_by(&list, &room, n, room - n, sizeof *list), 0); /* exactly full */
    CHECK_EQ(room, before);
    free(list);
}

TEST(an_array_that_can_not_grow_is_as_before)
{
    uint8_t *list = malloc(4), *same = list;
    uint32_t room = 1u << 31;
    CHECK_EQ(jsp_grow_by(&list, &room, 1u << 31, 1u << 31, 1), -ENOMEM); /* 2^32 items */
    CHECK(list == same);
    CHECK_EQ(room, 1u << 31);
    room = 4;
    CHECK_EQ(jsp_grow_by(&list, &room, 4, 1, SIZE_MAX / 16), -ENOMEM);
    CHECK(list == same);
    CHECK_EQ(room, 4);
    free(list);
}

TEST(an_array_of_blocks_keeps_its_items_from_malloc_into_a_mapping)
{
    uint64_t *list = NULL, wrong = 0;
    size_t room = 0, n = 0;
    while (n < 20000 && CHECK_EQ(jsp_block_room(&list, &room, n, sizeof *list), 0)) {
        list[n] = n * 7;
        n++;
    }
    for (size_t i = 0; i < n; i++)
        wrong += list[i] != i * 7;
    CHECK_EQ(wrong, 0);
    CHECK(room >= n && room < 2 * n + 512);
    uint64_t *same = list;
    size_t before = room;
    CHECK_EQ(jsp_block_room(&list, &room, room, SIZE_MAX / 2 / room), -ENOMEM);
    CHECK(list == same);
    CHECK_EQ(room, before);
    jsp_block_free(list);
}

struct item {
    uint32_t other;
    uint64_t number;
};

TEST(a_bisection_finds_each_place)
{
    struct item items[] = { { 9, 2 }, { 9, 4 }, { 9, 4 }, { 9, 6 }, { 9, UINT64_MAX } };
    const struct {
        uint64_t key;
        size_t below, up_to;
    } wants[] = { { 0, 0, 0 }, { 2, 0, 1 }, { 3, 1, 1 }, { 4, 1, 3 },
                  { 5, 3, 3 }, { 7, 4, 4 }, { UINT64_MAX, 4, 5 } };
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        struct jsp_bisect_number than = { offsetof(struct item, number), wants[i].key };
        CHECK_EQ(jsp_bisect_below(items, 5, sizeof *items, than), wants[i].below);
        CHECK_EQ(jsp_bisect_up_to(items, 5, sizeof *items, than), wants[i].up_to);
        CHECK_EQ(jsp_bisect_up_to(NULL, 0, sizeof *items, than), 0);
    }
}

TEST(an_index_finds_each_item_among_those_of_one_hash)
{
    struct jsp_hash t;
    if (!CHECK_EQ(jsp_hash_init(&t, 0), 0))
        return;
    for (uint32_t i = 0; i < 200; i++)
        CHECK_EQ(jsp_hash_add(&t, i % 2 ? 0xFFFFFFFF : 5, i), 0);
    uint32_t probe = 0xFFFFFFFF, at, n = 0;
    while ((at = jsp_hash_next(&t, 0xFFFFFFFF, &probe)) != 0)
        n += (at - 1) % 2;
    CHECK_EQ(n, 100);
    jsp_hash_move(&t, 5, 0, 1000);
    probe = 5;
    for (n = 0; (at = jsp_hash_next(&t, 5, &probe)) != 0;)
        n += at == 1001;
    CHECK_EQ(n, 1);
    jsp_hash_free(&t);
}

TEST_MAIN()
