/* unit/timer_test.c - src/sigsafe/timer.c: which points belong to which sample where the event
 * comes in user code alone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/timer.h"

#include "test.h"

enum { PERIOD = 1000000, ROUNDS = 100000 };

static struct jsp_timer user(void)
{
    return (struct jsp_timer){ .is_user = true, .is_event = true, .n_due = 1 };
}

TEST(try_has_one_point_and_a_tick_in_a_call_those_that_are_left)
{
    static const struct {
        enum jsp_timer_met met;
        uint32_t passed, points;
    } rows[] = {
        { JSP_TIMER_DUE, 1, 1 },  { JSP_TIMER_DUE, 4, 1 },   { JSP_TIMER_CODE, 1, 0 },
        { JSP_TIMER_CALL, 2, 6 }, { JSP_TIMER_CALL, 0, 0 },  { JSP_TIMER_DUE, 0, 1 }, /* early */
        { JSP_TIMER_DUE, 2, 1 },  { JSP_TIMER_CODE, 15, 0 }, { JSP_TIMER_CODE, 1, 16 }, /* faults */
        { JSP_TIMER_DUE, 65, 65 }, { JSP_TIMER_DUE, 1, 1 },  { JSP_TIMER_DUE, 9, 1 },
        { JSP_TIMER_HIDDEN, 2, 10 }, { JSP_TIMER_HIDDEN, 0, 0 },
    };
    struct jsp_timer t = user();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_EQ(jsp_timer_points(&t, rows[i].met, rows[i].passed, PERIOD), rows[i].points);
    CHECK_EQ(jsp_timer_left(&t, 3), 3);
    t.is_event = false; /* the timer in its place brings all points, of the kernel, too */
    t.in_kernel = 5;
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_DUE, 2, PERIOD), 7);
    t.in_kernel = -1; /* never nothing */
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_DUE, 1, PERIOD), 1);
    t.in_kernel = -2;
    CHECK_EQ(jsp_timer_left(&t, 1), 0);
}

TEST(time_that_is_left_goes_with_its_points)
{
    struct jsp_timer t = user();
    t.in_kernel = 3;
    CHECK_EQ(jsp_timer_cpu_ns(&t, 4 * PERIOD, PERIOD), PERIOD);
    CHECK_EQ(jsp_timer_cpu_ns(&t, PERIOD / 2, PERIOD), PERIOD);
    t.in_kernel = 0;
    CHECK_EQ(jsp_timer_cpu_ns(&t, 10, 5 * PERIOD), 2 * PERIOD + PERIOD / 2 + 10);
    CHECK_EQ(jsp_timer_cpu_ns(&t, 7, PERIOD), 7);
}

/* In user code alone each try succeeds: one in each cell. In a program that is in the kernel for
 * half of the time, half of them do, however long the turns are. */
TEST(as_many_tries_succeed_as_there_is_user_code)
{
    static const uint64_t turns[] = { 0, 30000, 500000, 7000000 };
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        struct jsp_timer t = user();
        struct jsp_tick tick;
        uint64_t now = 0, n = 0;
        jsp_tick_init(&tick, PERIOD, 0, 5);
        while (n < ROUNDS) {
            uint64_t by = jsp_timer_draw(&t, &tick, now, 0) - now;
            CHECK_EQ(t.n_due, 1);
            CHECK(by < 2 * PERIOD);
            do
                now += by; /* the kernel tries again after as long */
            while (turns[i] && now / turns[i] % 2);
            n++;
        }
        double each = (double)now / PERIOD / ROUNDS, want = turns[i] ? 2 : 1;
        /* each gap has a standard deviation of 0.4 of a cell, with tries in the kernel of 1.4: so
         * the mean of 100,000 has one of 0.0045 */
        CHECK(each > want - 0.03 && each < want + 0.03);
    }
}

/* At 10 kHz a tick of 4 ms has 40 points: 16 are no page faults yet. */
TEST(page_faults_are_many_points_and_long)
{
    struct jsp_timer t = user();
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_CODE, 159, PERIOD / 10), 0);
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_CODE, 1, PERIOD / 10), 160);
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_CODE, 15, 20 * PERIOD), 0);
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_CODE, 1, 20 * PERIOD), 16);
}

/* A signal in a quarter of the time: ticks take no samples between. */
TEST(tick_waits_for_the_points_of_an_overloaded_event)
{
    struct jsp_timer t = user();
    t.n_due = 41;
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_CALL, 40, PERIOD), 0);
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_CALL, 1, PERIOD), 41);
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_DUE, 104, PERIOD), 41);
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_DUE, 42, PERIOD), 105);
}

TEST(skipped_cells_are_points_of_the_next_try)
{
    struct jsp_timer t = user();
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, 0, 5);
    uint64_t load = 2 * JSP_TICK_WHOLE, over = jsp_tick_over(load);
    CHECK(over > 0);
    jsp_timer_draw(&t, &tick, 0, load);
    CHECK_EQ(t.n_due, over + 1);
    CHECK_EQ(jsp_timer_points(&t, JSP_TIMER_DUE, (uint32_t)over + 1, PERIOD), over + 1);
}

TEST_MAIN()
