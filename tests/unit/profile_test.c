/* profile_test.c - src/analyze/: which function gets which share, of which samples.
 *
 * SPDX-License-Identifier: MIT
 */
#include "profile.h"

TEST(self_and_total_are_counted_in_both_byte_orders)
{
    for (int is_big = 0; is_big < 2; is_big++) {
        begin(is_big);
        sample(3, f3, f2, f1);
        sample(2, f2, f1, 0);
        sample(2, f2, f1, 0);
        if (!loaded())
            return;
        CHECK_EQ(p.samples, 3);
        CHECK_EQ(p.n_stacks, 2);
        CHECK_EQ(p.unit, JSP_VALUE_COUNT);
        CHECK_EQ(row("main").self, 0);
        CHECK_EQ(row("main").total, 3);
        CHECK_EQ(row("work").self, 2);
        CHECK_EQ(row("work").total, 3);
        CHECK_EQ(row("leaf").self, 1);
    }
}

TEST(unit_of_values_follows_the_clock)
{
    CHECK_STR(jsp_unit_key(JSP_VALUE_CPU), "cpu_ns");
    CHECK_STR(jsp_unit_key(JSP_VALUE_WALL), "wall_ns");
    CHECK_STR(jsp_unit_key(JSP_VALUE_COUNT), "samples");
    CHECK_STR(jsp_unit_name(JSP_VALUE_CPU), "CPU time");
    CHECK_STR(jsp_unit_name(JSP_VALUE_WALL), "elapsed time");
    CHECK_STR(jsp_unit_name(JSP_VALUE_COUNT), "samples");
}

TEST(recursion_does_not_count_a_sample_twice)
{
    begin(false);
    sample(3, f2, f2, f1);
    if (!loaded())
        return;
    CHECK_EQ(row("work").total, 1);
    CHECK_EQ(row("work").self, 1);
}

TEST(threads_are_apart_and_can_be_chosen)
{
    begin(false);
    sample(1, f1, 0, 0);
    b.tid = 101;
    sample(1, f1, 0, 0);
    sample(1, f2, 0, 0);
    if (!loaded())
        return;
    const bool only[2] = { false, true };
    struct jsp_select select = { .threads = only };
    struct jsp_functions chosen;
    CHECK_EQ(p.n_threads, 2);
    CHECK_EQ(jsp_functions_build(&chosen, &p, &select), 0);
    CHECK_EQ(chosen.samples, 2);
    CHECK_EQ(chosen.n, 2);
    jsp_functions_free(&chosen);
}

TEST(many_stacks_and_names_outgrow_every_first_table)
{
    enum { MANY = 3000 };
    char name[32];
    begin(false);
    for (uint32_t i = 10; i < 10 + MANY; i++) {
        snprintf(name, sizeof name, "f%u", (unsigned)i);
        build_jit(&b, build_tag(i), name);
        sample(2, build_tag(i), f1, 0);
        sample(2, build_tag(i), f1, 0);
    }
    if (!loaded())
        return;
    CHECK_EQ(p.n_stacks, MANY);
    CHECK_EQ(row("main").total, 2 * MANY);
    CHECK_EQ(row("f3009").self, 2);
}

struct told {
    int n;
    struct jsp_profile_sample samples[8];
};

static int tell(void *context, const struct jsp_profile_sample *s)
{
    struct told *t = context;
    t->samples[t->n++] = *s;
    return t->n == 4 ? -ECANCELED : 0;
}

TEST(samples_are_told_in_file_order_with_their_stack_and_time)
{
    struct told t = { 0 };
    const struct jsp_profile_options options = { .sampled = tell, .sampled_context = &t };
    begin(false);
    sample(2, f2, f1, 0);
    int64_t first = b.time;
    sample(1, f1, 0, 0);
    sample(2, f2, f1, 0);
    CHECK(loaded_with(&options));
    CHECK_EQ(t.n, 3);
    CHECK_EQ(t.samples[0].time, first);
    CHECK_EQ(t.samples[2].time, b.time);
    CHECK_EQ(t.samples[1].value, 1);
    CHECK_EQ(t.samples[0].stack, t.samples[2].stack);
    CHECK(t.samples[0].stack != t.samples[1].stack);
    t.n = 0;
    begin(false);
    for (int i = 0; i < 5; i++)
        sample(1, f1, 0, 0);
    CHECK(read_built());
    CHECK_EQ(jsp_profile_load(&p, &r, &options), -ECANCELED); /* as the fourth answers */
    CHECK_EQ(t.n, 4);
}

struct steps {
    uint64_t n, last, all;
    bool is_going_up;
};

static void step(void *context, uint64_t done, uint64_t all)
{
    struct steps *s = context;
    s->is_going_up = s->is_going_up && done > s->last && done <= all;
    s->last = done;
    s->all = all;
    s->n++;
}

/* 20 MB: a progress line hears of it now and then, and a caller without one is not asked. */
TEST(a_long_load_says_how_far_it_is)
{
    struct steps s = { .is_going_up = true };
    struct jsp_profile_options o = { .progress = step, .context = &s };
    begin(false);
    while (b.size < 20u << 20)
        sample(3, f3, f2, f1);
    CHECK(loaded_with(&o));
    CHECK(s.n >= 2 && s.n <= 20);
    CHECK(s.is_going_up);
    CHECK_EQ(s.all, b.size);
    jsp_profile_free(&p);
    CHECK_EQ(jsp_profile_load(&p, &r, NULL), 0);
}

TEST_MAIN()
