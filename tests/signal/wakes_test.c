/* wakes_test.c - src/session/looker_wall.c: the time of a sleep is not charged to the functions
 * that run after it.
 *
 * The thread and the looker share a processor. So a look often finds that the thread waits for it,
 * which is when points of the sleep went to the function that waits: one for each time that it woke
 * up. Where the machine is busy, looks are late, and functions that run for so short have less than
 * their time, so the check is that they do not have more. LONG=1: 1,000 wakes instead of 100.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <poll.h>

#include "looker.h"

enum { WAKES_HZ = 250, WAKES_MS = 1000 / WAKES_HZ, WAKES_SLEEP_MS = 100, WAKES_RUNS = 3,
       WAKES_RUN_NS = 2000000, WAKES_TRIES = 3 };

static const char *const wakes_names[WAKES_RUNS] = { "one", "two", "three" };

static uint32_t wakes_count(void)
{
    return faults_ms() > 1000 ? 1000 : 100;
}

/* Run for some time of the clock. Return how long it was. */
static uint64_t wakes_run(jsprof_thread *me, const char *name)
{
    uint64_t from = host_ns(CLOCK_MONOTONIC), now = from;
    jsprof_push(me, name, NULL, 0);
    while (now < from + WAKES_RUN_NS)
        now = host_ns(CLOCK_MONOTONIC);
    jsprof_pop(me);
    return now - from;
}

/* Return by how many ms the functions have more than their time. */
static double wakes_excess(struct host *h, const uint64_t ran_ns[WAKES_RUNS])
{
    double excess = 0;
    for (int i = 0; i < WAKES_RUNS; i++) {
        double is = (double)host_weight(h, wakes_names[i]) * WAKES_MS;
        double was = (double)ran_ns[i] / 1e6;
        printf("# %s: %.0f ms of %.1f\n", wakes_names[i], is, was);
        excess += is - was;
    }
    return excess;
}

/* Return true if the functions have no more than their time, by chance. Each time, their begin
 * and their end lie anywhere in a period. */
static bool wakes_try(void)
{
    struct host h;
    jsprof_thread *me;
    uint64_t ran_ns[WAKES_RUNS] = { 0 };
    bool is_near = false;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, WAKES_HZ), &me))
        return false;
    for (uint32_t n = wakes_count(); n; n--) {
        faults_sleep_us(WAKES_SLEEP_MS * 1000);
        for (int i = 0; i < WAKES_RUNS; i++)
            ran_ns[i] += wakes_run(me, wakes_names[i]);
    }
    if (host_close(&h)) {
        host_check(&h);
        CHECK(host_weight(&h, wakes_names[WAKES_RUNS - 1]) > 0);
        double excess = wakes_excess(&h, ran_ns);
        double chance = 3.5 * WAKES_MS * sqrt(wakes_count() / 6.0);
        is_near = excess < chance;
        printf("# together %.0f ms more, %.0f at most by chance\n# %s\n", excess, chance,
               h.profile.looks);
    }
    host_free(&h);
    return is_near;
}

TEST(functions_after_a_sleep_have_none_of_its_time)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    bool is_near = false;
    for (int tries = WAKES_TRIES; tries > 0 && !is_near; tries--)
        is_near = wakes_try();
    CHECK(is_near);
    sched_setaffinity(0, sizeof all, &all);
}

int main(void)
{
    RUN(functions_after_a_sleep_have_none_of_its_time);
    return DONE();
}
