/* calls/clock.h - the clock of exact calls: the processor's counter where it is steady,
 * else clock_gettime. Any thread.
 *
 * Ticks are converted to nanoseconds when they are shown. The rate is measured against
 * CLOCK_MONOTONIC when a clock is opened, and again over the whole time since then: if
 * the two rates differ by more than slewing explains, the counter has jumped.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_CLOCK_H
#define JSP_CALLS_CLOCK_H

#include <stddef.h>

#include "counter.h"
#include "sigsafe/room.h"

enum jsp_calls_source {
    JSP_CALLS_MONOTONIC = 0,
    JSP_CALLS_COUNTER = 1,
    JSP_CALLS_GIVEN = 2, /* tests set the time; a tick is a nanosecond */
};

enum { JSP_CALLS_OFF_PPM = 1000 }; /* slewing moves CLOCK_MONOTONIC by at most 500 */

struct jsp_calls_clock {
    enum jsp_calls_source source;
    const uint64_t *given;     /* borrowed: the current time, for JSP_CALLS_GIVEN */
    uint64_t ticks_per_second; /* as measured at open */
    uint64_t tick0, ns0;       /* one moment of both clocks, at open */
};

/* The rate of a clock as known now. */
struct jsp_calls_rate {
    uint64_t ticks_per_second;
    uint32_t off_ppm; /* difference between the rate since open and the rate at open */
};

/* Return the clock's time in ticks. Any thread, also in a handler. */
static inline uint64_t jsp_calls_now(const struct jsp_calls_clock *clock)
{
    if (__builtin_expect(clock->source == JSP_CALLS_COUNTER, 1))
        return jsp_counter_now();
    return clock->given ? *clock->given : jsp_now_ns(CLOCK_MONOTONIC);
}

/* Open the best clock available; this takes about two milliseconds. */
void jsp_calls_clock_open(struct jsp_calls_clock *clock);

/* Return the rate as known now: as measured since open if that is long ago and near the rate
 * at open, otherwise the rate at open. */
struct jsp_calls_rate jsp_calls_clock_rate(const struct jsp_calls_clock *clock);

/* Convert any number of ticks without overflow. */
uint64_t jsp_calls_clock_ns(uint64_t ticks, uint64_t ticks_per_second);

#endif
