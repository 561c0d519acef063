/* spans_test.c - src/analyze/spans.c: when marks of one name are open, and the samples then.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/spans.h"

#include "profile.h"

/* A mark from `at` ms on, for `length` ms. */
static void mark(int64_t at, int64_t length, const char *group, const char *name)
{
    b.time = (at - 1) * 1000000; /* which build_begin moves on */
    build_mark(&b, length * 1000000, group, name, "");
}

TEST(spans_of_a_name_are_in_order_and_joined)
{
    struct jsp_spans s;
    begin(false);
    mark(30, 10, "gc", "minor");
    mark(10, 5, "gc", "minor");
    mark(15, 5, "gc", "minor"); /* touches */
    mark(32, 2, "other", "minor"); /* lies in another one */
    mark(50, 0, "gc", "minor");
    mark(60, 9, "gc", "major");
    if (!read_built())
        return;
    CHECK_EQ(jsp_spans_of_marks(&s, &r, "minor"), 0);
    CHECK_EQ(s.n_marks, 5);
    if (CHECK_EQ(s.n, 2)) {
        CHECK_EQ(s.at[0].from, 10000000);
        CHECK_EQ(s.at[0].to, 20000000);
        CHECK_EQ(s.at[1].from, 30000000);
        CHECK_EQ(s.at[1].to, 40000000);
    }
    jsp_spans_free(&s);
    CHECK_EQ(jsp_spans_of_marks(&s, &r, "other/minor"), 0);
    CHECK_EQ(s.n_marks, 1);
    CHECK_EQ(s.n, 1);
    jsp_spans_free(&s);
    CHECK_EQ(jsp_spans_of_marks(&s, &r, "min"), 0);
    CHECK_EQ(s.n_marks, 0);
    CHECK(!jsp_spans_overlap(&s, 0, INT64_MAX));
    jsp_spans_free(&s);
}

TEST(spans_are_half_open)
{
    struct jsp_span at[] = { { 10, 20 }, { 30, 31 } };
    const struct jsp_spans s = { .at = at, .n = 2 };
    CHECK(!jsp_spans_overlap(&s, 9, 9));
    CHECK(jsp_spans_overlap(&s, 10, 10));
    CHECK(jsp_spans_overlap(&s, 19, 19));
    CHECK(!jsp_spans_overlap(&s, 20, 20));
    CHECK(!jsp_spans_overlap(&s, 20, 29));
    CHECK(jsp_spans_overlap(&s, 20, 30));
    CHECK(jsp_spans_overlap(&s, 0, 100));
    CHECK(!jsp_spans_overlap(&s, 31, 100));
}

/* A sample at each ms from 1 to 20; marks over [5, 8) and [7, 10). */
TEST(samples_count_while_a_mark_is_open)
{
    const struct jsp_profile_options o = { .during = "gc" };
    const struct jsp_profile_options part = { .during = "gc", .to_ns = 6000000 };
    begin(false);
    for (int ms = 1; ms <= 20; ms++) {
        b.time = (ms - 1) * 1000000;
        sample(1, f1, 0, 0);
    }
    mark(5, 3, "x", "gc");
    mark(7, 3, "x", "gc");
    b.time = 0;
    if (!read_built() || !CHECK_EQ(jsp_profile_load(&p, &r, &o), 0))
        return;
    CHECK_EQ(p.samples, 5);
    jsp_profile_free(&p);
    if (CHECK_EQ(jsp_profile_load(&p, &r, &part), 0))
        CHECK(p.samples > 0 && p.samples < 5);
}

TEST_MAIN()
