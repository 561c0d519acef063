/* tests/bench/bench.h - series of measurements, their spread, and a row of the table.
 *
 * Every figure is a series of ratios (or of differences) of things that ran right
 * after one another, shown as median and quartiles. The verdict asks the confidence
 * interval of the median, the notch of a box plot: all of it within the limit is
 * "yes", all of it beyond is "NO", and else the noise does not allow an answer.
 *
 * Rows go to standard output, fields separated by tabs; tests/bench/run makes the
 * table. Each program is one process with one measuring thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_H
#define BENCH_H

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { BENCH_MAX = 2048 };

struct bench_series {
    int n;
    double v[BENCH_MAX];
};

struct bench_spread {
    double low, median, high; /* quartiles */
    double notch;             /* the median's 95 % interval is median +- notch */
};

/* One line of the table. */
struct bench_row {
    const char *budget, *limit_text; /* limit_text NULL: told, not judged */
    double limit;
    const char *unit; /* " ns", "x", "%", ... */
    const char *peer; /* what stands beside it, already text */
};

static inline double bench_ns(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* QUICK=1 in the environment: a fifth of the rounds, but never under 11. */
static inline int bench_rounds(int full)
{
    const char *quick = getenv("QUICK");
    bool is_quick = quick && *quick && strcmp(quick, "0") != 0;
    return !is_quick ? full : full / 5 > 11 ? full / 5 : 11;
}

/* BESIDE=N in the environment: N other programs that are always busy, until this one ends. */
static inline void bench_beside(void)
{
    const char *beside = getenv("BESIDE");
    for (int n = beside ? atoi(beside) : 0; n > 0; n--)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                continue;
        }
}

static inline bool bench_verbose(void)
{
    const char *verbose = getenv("VERBOSE");
    return verbose && *verbose && strcmp(verbose, "0") != 0;
}

/* Stay on one processor, the last that we may use: the first serves interrupts. */
static inline void bench_pin(void)
{
    cpu_set_t may, one;
    if (sched_getaffinity(0, sizeof may, &may) != 0)
        return;
    int cpu = CPU_SETSIZE - 1;
    while (cpu > 0 && !CPU_ISSET((size_t)cpu, &may))
        cpu--;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static inline void bench_need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "bench: %s failed\n", what);
    exit(1);
}

static inline void bench_add(struct bench_series *s, double v)
{
    bench_need(s->n < BENCH_MAX, "a series longer than its room");
    s->v[s->n++] = v;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_quantile(const struct bench_series *sorted, double q)
{
    double at = q * (sorted->n - 1);
    int i = (int)at;
    if (i + 1 >= sorted->n)
        return sorted->v[sorted->n - 1];
    return sorted->v[i] + (at - i) * (sorted->v[i + 1] - sorted->v[i]);
}

static inline struct bench_spread bench_spread(const struct bench_series *s)
{
    static struct bench_series sorted;
    bench_need(s->n > 0, "a series without a measurement");
    sorted = *s;
    qsort(sorted.v, (size_t)sorted.n, sizeof sorted.v[0], bench_compare);
    struct bench_spread r = { .low = bench_quantile(&sorted, 0.25),
                              .median = bench_quantile(&sorted, 0.5),
                              .high = bench_quantile(&sorted, 0.75) };
    r.notch = 1.57 * (r.high - r.low) / sqrt(s->n);
    return r;
}

static inline double bench_median(const struct bench_series *s)
{
    return bench_spread(s).median;
}

static inline const char *bench_verdict(struct bench_spread s, double limit, double scaled)
{
    if (s.median + s.notch <= limit)
        return "yes";
    if (s.median + s.notch <= scaled)
        return "scaled";
    return s.median - s.notch > (limit > scaled ? limit : scaled) ? "NO" : "noise";
}

/* `scaled`: the limit in proportion to this machine's floor, see docs/bench.md; 0: none. */
static inline void bench_print_scaled(const struct bench_row *row, double scaled,
                                      const struct bench_series *s)
{
    struct bench_spread r = bench_spread(s);
    double size = fabs(r.median);
    int digits = size >= 1000 ? 0 : size >= 20 ? 1 : 2;
    printf("row\t%s\t%s\t%.*f%s (%.*f..%.*f)\t%s\t%s\n", row->budget,
           row->limit_text ? row->limit_text : "-", digits, r.median, row->unit, digits, r.low,
           digits, r.high, row->peer ? row->peer : "-",
           row->limit_text ? bench_verdict(r, row->limit, scaled) : "-");
    fflush(stdout);
}

static inline void bench_print(const struct bench_row *row, const struct bench_series *s)
{
    bench_print_scaled(row, 0, s);
}

#endif
