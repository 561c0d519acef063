/* unit/calls_clock_test.c - src/calls/clock.c: the counter's rate, and a counter
 * that jumps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls/clock.h"
#include "test.h"

static struct jsp_calls_clock clock_now;

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool opened(void)
{
    jsp_calls_clock_open(&clock_now);
    if (clock_now.source == JSP_CALLS_COUNTER)
        return true;
    SKIP("no steady counter here");
    return false;
}

/* As if it had been opened so much earlier. */
static void age(uint64_t ns)
{
    clock_now.ns0 -= ns;
    clock_now.tick0 -= (uint64_t)((unsigned __int128)ns * clock_now.ticks_per_second /
                                  1000000000);
}

/* However long the thread waits for a processor between two lines. */
TEST(rate_of_the_counter_is_that_of_the_next_milliseconds)
{
    if (!opened())
        return;
    uint64_t before = jsp_now_ns(CLOCK_MONOTONIC), tick = jsp_calls_now(&clock_now);
    uint64_t begin = jsp_now_ns(CLOCK_MONOTONIC), end = begin;
    while (end - begin < 20000000)
        end = jsp_now_ns(CLOCK_MONOTONIC);
    uint64_t told = jsp_calls_clock_ns(jsp_calls_now(&clock_now) - tick,
                                       clock_now.ticks_per_second);
    uint64_t after = jsp_now_ns(CLOCK_MONOTONIC);
    CHECK(told > (end - begin) / 100 * 99 && told < (after - before) / 100 * 101);
}

TEST(counter_that_runs_on_is_no_cause_for_alarm)
{
    if (!opened())
        return;
    age(5000000000);
    struct jsp_calls_rate rate = jsp_calls_clock_rate(&clock_now);
    CHECK(rate.off_ppm <= JSP_CALLS_OFF_PPM);
    CHECK(difference(rate.ticks_per_second, clock_now.ticks_per_second) <=
          clock_now.ticks_per_second / 1000);
}

TEST(counter_that_jumped_is_told_and_its_rate_not_believed)
{
    if (!opened())
        return;
    age(5000000000);
    uint64_t tick0 = clock_now.tick0;
    clock_now.tick0 = tick0 - clock_now.ticks_per_second; /* a second too many */
    struct jsp_calls_rate rate = jsp_calls_clock_rate(&clock_now);
    CHECK(rate.off_ppm > 190000 && rate.off_ppm < 210000);
    CHECK_EQ(rate.ticks_per_second, clock_now.ticks_per_second);
    clock_now.tick0 = jsp_calls_now(&clock_now) + clock_now.ticks_per_second; /* backwards */
    rate = jsp_calls_clock_rate(&clock_now);
    CHECK(rate.off_ppm > 900000);
    CHECK_EQ(rate.ticks_per_second, clock_now.ticks_per_second);
}

TEST(ticks_become_ns_without_overflow)
{
    CHECK_EQ(jsp_calls_clock_ns(3, 1000000000), 3);
    CHECK_EQ(jsp_calls_clock_ns(UINT64_MAX / 4, 4000000000u), UINT64_MAX / 16);
}

TEST_MAIN()
