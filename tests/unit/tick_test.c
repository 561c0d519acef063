/* unit/tick_test.c - src/sigsafe/tick.c: when samples are due and what they weigh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/tick.h"

#include "test.h"

enum { PERIOD = 1000000, BASE = 777, ROUNDS = 500 };

TEST(each_cell_has_one_point_and_it_is_inside)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 1);
    for (uint64_t cell = 0; cell < 16 * ROUNDS; cell++) {
        uint64_t at = jsp_tick_next(&tick, 0);
        if (!CHECK_EQ((at - BASE) / PERIOD, cell) || !CHECK_EQ(jsp_tick_weigh(&tick, at), 1))
            return;
    }
}

TEST(a_period_that_16_does_not_divide_keeps_its_points_inside)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, 7, 0, 2);
    for (uint64_t cell = 0; cell < 16 * ROUNDS; cell++) {
        uint64_t at = jsp_tick_next(&tick, 0);
        if (!CHECK_EQ(at / 7, cell))
            return;
        jsp_tick_weigh(&tick, at);
    }
}

TEST(sixteen_samples_fall_into_the_sixteen_parts_of_their_cells)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 3);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t parts = 0;
        for (int i = 0; i < JSP_TICK_STRATA; i++) {
            uint64_t at = jsp_tick_next(&tick, 0);
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
        uint64_t at = jsp_tick_next(&tick, 0), part = at % PERIOD * JSP_TICK_STRATA / PERIOD;
        follows[(part - last) % JSP_TICK_STRATA]++;
        last = part;
        jsp_tick_weigh(&tick, at);
    }
    for (int step = 1; step < JSP_TICK_STRATA; step++) {
        CHECK(follows[step] > 16 * ROUNDS * 9 / 10);
        CHECK(follows[step] < 16 * ROUNDS * 12 / 10);
    }
}

TEST(late_sample_stands_for_the_cells_that_went_by)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 5);
    CHECK_EQ(jsp_tick_weigh(&tick, BASE + PERIOD / 2), 1);
    CHECK_EQ(jsp_tick_weigh(&tick, BASE + 5 * PERIOD + 1), 5);
    CHECK_EQ(jsp_tick_weigh(&tick, BASE), 1); /* before the one before: still one */
    CHECK_EQ((jsp_tick_next(&tick, 0) - BASE) / PERIOD, 7);
}

/* Where the next sample is due, in cells, after one that cost so much. */
static uint64_t next_cell(struct jsp_tick *tick, uint64_t cost)
{
    jsp_tick_spent(tick, cost);
    return (jsp_tick_next(tick, tick->load) - BASE) / PERIOD;
}

TEST(dear_samples_pass_cells_over_and_the_weight_tells)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 3);
    CHECK_EQ(jsp_tick_weigh(&tick, BASE), 1);
    next_cell(&tick, PERIOD / JSP_TICK_SHARE - 100);
    CHECK_EQ(next_cell(&tick, PERIOD / JSP_TICK_SHARE - 100), 1);
    next_cell(&tick, PERIOD);
    CHECK_EQ(next_cell(&tick, PERIOD), 1 + JSP_TICK_SHARE);
    CHECK_EQ(jsp_tick_weigh(&tick, BASE + (1 + JSP_TICK_SHARE) * PERIOD), 1 + JSP_TICK_SHARE);
    next_cell(&tick, UINT64_MAX / 8);
    CHECK(next_cell(&tick, UINT64_MAX / 8) <= 2 + JSP_TICK_SHARE + JSP_TICK_MOST);
}

TEST(one_sample_that_was_held_up_passes_no_cell_over)
{
    struct jsp_tick tick;
    jsp_tick_init(&tick, PERIOD, BASE, 3);
    for (uint64_t cell = 1; cell < 20; cell++) {
        jsp_tick_weigh(&tick, BASE + (cell - 1) * PERIOD);
        CHECK_EQ(next_cell(&tick, cell % 2 ? 20 * PERIOD : 0), cell);
    }
}

/* What the kernel takes for a signal is not seen: cheap samples count for that at least. */
TEST(sessions_of_one_thread_together_are_no_faster_than_the_fastest_one_may_be)
{
    struct jsp_tick tick;
    enum { FASTEST = 100000, SESSIONS = 24 };
    jsp_tick_init(&tick, FASTEST, 0, 4);
    CHECK_EQ(jsp_tick_next(&tick, tick.load) / FASTEST, 0);
    CHECK_EQ(jsp_tick_weigh(&tick, 0), 1);
    uint64_t at = jsp_tick_next(&tick, SESSIONS * tick.load);
    CHECK(at / FASTEST >= SESSIONS - 2 && at / FASTEST <= SESSIONS);
    CHECK_EQ(jsp_tick_weigh(&tick, at), at / FASTEST);
}

int main(void)
{
    RUN(dear_samples_pass_cells_over_and_the_weight_tells);
    RUN(one_sample_that_was_held_up_passes_no_cell_over);
    RUN(sessions_of_one_thread_together_are_no_faster_than_the_fastest_one_may_be);
    RUN(each_cell_has_one_point_and_it_is_inside);
    RUN(a_period_that_16_does_not_divide_keeps_its_points_inside);
    RUN(sixteen_samples_fall_into_the_sixteen_parts_of_their_cells);
    RUN(order_of_the_parts_is_random);
    RUN(late_sample_stands_for_the_cells_that_went_by);
    return DONE();
}
