/* calls_own_test.c - the time that counting takes is measured and taken out: a program of
 * known length, with hooks and corrected, is as long as without them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

enum { ROUNDS = 41, TRIES = 100 * ROUNDS, CALLS = 5000, WORK = 120, PERCENT = 3 };

static struct host h;
static jsprof_thread *me;
static jsprof_function *outer, *inner;

/* Some 150 ns that keep the processor busy. In work of which each step waits for the one
 * before, a wide one runs the hooks in the gaps: they take no time there, and what is taken
 * out is too much, see docs/calls.md. */
static inline __attribute__((always_inline)) uint64_t steps(uint64_t x)
{
    uint64_t a = x, b = x, c = x, d = x;
    for (int i = 0; i < WORK; i++) {
        a += 1, b += 2, c += 3, d += 4;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d)); /* one by one */
        a += 4, b += 3, c += 2, d += 1;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d)); /* as above */
    }
    return a + b + c + d;
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

/* A pair of runs: corrected and as it was, as shares of the plain one. What a call takes
 * depends on what else the processor does now, so the cost is measured for each pair.
 * False: others had the processor meanwhile, or an interrupt, for a 200th of the time. */
static bool pair(double *corrected, double *raw)
{
    CHECK_EQ(jsprof_calls_set(h.prof, 0), 0);
    CHECK_EQ(jsprof_calls_set(h.prof, JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME), 0);
    uint64_t before = calls_of(h.prof, "outer").total_ns;
    uint64_t worked = host_ns(CLOCK_THREAD_CPUTIME_ID);
    double without = (double)run_plain();
    double with = (double)run_hooked();
    worked = host_ns(CLOCK_THREAD_CPUTIME_ID) - worked;
    *corrected = (double)(calls_of(h.prof, "outer").total_ns - before) / without;
    *raw = with / without;
    return (double)worked > (without + with) * 199 / 200;
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
    run_plain();
    run_hooked();
    int n = 0, tries = 0;
    for (; n < ROUNDS && tries < TRIES; tries++)
        n += pair(&corrected[n], &raw[n]);
    printf("# %d pairs of %d were not disturbed\n", n, tries);
    if (!CHECK_EQ(n, ROUNDS))
        return;
    double share = median(corrected), before = median(raw);
    printf("# with hooks %.3f of the plain time, corrected %.3f\n", before, share);
    CHECK(before > 1.0 + 3 * PERCENT / 100.0); /* else there was nothing to take out */
    CHECK(share > 1.0 - PERCENT / 100.0 && share < 1.0 + PERCENT / 100.0);
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
