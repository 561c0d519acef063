/* heap_test.c - src/analyze/heap.c and the samples of allocations: captures of ours and of other
 * programs, and defective ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include "profile.h"

#include "session/allocs.h"

#include <math.h>

static struct jsp_profile_options options;

static void allocation(uint64_t block, int64_t size, int n, uint64_t a0)
{
    build_begin(&b, 14);
    build_int(&b, block, 8);
    build_int(&b, (uint64_t)size, 8);
    build_int(&b, (uint32_t)b.tid, 4);
    build_int(&b, (uint64_t)n, 2);
    build_int(&b, 0, 2);
    for (int i = 0; i < n; i++)
        build_int(&b, a0, 8);
    build_end(&b);
}

/* Sizes and first lines of the blocks themselves, from ordinal `first`. */
static void own(uint64_t first, const uint64_t *sizes, int n)
{
    uint8_t bytes[256];
    size_t at = 0;
    bytes[at++] = 1;
    at += build_varint(bytes + at, first);
    at += build_varint(bytes + at, (uint64_t)n);
    for (int i = 0; i < n; i++) {
        at += build_varint(bytes + at, sizes[i]);
        at += build_varint(bytes + at, 0);
        at += build_varint(bytes + at, 0);
        at += build_varint(bytes + at, 0);
    }
    build_chunk(&b, "jsprof/allocations", bytes, at);
}

static bool loaded_by(enum jsp_value measure)
{
    options = (struct jsp_profile_options){ .measure = measure };
    return loaded_with(&options) && CHECK_EQ(jsp_functions_build(&fs, &p, NULL), 0);
}

TEST(values_are_bytes_and_weights_are_blocks)
{
    for (int is_big = 0; is_big < 2; is_big++) {
        begin(is_big);
        sample(1, f3, 0, 0);
        allocation(1, 1000, 1, f1);
        allocation(2, 600, 1, f2);
        allocation(1, 0, 0, 0);
        own(0, (uint64_t[]){ 10, 600 }, 2);
        if (loaded_by(JSP_VALUE_ALLOC)) {
            CHECK_EQ(p.samples, 2);
            CHECK_EQ(p.value, 1600);
            CHECK_EQ(row("main").self, 1000);
            CHECK_EQ(p.stacks[0].weight, 100);
            CHECK_EQ(p.stacks[1].weight, 1);
            CHECK_EQ(p.heap.n_freed, 1);
            CHECK_STR(jsp_unit_key(p.unit), "alloc_bytes");
        }
    }
}

TEST(what_was_freed_is_not_live)
{
    begin(false);
    allocation(1, 1000, 1, f1);
    allocation(2, 600, 1, f2);
    allocation(1, 0, 0, 0);
    allocation(7, -5, 0, 0); /* nobody's */
    if (loaded_by(JSP_VALUE_LIVE)) {
        CHECK_EQ(p.value, 600);
        CHECK_EQ(row("work").self, 600);
        CHECK_EQ(fs.n, 1);
    }
}

/* Other programs write addresses, which are used again. */
TEST(an_address_that_is_used_again_was_freed_before)
{
    begin(false);
    allocation(4096, 10, 1, f1);
    allocation(4096, 0, 0, 0);
    allocation(4096, 20, 1, f2);
    allocation(8192, 1, 1, f1);
    allocation(8192, 2, 1, f1);
    b.pid++; /* another process has the same addresses */
    allocation(4096, 0, 0, 0);
    if (loaded_by(JSP_VALUE_LIVE))
        CHECK_EQ(p.value, 22);
}

TEST(the_usual_measure_does_not_see_allocations)
{
    begin(false);
    sample(1, f3, 0, 0);
    allocation(1, 1000, 1, f1);
    if (loaded()) {
        CHECK_EQ(p.samples, 1);
        CHECK_EQ(fs.n, 1);
        CHECK_EQ(p.heap.n_allocated, 1);
    }
}

TEST(defective_allocations_are_skipped_and_counted)
{
    begin(false);
    allocation(1, INT64_MAX, 1, f1); /* as much as a sum may be, and more */
    allocation(2, INT64_MAX, 1, f1);
    allocation(3, 1, 0, 0);  /* no stack */
    allocation(4, 5, 1, f2);
    build_begin(&b, 14);     /* too short */
    build_int(&b, 1, 8);
    build_end(&b);
    build_begin(&b, 14);     /* more addresses than there are */
    build_int(&b, 9, 8);
    build_int(&b, 9, 8);
    build_int(&b, 1, 4);
    build_int(&b, 60000, 2);
    build_int(&b, 0, 2);
    build_end(&b);
    own(3, (uint64_t[]){ 0 }, 1);
    own(2, (uint64_t[]){ 1 }, 1); /* before the one before */
    if (loaded_by(JSP_VALUE_ALLOC)) {
        CHECK_EQ(p.samples, 3);
        CHECK_EQ(p.value, 1 + 1 + 5);
        CHECK_EQ(p.defects.count[JSP_READ_SUM], 2);
        CHECK_EQ(p.defects.count[JSP_READ_EMPTY], 1);
        CHECK_EQ(p.defects.count[JSP_READ_ADDRS], 1);
        CHECK_EQ(p.defects.count[JSP_READ_RECORD], 1);
    }
}

TEST(a_block_represents_its_size_divided_by_its_chance)
{
    static const uint64_t sizes[] = { 1, 16, 100, 4095, 65536, 524288, 1 << 22, 1 << 28 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t every = 1; every <= 1 << 30; every *= 8) {
            double chance = -expm1(-(double)sizes[i] / (double)every);
            uint64_t got = jsp_allocs_weight(sizes[i], every);
            double want = (double)sizes[i] / chance;
            CHECK(fabs((double)got - want) <= 0.5 + 1e-6 * want);
        }
}

TEST_MAIN()
