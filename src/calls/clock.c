/* calls/clock.c - see clock.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "clock.h"

enum {
    CLOCK_SECOND = 1000000000,
    CLOCK_OPEN_NS = 2000000,       /* time over which the first rate is measured */
    /* after this time the rate since open is the better one */
    CLOCK_LONG_NS = CLOCK_SECOND,
    CLOCK_TRIES = 16,
};

/* One moment of both clocks: the counter was read between two reads of the other clock,
 * as close together as possible. */
struct clock_moment {
    uint64_t tick, ns;
};

static struct clock_moment clock_look(void)
{
    struct clock_moment best = { 0, 0 };
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t before = jsp_now_ns(CLOCK_MONOTONIC), tick = jsp_counter_now();
        uint64_t after = jsp_now_ns(CLOCK_MONOTONIC);
        if (after - before < closest) {
            closest = after - before;
            best = (struct clock_moment){ tick, before + closest / 2 };
        }
    }
    return best;
}

static uint64_t clock_rate(uint64_t ticks, uint64_t ns)
{
    return ns ? (uint64_t)((unsigned __int128)ticks * CLOCK_SECOND / ns) : 0;
}

void jsp_calls_clock_open(struct jsp_calls_clock *clock)
{
    *clock = (struct jsp_calls_clock){ .ticks_per_second = CLOCK_SECOND };
    if (!jsp_counter_is_steady())
        return;
    struct clock_moment begin = clock_look(), end;
    do
        end = clock_look();
    while (end.ns - begin.ns < CLOCK_OPEN_NS);
    uint64_t rate = end.tick > begin.tick ? clock_rate(end.tick - begin.tick, end.ns - begin.ns)
                                          : 0;
    if (!rate)
        return;
    *clock = (struct jsp_calls_clock){ JSP_CALLS_COUNTER, NULL, rate, begin.tick, begin.ns };
}

struct jsp_calls_rate jsp_calls_clock_rate(const struct jsp_calls_clock *clock)
{
    struct jsp_calls_rate r = { clock->ticks_per_second, 0 };
    if (clock->source != JSP_CALLS_COUNTER)
        return r;
    struct clock_moment now = clock_look();
    if (now.ns - clock->ns0 < CLOCK_LONG_NS)
        return r;
    uint64_t rate = now.tick > clock->tick0 ? clock_rate(now.tick - clock->tick0,
                                                         now.ns - clock->ns0) : 0;
    uint64_t off = rate > r.ticks_per_second ? rate - r.ticks_per_second
                                             : r.ticks_per_second - rate;
    off = (uint64_t)((unsigned __int128)off * 1000000 / r.ticks_per_second);
    r.off_ppm = off < UINT32_MAX ? (uint32_t)off : UINT32_MAX;
    if (r.off_ppm <= JSP_CALLS_OFF_PPM)
        r.ticks_per_second = rate;
    return r;
}

uint64_t jsp_calls_clock_ns(uint64_t ticks, uint64_t ticks_per_second)
{
    return (uint64_t)((unsigned __int128)ticks * CLOCK_SECOND / ticks_per_second);
}
