/* calls/cost.c - see table.h for the contract.
 *
 * A loop of calls to a function of known work runs bare and with hooks, in turns. The
 * row's time minus the bare time is the cost between the time stamps of an enter and its
 * leave; the rest of the difference between both loops is the cost between a leave and
 * the next enter. For an enter after an enter, and for a leave after a leave, the sum is
 * right: in a tree there are as many of the one as of the other.
 *
 * The work must be longer than what a processor executes at the same time: the processor
 * reads its counter as early as it can, before short earlier work has ended. So some self
 * time of the shortest functions is credited to their callers; the total is right.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table.h"

#include <stdlib.h>

#include "sigsafe/sample.h"

enum { COST_CALLS = 200, COST_ROUNDS = 41, COST_WORK = 48, COST_KNOWN = 3 };

/* The cost of one call in ticks, inside and outside of the called function's time. */
struct cost_pair {
    double inside, outside;
};

/* Work whose steps depend on each other and whose end depends on the data, like most real
 * work. If a processor can predict the end, it begins with the following hook during the
 * work, and the hook seems to take no time; with a constant number of steps that happens
 * in some runs. */
static inline __attribute__((always_inline)) uint64_t cost_work(uint64_t x)
{
    do
        x = x * 0x9E3779B97F4A7C15u + 1;
    while (x > UINT64_MAX / COST_WORK);
    return x;
}

static __attribute__((noinline)) uint64_t cost_bare(uint64_t x)
{
    return cost_work(x);
}

static __attribute__((noinline)) uint64_t cost_hooked(jsprof_thread *t,
                                                      const jsprof_function *f, uint64_t x)
{
    jsprof_link link;
    jsprof_link_enter(t, &link, f);
    x = cost_work(x);
    jsprof_link_leave(t, &link);
    return x;
}

/* Both loops do the same work; each round has other data. */
static struct cost_pair cost_round(struct jsp_sampled *s, const jsprof_function *f,
                                   uint64_t seed)
{
    struct jsp_calls *c = s->own.calls;
    volatile uint64_t sink = seed;
    uint64_t before = jsp_counted(&c->rows[f->index].self);
    uint64_t at = jsp_calls_now(&c->shared->clock);
    for (int i = 0; i < COST_CALLS; i++)
        sink = cost_bare(sink);
    uint64_t bare = jsp_calls_now(&c->shared->clock);
    sink = seed;
    for (int i = 0; i < COST_CALLS; i++)
        sink = cost_hooked(&s->own, f, sink);
    uint64_t end = jsp_calls_now(&c->shared->clock);
    double one = (double)(bare - at) / (double)COST_CALLS;
    double self = (double)(jsp_counted(&c->rows[f->index].self) - before) / (double)COST_CALLS;
    double both = (double)(end - bare) / (double)COST_CALLS;
    return (struct cost_pair){ self - one, both - self };
}

static int cost_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double cost_median(double *values)
{
    qsort(values, COST_ROUNDS, sizeof *values, cost_compare);
    return values[COST_ROUNDS / 2];
}

/* Round to ticks, but never to 0: a reader detects events by the cost; see read.c. */
static uint64_t cost_ticks(double ticks)
{
    return ticks > 1 && ticks < 1e6 ? (uint64_t)(ticks + 0.5) : 1;
}

static void cost_rounds(struct jsp_sampled *s, struct jsp_calls_epoch *epoch)
{
    static const struct jsprof_function function = {
        .index = COST_KNOWN, .cell = COST_KNOWN * JSP_FUNCTION_CELL };
    double inside[COST_ROUNDS], outside[COST_ROUNDS];
    for (int i = -2; i < COST_ROUNDS; i++) { /* two rounds to warm up */
        struct cost_pair one = cost_round(s, &function, (uint64_t)(i + 3));
        inside[i < 0 ? 0 : i] = one.inside;
        outside[i < 0 ? 0 : i] = one.outside;
    }
    epoch->cost[JSP_CALLS_ENTER] = cost_ticks(cost_median(inside));
    epoch->cost[JSP_CALLS_LEAVE] = cost_ticks(cost_median(outside));
}

int jsp_calls_cost_measure(const struct jsp_calls_clock *clock, struct jsp_calls_epoch *epoch)
{
    memset(epoch->cost, 0, sizeof epoch->cost);
    if (!(epoch->modes & JSPROF_CALLS_TIME) || clock->source == JSP_CALLS_GIVEN)
        return 0;
    struct jsp_calls_shared *shared = jsp_calls_shared_new(clock);
    struct jsp_sampled *s = calloc(1, sizeof *s); /* a thread of no session */
    struct jsp_calls *c = NULL;
    int err = shared && s ? jsp_calls_create(&c, shared, jsp_calls_me()) : -ENOMEM;
    if (!err) {
        shared->epochs[1].modes = epoch->modes;
        shared->epochs[1].start = jsp_calls_now(clock);
        /* ORDER: relaxed. Only this thread uses it. */
        atomic_store_explicit(&shared->epoch, 1, memory_order_relaxed);
        jsp_calls_give(&s->own, c);
        s->own.counting = epoch->modes | JSP_CALLS_ASK;
        cost_rounds(s, epoch);
    }
    jsp_calls_destroy(c);
    free(s);
    jsp_calls_shared_drop(shared);
    return err;
}
