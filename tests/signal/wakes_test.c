/* wakes_test.c - src/session/{looker,looked,looker_wall}.c: a thread sleeps and then runs three
 * functions, on the looker's processor. Each has its time, and none of the sleep's.
 *
 * On the wall clock, one point of each sleep went to the functions. On both clocks, the first one
 * had almost nothing, because the looker sleeps, too, until a tick meets the thread.
 *
 * The threads have real-time priority, where that is allowed: other programs do not disturb them.
 * Elsewhere looks may be late, and the check is only that the functions do not have more than
 * their time. LONG=1: 1,000 wakes instead of 60.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <math.h>

#include "looker.h"

enum { WAKES_SLEEP_US = 100000, WAKES_RUNS = 3, WAKES_RUN_NS = 2000000, WAKES_TRIES = 3 };

static const char *const wakes_names[WAKES_RUNS] = { "one", "two", "three" };

static uint32_t wakes_count(void)
{
    return faults_ms() > 1000 ? 1000 : 60;
}

/* Run for some time of the clock. Return how long it was. */
static uint64_t wakes_run(jsprof_thread *me, const char *name, clockid_t clock)
{
    uint64_t from = host_ns(clock), now = from;
    jsprof_push(me, name, NULL, 0);
    while (now < from + WAKES_RUN_NS)
        now = host_ns(clock);
    jsprof_pop(me);
    return now - from;
}

/* Return true if each function has its time, by chance, or at least (`is_first`: no other program
 * disturbs us) all together have no more. A sample of the tick stands for up to 4 ms, and the begin
 * and the end of a function lie anywhere in a period: that is 2 ms a wake, as a standard error. */
static bool wakes_are_near(struct host *h, const uint64_t ran_ns[WAKES_RUNS], double period_ms,
                           bool is_first)
{
    double chance = 4 * 2 * sqrt(wakes_count()), sum = 0;
    bool is_near = true;
    for (int i = 0; i < WAKES_RUNS; i++) {
        double is = (double)host_weight(h, wakes_names[i]) * period_ms;
        double was = (double)ran_ns[i] / 1e6;
        printf("# %s: %.0f ms of %.1f +- %.0f\n", wakes_names[i], is, was, chance);
        is_near = is_near && (!is_first || fabs(is - was) < chance);
        sum += is - was;
    }
    return is_near && sum < chance;
}

/* Let the looker interrupt this thread, and both interrupt others. Return false if that is not
 * allowed. */
static bool wakes_rank(void)
{
    const struct sched_param first = { .sched_priority = 2 }, next = { .sched_priority = 1 };
    DIR *threads = opendir("/proc/self/task");
    bool is_looker = false;
    for (struct dirent *e; threads && !is_looker && (e = readdir(threads));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *file = fopen(path, "r");
        is_looker = file && fgets(name, sizeof name, file) && !strcmp(name, "jsprof-looker\n") &&
                    !sched_setscheduler(atoi(e->d_name), SCHED_FIFO, &first);
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return is_looker && !sched_setscheduler(0, SCHED_FIFO, &next);
}

static bool wakes_try(int clock, uint32_t hz)
{
    struct host h;
    jsprof_thread *me;
    uint64_t ran_ns[WAKES_RUNS] = { 0 };
    bool is_near = false;
    if (!host_begin_with(&h, faults_options(clock, hz), &me))
        return false;
    bool is_first = wakes_rank();
    for (uint32_t n = wakes_count(); n; n--) {
        faults_sleep_us(WAKES_SLEEP_US);
        for (int i = 0; i < WAKES_RUNS; i++)
            ran_ns[i] += wakes_run(me, wakes_names[i], clock == JSPROF_CLOCK_CPU
                                                           ? CLOCK_THREAD_CPUTIME_ID
                                                           : CLOCK_MONOTONIC);
    }
    sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ .sched_priority = 0 });
    if (host_close(&h)) {
        host_check(&h);
        CHECK(host_weight(&h, wakes_names[WAKES_RUNS - 1]) > 0);
        is_near = wakes_are_near(&h, ran_ns, 1000.0 / hz, is_first);
        printf("# %s\n", is_first ? h.profile.looks : "no real-time priority");
    }
    host_free(&h);
    return is_near;
}

static void wakes_at(int clock, uint32_t hz)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    bool is_near = false;
    for (int tries = WAKES_TRIES; tries > 0 && !is_near; tries--)
        is_near = wakes_try(clock, hz);
    CHECK(is_near);
    sched_setaffinity(0, sizeof all, &all);
}

TEST(functions_after_a_sleep_have_their_time_on_the_wall_clock)
{
    wakes_at(JSPROF_CLOCK_WALL, 250);
}

TEST(functions_after_a_sleep_have_their_time_on_the_cpu_clock)
{
    wakes_at(JSPROF_CLOCK_CPU, 1000);
}

int main(void)
{
    RUN(functions_after_a_sleep_have_their_time_on_the_wall_clock);
    RUN(functions_after_a_sleep_have_their_time_on_the_cpu_clock);
    return DONE();
}
