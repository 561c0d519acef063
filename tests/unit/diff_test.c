/* diff_test.c - src/analyze/diff.c, neighbours.c, events.c: changes that chance explains,
 * and sums that must add up.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/diff.h"

#include "analyze/events.h"
#include "analyze/neighbours.h"
#include "capture_builder.h"
#include "test.h"

struct side {
    struct builder b;
    struct jsp_read r;
    struct jsp_profile p;
    struct jsp_functions fs;
};
static struct side sides[2];

static bool load(struct side *s)
{
    char why[JSP_READ_WHY];
    return CHECK_EQ(jsp_read_memory(&s->r, s->b.bytes, s->b.size, why), 0) &&
           CHECK_EQ(jsp_profile_load(&s->p, &s->r, NULL), 0) &&
           CHECK_EQ(jsp_functions_build(&s->fs, &s->p, NULL), 0);
}

static int compare(struct jsp_diff *d)
{
    struct jsp_diff_side two[2] = { { &sides[0].p, &sides[0].fs },
                                    { &sides[1].p, &sides[1].fs } };
    return jsp_diff_build(d, two);
}

/* `n` samples of main, in `hot` of them it calls work; lines move between the two. */
static bool side(int which, int n, int hot)
{
    struct side *s = &sides[which];
    uint64_t addrs[2] = { build_tag(2), build_tag(1) };
    build_start(&s->b, false);
    build_process(&s->b, "host");
    build_jit(&s->b, build_tag(1), "main (a.js:1:1)");
    build_jit(&s->b, build_tag(2), which ? "work (a.js:9:2)" : "work (a.js:8)");
    for (int i = 0; i < n; i++)
        build_sample(&s->b, i < hot ? addrs : addrs + 1, i < hot ? 2 : 1);
    return load(s);
}

static void unside(int which)
{
    struct side *s = &sides[which];
    jsp_functions_free(&s->fs);
    jsp_profile_free(&s->p);
    jsp_read_close(&s->r);
    free(s->b.bytes);
}

static bool is_real(int before, int after)
{
    struct jsp_diff d;
    bool real = false;
    if (!side(0, 1000, before) || !side(1, 1000, after))
        return false;
    if (CHECK_EQ(compare(&d), 0)) {
        CHECK_EQ(d.n, 2); /* lines differ, functions do not */
        real = jsp_diff_is_real(d.rows[0].chance, d.n_judged);
    }
    jsp_diff_free(&d);
    unside(0);
    unside(1);
    return real;
}

TEST(a_change_counts_when_chance_does_not_explain_it)
{
    CHECK(!is_real(500, 500));
    CHECK(!is_real(500, 530)); /* 1.3 standard errors */
    CHECK(!is_real(500, 547)); /* 2.1: one of two functions reaches it often enough */
    CHECK(is_real(500, 560));  /* 2.7 */
    CHECK(is_real(500, 440));
    CHECK(is_real(0, 20));
    CHECK(!is_real(0, 2));
}

/* How often chance alone makes a star, when nothing changed: at most one in twenty. */
TEST(equal_programs_seldom_differ)
{
    uint64_t random = 1;
    int stars = 0, hot[2];
    for (int i = 0; i < 200; i++) {
        for (int j = 0; j < 2; j++) {
            hot[j] = 0;
            for (int k = 0; k < 1000; k++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                hot[j] += (random >> 33) % 10 < 3;
            }
        }
        stars += is_real(hot[0], hot[1]);
    }
    CHECK(stars <= 16); /* 10 expected at most, and two of its standard errors */
}

/* `counts[j][i]` samples of the functions f0, f1 and f2 in the two captures. */
static bool three(const int counts[2][3], struct jsp_diff *d)
{
    for (int j = 0; j < 2; j++) {
        struct side *s = &sides[j];
        char name[] = "f0";
        build_start(&s->b, false);
        build_process(&s->b, "host");
        for (uint32_t i = 0; i < 3; i++) {
            uint64_t addr = build_tag(i + 1);
            name[1] = (char)('0' + i);
            build_jit(&s->b, addr, name);
            for (int n = 0; n < counts[j][i]; n++)
                build_sample(&s->b, &addr, 1);
        }
        if (!load(s))
            return false;
    }
    return CHECK_EQ(compare(d), 0);
}

TEST(the_largest_change_comes_first_not_the_largest_function)
{
    static const int counts[2][3] = { { 60, 30, 10 }, { 61, 1, 38 } };
    struct jsp_diff d;
    if (!three(counts, &d))
        return;
    if (CHECK_EQ(d.n, 3)) {
        CHECK_STR(d.rows[0].name, "f1"); /* 29 points down */
        CHECK_STR(d.rows[1].name, "f2"); /* 28 up */
        CHECK_STR(d.rows[2].name, "f0");
        jsp_diff_sort_total(&d);
        CHECK_STR(d.rows[0].name, "f1");
        CHECK_STR(d.rows[1].name, "f2");
        CHECK_STR(d.rows[2].name, "f0");
    }
    jsp_diff_free(&d);
    unside(0);
    unside(1);
}

TEST(neighbours_add_up_under_recursion)
{
    struct side *s = &sides[0];
    struct jsp_neighbours n;
    uint64_t deep[5] = { build_tag(3), build_tag(2), build_tag(1), build_tag(2),
                         build_tag(1) };
    build_start(&s->b, false);
    build_process(&s->b, "host");
    build_jit(&s->b, build_tag(1), "main");
    build_jit(&s->b, build_tag(2), "f");
    build_jit(&s->b, build_tag(3), "leaf");
    build_sample(&s->b, deep, 5);     /* leaf < f < main < f < main */
    build_sample(&s->b, deep + 1, 4); /* f < main < f < main */
    build_sample(&s->b, deep + 1, 1); /* f alone */
    if (!load(s) || !CHECK_EQ(jsp_neighbours_build(&n, &s->p, NULL, "f"), 0))
        return;
    CHECK_EQ(n.total, 3);
    CHECK_EQ(n.self, 2);
    CHECK_EQ(n.n_callers, 2);
    CHECK_EQ(n.callers[0].value + n.callers[1].value, n.total);
    CHECK_EQ(n.callers[0].value, 2);
    CHECK_EQ(n.n_callees, 1);
    CHECK_EQ(n.callees[0].value + n.self, n.total);
    jsp_neighbours_free(&n);
    unside(0);
}

TEST(a_sum_knows_its_ranks)
{
    double few[3] = { 3, 1, 2 }, many[100];
    struct jsp_events_sum s = jsp_events_sum(few, 3);
    CHECK(s.min == 1 && s.median == 2 && s.max == 3 && s.p95 == 3 && s.last == 2);
    for (int i = 0; i < 100; i++)
        many[i] = 100 - i;
    s = jsp_events_sum(many, 100);
    CHECK(s.p95 == 95 && s.median == 50 && s.total == 5050 && s.last == 1);
    s = jsp_events_sum(few, 1);
    CHECK(s.p95 == 1 && s.median == 1 && s.n == 1);
}

/* Chances of 1.96 and 0.98 deviations: half of the deviations is a quarter of the samples. */
TEST(change_that_is_no_surprise_needs_so_many_times_the_samples)
{
    CHECK_EQ(100 * jsp_diff_times(0.0499958, 1) + 0.5, 100);
    CHECK_EQ(10 * jsp_diff_times(0.3270868, 1) + 0.5, 40);
    CHECK(jsp_diff_times(0.3270868, 10) > 8);
    CHECK_EQ(jsp_diff_times(1, 1), 0);
    CHECK_EQ(jsp_diff_times(0.99, 1), 0);
}

TEST_MAIN()
