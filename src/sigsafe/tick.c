/* sigsafe/tick.c - see tick.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tick.h"

/* xorshift64*: cheap, and random enough to be out of step with any program. */
uint64_t jsp_tick_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545F4914F6CDD1Du;
}

void jsp_tick_init(struct jsp_tick *tick, uint64_t period_ns, uint64_t now_ns, uint64_t seed)
{
    tick->period_ns = period_ns;
    tick->base_ns = now_ns;
    tick->cell = 0;
    tick->due_cell = UINT64_MAX;
    tick->due_ns = now_ns;
    tick->cost_ns = 0;
    jsp_tick_spent(tick, 0);
    tick->random = (seed ^ now_ns) * 0x9E3779B97F4A7C15u | 1;
    jsp_tick_random(&tick->random);
    for (uint32_t i = 0; i < JSP_TICK_STRATA; i++)
        tick->strata[i] = (uint8_t)i;
    tick->n_strata = JSP_TICK_STRATA;
}

/* Draw one of the strata that are left; after the last one, begin anew. */
static uint32_t tick_stratum(struct jsp_tick *tick)
{
    uint32_t at = (uint32_t)((jsp_tick_random(&tick->random) >> 32) * tick->n_strata >> 32);
    uint32_t last = --tick->n_strata;
    uint8_t drawn = tick->strata[at];
    tick->strata[at] = tick->strata[last];
    tick->strata[last] = drawn;
    if (!last)
        tick->n_strata = JSP_TICK_STRATA;
    return drawn;
}

/* Draw a point in this cell; it becomes the next one. */
static void tick_draw(struct jsp_tick *tick, uint64_t cell)
{
    uint32_t stratum = tick_stratum(tick);
    uint64_t begin = stratum * tick->period_ns / JSP_TICK_STRATA;
    uint64_t width = (stratum + 1) * tick->period_ns / JSP_TICK_STRATA - begin;
    uint64_t within = (uint64_t)((unsigned __int128)jsp_tick_random(&tick->random) * width >> 64);
    tick->due_cell = cell;
    tick->due_ns = tick->base_ns + cell * tick->period_ns + begin + within;
}

uint32_t jsp_tick_passed(struct jsp_tick *tick, uint64_t now_ns)
{
    uint64_t since = now_ns > tick->base_ns ? now_ns - tick->base_ns : 0;
    uint64_t cell = since / tick->period_ns;
    if (cell < tick->cell) /* its point has passed and was counted */
        return 0;
    uint64_t n = cell - tick->cell;
    tick->cell = cell;
    if (tick->due_cell != cell)
        tick_draw(tick, cell);
    if (tick->due_ns <= now_ns) {
        tick->cell++;
        n++;
    }
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

uint32_t jsp_tick_weigh(struct jsp_tick *tick, uint64_t now_ns)
{
    /* The two clocks may differ slightly and put us before the point that was due. */
    return jsp_tick_passed(tick, now_ns > tick->due_ns ? now_ns : tick->due_ns);
}

void jsp_tick_spent(struct jsp_tick *tick, uint64_t cost_ns)
{
    uint64_t cost = cost_ns < tick->cost_ns ? cost_ns : tick->cost_ns;
    uint64_t most = JSP_TICK_MOST * tick->period_ns;
    cost = cost > JSP_TICK_LEAST_NS ? cost : JSP_TICK_LEAST_NS;
    tick->load = (cost < most ? cost : most) * JSP_TICK_WHOLE / tick->period_ns;
    tick->cost_ns = cost_ns;
}

uint64_t jsp_tick_over(uint64_t load)
{
    uint64_t over = JSP_TICK_SHARE * load / JSP_TICK_WHOLE;
    return over < JSP_TICK_MOST ? over : JSP_TICK_MOST;
}

uint64_t jsp_tick_next(struct jsp_tick *tick, uint64_t now_ns, uint64_t load)
{
    uint64_t cell = tick->cell + jsp_tick_over(load);
    if (tick->due_cell != cell)
        tick_draw(tick, cell);
    if (tick->due_ns <= now_ns) /* the next sample's weight counts the points up to now */
        tick_draw(tick, (now_ns - tick->base_ns) / tick->period_ns + 1);
    return tick->due_ns;
}
