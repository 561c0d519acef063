/* unit/tick_test.c - src/sigsafe/tick.c: when samples are due and what they weigh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/tick.h"

#include "test.h"

enum { PERIOD = 1000000, BASE = 777, ROUNDS = 500 };

TEST(each_cell_has_one_point_and_it_is_inside)
{
    static const uint64_t periods[] = { PERIOD, 7 }; /* 16 does not divide 7 */
    struct jsp_tick tick;
    for (int i = 0; i < 2; i++) {
        jsp_tick_init(&tick, periods[i], BASE, 1);
        for (uint64_t cell = 0; cell < 16 * ROUNDS; cell++) {
            uint64_t at = jsp_tick_next(&tick, 0, 0);
            if (!CHECK_EQ((at - BASE) / periods[i], cell) ||
                !CHECK_EQ(jsp_tick_weigh(&tick, at), 1))
                return;
        }
    }
}

TEST(sixteen_samples_fall_into_the_sixteen_parts_of_their_cells)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 3);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t parts = 0;
        for (int i = 0; i < JSP_TICK_STRATA; i++) {
            uint64_t at = jsp_tick_next(&tick, 0, 0);
            parts |= 1u << (at - BASE) % PERIOD * JSP_TICK_STRATA / PERIOD;
            jsp_tick_weigh(&tick, at);
        }
        if (!CHECK_EQ(parts, 0xFFFF))
            return;
    }
}

/* Where a part comes next to itself, the step between two samples is one period: a
 * program in step with it must not find that more often than chance has it. */
TEST(order_of_the_parts_is_random)
{
    struct jsp_tick tick;
    int follows[JSP_TICK_STRATA] = { 0 };
    uint64_t last = 0;
    jsp_tick_init(&tick, PERIOD, 0, 4);
    for (int i = 0; i < 16 * 16 * ROUNDS; i++) {
        uint64_t at = jsp_tick_next(&tick, 0, 0), part = at % PERIOD * JSP_TICK_STRATA / PERIOD;
        follows[(part - last) % JSP_TICK_STRATA]++;
        last = part;
        jsp_tick_weigh(&tick, at);
    }
    for (int step = 1; step < JSP_TICK_STRATA; step++) {
        CHECK(follows[step] > 16 * ROUNDS * 9 / 10);
        CHECK(follows[step] < 16 * ROUNDS * 12 / 10);
    }
}

TEST(late_sample_stands_for_the_points_that_went_by)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 5);
    jsp_tick_next(&tick, 0, 0);
    CHECK_EQ(jsp_tick_weigh(&tick, BASE + PERIOD - 1), 1);
    jsp_tick_next(&tick, 0, 0);
    CHECK_EQ(jsp_tick_weigh(&tick, BASE + 6 * PERIOD - 1), 5);
    uint64_t at = jsp_tick_next(&tick, 0, 0);
    CHECK_EQ((at - BASE) / PERIOD, 6);
    CHECK_EQ(jsp_tick_weigh(&tick, at - 1), 1); /* another clock was a hair late: still one */
    CHECK_EQ((jsp_tick_next(&tick, 0, 0) - BASE) / PERIOD, 7);
}

/* A signal may come before the point of the cell that it comes in. */
TEST(cell_of_a_late_sample_is_counted_when_its_point_has_passed)
{
    struct jsp_tick tick;
    uint32_t with = 0;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t now = BASE + 3 * PERIOD + PERIOD / 4;
        jsp_tick_init(&tick, PERIOD, BASE, i);
        jsp_tick_next(&tick, 0, 0);
        uint32_t weight = jsp_tick_weigh(&tick, now);
        uint64_t at = jsp_tick_next(&tick, 0, 0);
        CHECK(weight == 3 || weight == 4);
        CHECK_EQ((at - BASE) / PERIOD, weight);
        CHECK(at > now);
        with += weight == 4;
    }
    CHECK(with > ROUNDS / 8 && with < ROUNDS * 3 / 8);
}

TEST(short_times_have_as_many_points_as_they_are_long_on_average)
{
    struct jsp_tick tick;
    uint32_t passed = 0;
    for (uint64_t i = 0; i < 16 * ROUNDS; i++) {
        uint64_t from = BASE + 31 * i * PERIOD;
        jsp_tick_init(&tick, PERIOD, from, i);
        jsp_tick_next(&tick, 0, 0);
        passed += jsp_tick_passed(&tick, from + PERIOD / 5);
        passed += jsp_tick_passed(&tick, from + PERIOD / 2);
    }
    CHECK(passed > 8 * ROUNDS * 9 / 10);
    CHECK(passed < 8 * ROUNDS * 11 / 10);
}

TEST(points_that_are_left_for_the_next_sample_are_in_its_weight)
{
    struct jsp_tick tick;
    uint64_t now = BASE + 7 * PERIOD + PERIOD / 2;
    jsp_tick_init(&tick, PERIOD, BASE, 3);
    jsp_tick_next(&tick, 0, 0);
    CHECK_EQ(jsp_tick_weigh(&tick, BASE + 4 * PERIOD - 1), 4);
    uint64_t at = jsp_tick_next(&tick, now, 0);
    CHECK(at > now && at < now + 2 * PERIOD);
    CHECK_EQ(jsp_tick_weigh(&tick, at), 1 + (at - BASE) / PERIOD - 4);
}

TEST(cells_that_dear_samples_pass_over_are_counted_at_the_end_too)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 3);
    jsp_tick_weigh(&tick, jsp_tick_next(&tick, 0, 0));
    jsp_tick_next(&tick, 0, 100 * JSP_TICK_WHOLE);
    CHECK_EQ(jsp_tick_passed(&tick, BASE + 51 * PERIOD - 1), 50);
    CHECK_EQ(jsp_tick_passed(&tick, BASE + 51 * PERIOD - 1), 0);
}

/* Where the next sample is due, in cells, after one that cost so much. */
static uint64_t next_cell(struct jsp_tick *tick, uint64_t cost)
{
    jsp_tick_spent(tick, cost);
    return (jsp_tick_next(tick, 0, tick->load) - BASE) / PERIOD;
}

TEST(dear_samples_pass_cells_over_and_the_weight_tells)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 3);
    CHECK_EQ(jsp_tick_weigh(&tick, jsp_tick_next(&tick, 0, 0)), 1);
    next_cell(&tick, PERIOD / JSP_TICK_SHARE - 100);
    CHECK_EQ(next_cell(&tick, PERIOD / JSP_TICK_SHARE - 100), 1);
    next_cell(&tick, PERIOD);
    CHECK_EQ(next_cell(&tick, PERIOD), 1 + JSP_TICK_SHARE);
    uint64_t at = jsp_tick_next(&tick, 0, tick.load);
    CHECK_EQ(jsp_tick_weigh(&tick, at), 1 + JSP_TICK_SHARE);
    next_cell(&tick, UINT64_MAX / 8);
    CHECK(next_cell(&tick, UINT64_MAX / 8) <= 2 + JSP_TICK_SHARE + JSP_TICK_MOST);
}

TEST(one_sample_that_was_held_up_passes_no_cell_over)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 3);
    uint64_t at = jsp_tick_next(&tick, 0, 0);
    for (uint64_t cell = 1; cell < 20; cell++) {
        jsp_tick_weigh(&tick, at);
        CHECK_EQ(next_cell(&tick, cell % 2 ? 20 * PERIOD : 0), cell);
        at = jsp_tick_next(&tick, 0, 0);
    }
}

/* What the kernel takes for a signal is not seen: cheap samples count for that at least. */
TEST(sessions_of_one_thread_together_are_no_faster_than_the_fastest_one_may_be)
{
    struct jsp_tick tick;
    enum { FASTEST = 100000, SESSIONS = 24 };
    jsp_tick_init(&tick, FASTEST, 0, 4);
    uint64_t first = jsp_tick_next(&tick, 0, 0);
    CHECK_EQ(first / FASTEST, 0);
    CHECK_EQ(jsp_tick_weigh(&tick, first), 1);
    uint64_t at = jsp_tick_next(&tick, first, SESSIONS * tick.load);
    CHECK(at / FASTEST >= SESSIONS - 2 && at / FASTEST <= SESSIONS);
    CHECK_EQ(jsp_tick_weigh(&tick, at), at / FASTEST);
}

TEST_MAIN()
