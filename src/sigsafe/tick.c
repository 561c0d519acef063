/* sigsafe/tick.c - see tick.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tick.h"

/* xorshift64*: cheap, and good enough to be out of step with anything. */
static uint64_t tick_random(struct jsp_tick *tick)
{
    uint64_t x = tick->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    tick->random = x;
    return x * 0x2545F4914F6CDD1Du;
}

void jsp_tick_init(struct jsp_tick *tick, uint64_t period_ns, uint64_t now_ns, uint64_t seed)
{
    tick->period_ns = period_ns;
    tick->base_ns = now_ns;
    tick->cell = 0;
    tick->random = (seed ^ now_ns) * 0x9E3779B97F4A7C15u | 1;
    tick_random(tick);
}

uint32_t jsp_tick_weigh(struct jsp_tick *tick, uint64_t now_ns)
{
    uint64_t since = now_ns > tick->base_ns ? now_ns - tick->base_ns : 0;
    uint64_t cell = since / tick->period_ns + 1;
    /* Two clocks that differ by a hair may put us before the point that was due. */
    if (cell <= tick->cell)
        cell = tick->cell + 1;
    uint64_t weight = cell - tick->cell;
    tick->cell = cell;
    return weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}

uint64_t jsp_tick_next(struct jsp_tick *tick)
{
    uint64_t within = (uint64_t)((unsigned __int128)tick_random(tick) * tick->period_ns >> 64);
    return tick->base_ns + tick->cell * tick->period_ns + within;
}
