/* skid_test.c - src/sigsafe/delay.c: a short system call has its time in the samples, not that of
 * what ran before it.
 *
 * The looker's signal comes from another processor, and a system call pulls it forward to its own
 * end. Where that signal was the sample, one getppid in 6, 20, 100 us had 97, 37, 7 % of them. The
 * truth is the price of a call and of the work before it, each measured over many of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <math.h>
#include <sys/syscall.h>

#include "host.h"

enum { SKID_HZ = 1000, SKID_SAMPLES = 2500, SKID_ROUNDS = 200, SKID_UNITS = 20000000 };

/* Chance alone exceeds so many standard deviations in fewer than 1 of 100,000 runs, one-sided. */
#define SKID_CHANCE 4.27

struct skid_row {
    double us;    /* of work before each call */
    size_t bytes; /* 0: getppid; otherwise read so many */
    double near;  /* the share may be wrong by so many points: the prices change, too */
};

static int skid_zero;
static char skid_into[1 << 19];

static __attribute__((noinline)) void skid_work(uint64_t units)
{
    for (volatile uint64_t i = 0; i < units; i = i + 1)
        continue;
}

static __attribute__((noinline)) void skid_call(jsprof_thread *me, size_t bytes)
{
    jsprof_push(me, "call", NULL, 0);
    if (bytes)
        CHECK(read(skid_zero, skid_into, bytes) >= 0);
    else
        syscall(SYS_getppid);
    jsprof_pop(me);
}

/* Return what one of n units of work takes, or one of n calls, in us. */
static double skid_work_us(uint64_t n)
{
    uint64_t from = host_ns(CLOCK_THREAD_CPUTIME_ID);
    skid_work(n);
    return (double)(host_ns(CLOCK_THREAD_CPUTIME_ID) - from) / 1e3 / (double)n;
}

static double skid_call_us(jsprof_thread *me, size_t bytes, uint64_t n)
{
    uint64_t from = host_ns(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t i = 0; i < n; i++)
        skid_call(me, bytes);
    return (double)(host_ns(CLOCK_THREAD_CPUTIME_ID) - from) / 1e3 / (double)n;
}

/* Return the samples in which the thread ran, and was in this function; NULL: in any. */
static double skid_samples(struct host *h, const char *name)
{
    uint64_t samples = 0;
    for (uint32_t s = 0; s < h->profile.n_stacks; s++)
        if (jsp_profile_state(&h->profile, s)->state != JSP_STATE_WAITING &&
            (!name || host_stack_has(h, s, name)))
            samples += h->profile.stacks[s].samples;
    return (double)samples;
}

static bool skid_run(struct host *h, int clock, const struct skid_row *row, uint64_t units)
{
    jsprof_thread *me;
    jsprof_stats stats = { .size = sizeof stats };
    if (!host_begin_with(h, host_options(SKID_HZ, clock), &me))
        return false;
    while (stats.samples < SKID_SAMPLES) {
        for (int i = 0; i < SKID_ROUNDS; i++) {
            skid_work(units);
            skid_call(me, row->bytes);
        }
        CHECK_EQ(jsprof_stats_get(h->prof, &stats), 0);
    }
    return host_close(h);
}

static void skid_look(int clock, struct skid_row row)
{
    struct host h;
    double unit_us = skid_work_us(SKID_UNITS);
    double call_us = skid_call_us(NULL, row.bytes, row.bytes ? 5000 : 200000);
    uint64_t units = (uint64_t)(row.us / unit_us);
    if (skid_run(&h, clock, &row, units)) {
        host_check(&h);
        double all = skid_samples(&h, NULL), share = skid_samples(&h, "call") / all;
        double truth = call_us / (call_us + (double)units * unit_us);
        double most = truth + row.near / 100, least = truth - row.near / 100;
        double chance = SKID_CHANCE * sqrt(most * (1 - most) / all);
        printf("# a call of %.2f us in %.0f us: %.1f %% of %.0f samples, %.1f %% are true\n",
               call_us, row.us, 100 * share, all, 100 * truth);
        CHECK(share < most + chance);
        CHECK(share > least - chance);
    }
    host_free(&h);
}

static void skid_looks(int clock)
{
    static const double us[] = { 6, 20, 100 };
    for (size_t i = 0; i < sizeof us / sizeof *us; i++)
        skid_look(clock, (struct skid_row){ .us = us[i], .near = 3 });
    skid_look(clock, (struct skid_row){ .us = 20, .bytes = sizeof skid_into, .near = 8 });
}

TEST(short_call_has_its_own_time_alone_on_the_cpu_clock)
{
    skid_looks(JSPROF_CLOCK_CPU);
}

TEST(short_call_has_its_own_time_alone_on_the_wall_clock)
{
    skid_looks(JSPROF_CLOCK_WALL);
}

int main(void)
{
    skid_zero = open("/dev/zero", O_RDONLY);
    RUN(short_call_has_its_own_time_alone_on_the_cpu_clock);
    RUN(short_call_has_its_own_time_alone_on_the_wall_clock);
    return DONE();
}
