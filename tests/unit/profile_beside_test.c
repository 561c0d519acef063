/* profile_beside_test.c - src/analyze/: the data next to the samples, jsprof/samples and
 * jsprof/losses, and the threads to which they belong.
 *
 * SPDX-License-Identifier: MIT
 */
#include "profile.h"

/* One block of jsprof/samples; each record {weight, cpu_ns, cut, line of the leaf}. */
static void block(uint64_t first, const uint64_t (*records)[4], size_t n)
{
    uint8_t data[1024];
    size_t at = 0;
    data[at++] = 1;
    at += build_varint(data + at, first);
    at += build_varint(data + at, n);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < 3; j++)
            at += build_varint(data + at, records[i][j]);
        at += build_varint(data + at, 1);
        at += build_varint(data + at, records[i][3]);
    }
    build_chunk(&b, "jsprof/samples", data, at);
}

TEST(weights_and_cpu_time_belong_to_their_own_sample)
{
    static const uint64_t first[][4] = { { 3, 5000, 0, 10 }, { 1, 100, 0, 20 } };
    static const uint64_t third[][4] = { { 2, 70, 0, 21 } };
    begin(false);
    build_metadata(&b, "jsprof.clock", "cpu");
    build_metadata(&b, "jsprof.hz", "1000");
    sample(1, f1, 0, 0);
    sample(1, f2, 0, 0);
    block(0, first, 2);
    sample(1, f2, 0, 0);
    block(2, third, 1);
    sample(1, f3, 0, 0); /* the file was cut before this one's record */
    if (!loaded())
        return;
    CHECK_EQ(p.weight, 7);
    CHECK_EQ(p.unit, JSP_VALUE_CPU);
    CHECK_EQ(row("main").self, 5000);
    CHECK_EQ(row("work").self, 170);
    CHECK_EQ(row("leaf").self, 1000000); /* unknown: weight x period */
    CHECK_EQ(row("work").line, 20);
    CHECK_EQ(row("work").line_value, 100);
}

TEST(records_behind_long_lists_of_lines_are_found)
{
    enum { DEEP = 21 };
    uint64_t addrs[DEEP];
    uint8_t data[256];
    size_t at = 0;
    data[at++] = 1;
    at += build_varint(data + at, 0);
    at += build_varint(data + at, 2);
    for (uint64_t i = 0; i < 2; i++) {
        at += build_varint(data + at, 3 + i);
        at += build_varint(data + at, 1000000);
        at += build_varint(data + at, 0);
        at += build_varint(data + at, DEEP);
        for (uint64_t j = 0; j < DEEP; j++)
            at += build_varint(data + at, j * j * j * j);
    }
    for (int i = 0; i < DEEP; i++)
        addrs[i] = f2;
    begin(false);
    build_sample(&b, addrs, DEEP);
    build_sample(&b, addrs, DEEP);
    build_chunk(&b, "jsprof/samples", data, at);
    if (!loaded())
        return;
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    CHECK_EQ(p.weight, 7);
    CHECK_EQ(p.n_stacks, 1);
    CHECK_EQ(jsp_profile_frames(&p, 0, frames), DEEP);
    CHECK_EQ(frames[20].line, 160000);
    CHECK_EQ(p.defects.count[JSP_READ_RECORD], 0);
}

TEST(wall_clock_shares_are_weight_times_period)
{
    static const uint64_t records[][4] = { { 3, 5, 0, 0 }, { 1, 7, 0, 0 } };
    begin(false);
    build_metadata(&b, "jsprof.clock", "wall");
    build_metadata(&b, "jsprof.hz", "100");
    sample(1, f1, 0, 0);
    sample(1, f2, 0, 0);
    block(0, records, 2);
    if (!loaded())
        return;
    CHECK_EQ(row("main").self, 30000000);
    CHECK_EQ(row("work").self, 10000000);
}

/* Frames that were cut have a frame of their own, where they were. */
TEST(sample_with_a_cut_gives_its_self_time_to_its_leaf)
{
    static const uint64_t records[][4] = { { 1, 5, 40, 0 } };
    begin(false);
    sample(1, f1, 0, 0);
    block(0, records, 1);
    if (!loaded())
        return;
    CHECK_EQ(row("main").self, 1);
    CHECK_EQ(p.n_stacks, 1);
}

TEST(lying_record_counts_are_refused_and_said)
{
    static const uint8_t lies[][4] = {
        { 1, 0, 100, 1 }, /* 100 records in one byte */
        { 2, 0, 0, 0 },   /* an unknown block */
        { 1, 0, 1, 1 },   /* a record cut short */
    };
    for (size_t i = 0; i < 3; i++) {
        begin(false);
        sample(1, f1, 0, 0);
        build_chunk(&b, "jsprof/samples", lies[i], 4);
        if (!loaded())
            return;
        CHECK_EQ(p.defects.count[JSP_READ_RECORD], 1);
        CHECK_EQ(p.weight, 1);
    }
}

TEST(more_time_than_there_can_be_does_not_wrap_a_sum_around)
{
    static const uint64_t much = UINT64_MAX - 4;
    static const uint64_t cpu[][4] = { { 1, 50, 0, 1 }, { 1, much, 0, 1 }, { much, 9, 0, 1 } };
    for (int is_wall = 0; is_wall < 2; is_wall++) {
        begin(false);
        build_metadata(&b, "jsprof.clock", is_wall ? "wall" : "cpu");
        build_metadata(&b, "jsprof.hz", "1000");
        for (int i = 0; i < 3; i++)
            sample(1, i ? f2 : f1, 0, 0);
        block(0, cpu, 3);
        if (!loaded())
            return;
        CHECK_EQ(p.weight, 3);
        CHECK_EQ(row("main").self, is_wall ? 1000000 : 50);
        CHECK_EQ(row("work").self, 2000000); /* two of which nothing is known */
        CHECK_EQ(p.defects.count[JSP_READ_SUM], 2);
    }
}

TEST(losses_take_the_last_whole_line_of_each_key)
{
    static const char early[] =
        "session state=running time=5 hz=250 clock=wall\n"
        "thread id=1 tid=100 name=a%20b kept=1 expirations=1\n";
    static const char late[] =
        "thread id=1 tid=100 name=a%20%62 kept=7 expirations=9 "
        "lost_ring=2 new_word=3\nthread id=1 tid=100 kept=8";
    begin(false);
    build_chunk(&b, "jsprof/losses", early, sizeof early - 1);
    sample(1, f1, 0, 0);
    build_chunk(&b, "jsprof/losses", late, sizeof late - 1);
    if (!loaded())
        return;
    CHECK_EQ(p.account.n_threads, 1);
    CHECK_EQ(p.account.threads[0].kept, 7);
    CHECK_EQ(p.account.threads[0].expirations, 9);
    CHECK_EQ(jsp_account_lost(&p.account.threads[0]), 2);
    CHECK_STR(p.account.threads[0].name, "a b");
    CHECK_STR(p.account.session.state, "running");
    CHECK_EQ(p.hz, 250);
    CHECK_EQ(p.unit, JSP_VALUE_WALL);
    CHECK_EQ(p.defects.count[JSP_READ_RECORD], 1); /* the line without an end */
    CHECK(p.threads[0].losses == &p.account.threads[0]);
}

TEST(reused_tid_is_balanced_over_all_its_threads)
{
    static const char lines[] =
        "thread id=1 tid=100 kept=1 expirations=1\n"
        "thread id=2 tid=100 kept=2 expirations=2\n"
        "thread id=3 tid=101 kept=5 expirations=5\n";
    begin(false);
    build_chunk(&b, "jsprof/losses", lines, sizeof lines - 1);
    for (int i = 0; i < 3; i++)
        sample(1, f1, 0, 0);
    if (!loaded())
        return;
    const struct jsp_account_thread *t = p.account.threads;
    CHECK_EQ(p.account.n_threads, 3);
    CHECK_EQ(t[0].is_newest, false);
    CHECK_EQ(t[1].is_newest, true);
    CHECK_EQ(t[1].kept_of_tid, 3);
    CHECK_EQ(t[1].in_file, 3);
    CHECK_EQ(t[2].kept_of_tid, 5);
    CHECK_EQ(t[2].in_file, 0);
}

TEST_MAIN()
