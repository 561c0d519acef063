/* corrected.c - the time of a program of known length with hooks, without what they took.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/calls.h"

#include "bench.h"

enum { CORRECTED_CALLS = 5000, CORRECTED_WORK = 60 };

static struct host h;
static jsprof_thread *me;
static jsprof_function *outer, *inner;

/* Each step needs the one before, and the processor can not foresee the last. Where it could,
 * the hook would run beside the work and take no time, see docs/calls.md. */
static inline __attribute__((always_inline)) uint64_t steps(uint64_t x)
{
    do
        x = x * 6364136223846793005u + 1442695040888963407u;
    while (x > UINT64_MAX / CORRECTED_WORK);
    return x;
}

static __attribute__((noinline)) uint64_t plain(uint64_t x)
{
    return steps(x);
}

static __attribute__((noinline)) uint64_t hooked(uint64_t x)
{
    jsprof_link link;
    jsprof_link_enter(me, &link, inner);
    x = steps(x);
    jsprof_link_leave(me, &link);
    return x;
}

static double run_plain(void)
{
    volatile uint64_t x = 1;
    double begin = bench_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < CORRECTED_CALLS; i++)
        x = plain(x);
    return bench_ns(CLOCK_MONOTONIC) - begin;
}

/* Return the corrected time. The cost of a hook is measured when counting begins. */
static double run_hooked(void)
{
    jsprof_link link;
    volatile uint64_t x = 1;
    jsprof_calls_set(h.prof, 0);
    jsprof_calls_set(h.prof, JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME);
    uint64_t before = calls_of(h.prof, "outer").total_ns;
    jsprof_link_enter(me, &link, outer);
    for (int i = 0; i < CORRECTED_CALLS; i++)
        x = hooked(x);
    jsprof_link_leave(me, &link);
    return (double)(calls_of(h.prof, "outer").total_ns - before);
}

int main(void)
{
    static struct bench_series ratio;
    bench_pin();
    outer = calls_function("outer", JSPROF_KIND_VM);
    inner = calls_function("inner", JSPROF_KIND_VM);
    bench_need(calls_begin(&h, &me, JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME), "counting");
    for (int i = bench_rounds(201); i > 0; i--) {
        double first = run_plain(), with = run_hooked(), second = run_plain();
        bench_add(&ratio, 2 * with / (first + second));
    }
    calls_end(&h, me);
    bench_print(&(struct bench_row){ "corrected time of counted calls", "<= 1.1 x", 1.1, "x",
                                     "the program without hooks" }, &ratio);
    return 0;
}
