/* calls_own.c - the time that counting takes is measured and taken out: a program of
 * known length, with hooks and corrected, is as long as without them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "../signal/calls.h"

#include <math.h>

enum { ROUNDS = 41, TRIES = 100 * ROUNDS, CALLS = 5000, WORK = 120, LEAST_WORK = 15 };
/* clang 19 warns where a double meets a number of an enum. */
static const double price_percent = 10, calm_percent = 102;

static struct host h;
static jsprof_thread *me;
static jsprof_function *outer, *inner;
static uint64_t steps_end = UINT64_MAX / WORK;

/* Each step needs the one before, and the processor can not foresee the last. Where it could,
 * the hook would run beside the work and take no time, see docs/calls.md. */
static inline __attribute__((always_inline)) uint64_t steps(uint64_t x)
{
    do
        x = x * 6364136223846793005u + 1442695040888963407u;
    while (x > steps_end);
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

static uint64_t run_plain(void)
{
    volatile uint64_t x = 1;
    uint64_t begin = host_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < CALLS; i++)
        x = plain(x);
    return host_ns(CLOCK_MONOTONIC) - begin;
}

static uint64_t run_hooked(void)
{
    jsprof_link link;
    volatile uint64_t x = 1;
    uint64_t begin = host_ns(CLOCK_MONOTONIC);
    jsprof_link_enter(me, &link, outer);
    for (int i = 0; i < CALLS; i++)
        x = hooked(x);
    jsprof_link_leave(me, &link);
    return host_ns(CLOCK_MONOTONIC) - begin;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

/* Is it no more than the shortest of late, but for calm_percent? */
static bool is_calm(double ns, double *best)
{
    *best = fmin(ns, *best * 1.0005); /* a processor that was faster for a while is forgotten */
    return ns < *best * calm_percent / 100;
}

static double best_plain = INFINITY, best_hooked = INFINITY;

/* A run with hooks between two without: corrected and as it was, as shares of those. What a
 * call takes depends on what else the processor does now, so the cost is measured anew.
 * False: others had the processor meanwhile, or an interrupt, for a 200th of the time; or
 * a program that shares the core or its cache made a run slower than the others. */
static bool between(double *corrected, double *raw)
{
    CHECK_EQ(jsprof_calls_set(h.prof, 0), 0);
    CHECK_EQ(jsprof_calls_set(h.prof, JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME), 0);
    uint64_t before = calls_of(h.prof, "outer").total_ns;
    uint64_t worked = host_ns(CLOCK_THREAD_CPUTIME_ID);
    double first = (double)run_plain();
    double with = (double)run_hooked();
    double second = (double)run_plain();
    worked = host_ns(CLOCK_THREAD_CPUTIME_ID) - worked;
    double without = (first + second) / 2;
    *corrected = (double)(calls_of(h.prof, "outer").total_ns - before) / without;
    *raw = with / without;
    bool is_quiet = (double)worked > (first + with + second) * 199 / 200;
    is_quiet &= is_calm(first, &best_plain);
    is_quiet &= is_calm(second, &best_plain);
    is_quiet &= is_calm(with, &best_hooked);
    return is_quiet;
}

/* What hooks cost beside the work depends on the processor. Shorten the work until they add
 * enough that a missing correction would be seen. */
static void choose_work(void)
{
    for (uint64_t work = WORK; work >= LEAST_WORK; work /= 2) {
        double corrected, raw[ROUNDS];
        steps_end = UINT64_MAX / work;
        for (int i = 0; i < ROUNDS; i++)
            between(&corrected, &raw[i]);
        printf("# %.0f steps: hooks add %.1f%%\n", (double)work, 100 * median(raw) - 100);
        if (median(raw) > 1.0 + price_percent / 100.0)
            return;
    }
}

TEST(corrected_total_is_the_time_without_hooks)
{
    double corrected[ROUNDS], raw[ROUNDS];
    if (HOST_SANITIZED) {
        SKIP("a sanitizer's own time is not the profiler's");
        return;
    }
    outer = calls_function("outer", JSPROF_KIND_VM);
    inner = calls_function("inner", JSPROF_KIND_VM);
    if (!calls_begin(&h, &me, JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME))
        return;
    choose_work();
    best_plain = best_hooked = INFINITY;
    int n = 0, tries = 0;
    for (; n < ROUNDS && tries < TRIES; tries++)
        n += between(&corrected[n], &raw[n]);
    printf("# %d of %d were not disturbed\n", n, tries);
    if (n < ROUNDS) {
        SKIP("others disturbed it all the time");
        return;
    }
    double share = median(corrected), before = median(raw);
    printf("# with hooks %.3f of the plain time, corrected %.3f\n", before, share);
    CHECK(before > share); /* something was taken out */
    /* On some processors a third of a hook runs beside the work all the same. */
    CHECK(fabs(share - 1.0) < (before - 1.0) / 2);
    jsprof_calls calls = calls_now(h.prof);
    CHECK(calls.own_ns > 0);
    jsprof_calls_free(&calls);
    calls_end(&h, me);
    jsprof_function_free(outer);
    jsprof_function_free(inner);
}

int main(void)
{
    RUN(corrected_total_is_the_time_without_hooks);
    return DONE();
}
