/* ticks_test.c - src/session/looker_deep.c, src/sigsafe/sample.c: a thread that runs rarely is
 * sampled by the ticks that meet it, while the looker sleeps.
 *
 * The looker looked at such a thread a thousand times a second. When it slept between the turns, a
 * tick woke it, but too late: turns of 0.1 ms had no sample at all, and their time was lost.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>

#include "../deny.h"
#include "looker.h"

#define STEP_NS UINT64_C(4000000000)

enum { TICKS_TURNS = 300, TICKS_TURN_NS = 100000, TICKS_PAUSE_US = 10000, TICKS_TRIES = 3 };

/* Return how often the looker has gone to sleep. */
static uint64_t ticks_naps(void)
{
    unsigned long long naps = 0;
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *e; threads && (e = readdir(threads)) != NULL;) {
        char path[300], line[128];
        bool is_it = false;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) {
            is_it = is_it || !strcmp(line, "Name:\tjsprof-looker\n");
            if (is_it && sscanf(line, "voluntary_ctxt_switches: %llu", &naps) == 1)
                break;
        }
        if (file)
            fclose(file);
    }
    if (threads)
        closedir(threads);
    return naps;
}

/* Run for a moment, many times. Return the CPU time. */
static uint64_t ticks_turns(jsprof_thread *me)
{
    uint64_t begin = host_ns(CLOCK_THREAD_CPUTIME_ID);
    jsprof_push(me, "turn", NULL, 0);
    for (int i = 0; i < TICKS_TURNS; i++) {
        uint64_t from = host_ns(CLOCK_THREAD_CPUTIME_ID);
        while (host_ns(CLOCK_THREAD_CPUTIME_ID) < from + TICKS_TURN_NS)
            continue;
        faults_sleep_us(TICKS_PAUSE_US);
    }
    jsprof_pop(me);
    return host_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

/* The ticks are few, and what the last one has not met is lost, so half of the time is enough. The
 * looker stays awake for 50 of its periods after each tick. */
static bool ticks_try(void)
{
    struct host h;
    jsprof_thread *me;
    bool is_near = false;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_CPU, 1000), &me))
        return false;
    uint64_t begin = host_ns(CLOCK_MONOTONIC), ran_ns = ticks_turns(me), naps = ticks_naps();
    uint64_t ms = (host_ns(CLOCK_MONOTONIC) - begin) / 1000000;
    if (host_close(&h)) {
        uint64_t periods = ran_ns / 1000000;
        host_check(&h);
        printf("# %u of %llu periods, %llu naps of the looker in %llu ms\n",
               (unsigned)host_weight(&h, "turn"), (unsigned long long)periods,
               (unsigned long long)naps, (unsigned long long)ms);
        is_near = host_weight(&h, "turn") > periods / 2 &&
                  host_weight(&h, "turn") < periods + 10 && naps < ms / 2;
    }
    host_free(&h);
    return is_near;
}

TEST(thread_with_short_turns_has_its_time_and_lets_the_looker_sleep)
{
    bool is_near = false;
    for (int tries = TICKS_TRIES; tries > 0 && !is_near; tries--)
        is_near = ticks_try();
    CHECK(is_near);
}

/* Wait for a tick. Return the time since a multiple of its length. */
static uint64_t step_phase(uint64_t tick_ns)
{
    uint64_t before = host_ns(CLOCK_MONOTONIC_COARSE);
    while (host_ns(CLOCK_MONOTONIC_COARSE) == before)
        continue;
    return host_ns(CLOCK_MONOTONIC) % tick_ns;
}

/* Run for a quarter of a tick, right after each fifth one, so that no tick meets the thread. Return
 * the looker's naps in the second half of the time. */
static uint64_t step_turns(jsprof_thread *me, uint64_t tick_ns)
{
    uint64_t naps = 0, step = 5 * tick_ns;
    uint64_t due = host_ns(CLOCK_MONOTONIC) / tick_ns * tick_ns + step_phase(tick_ns) +
                   tick_ns / 8;
    jsprof_push(me, "turn", NULL, 0);
    for (uint64_t begin = due; due < begin + STEP_NS;) {
        for (due += step; due < host_ns(CLOCK_MONOTONIC);)
            due += step;
        struct timespec at = { (time_t)(due / 1000000000), (long)(due % 1000000000) };
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
            continue;
        while (host_ns(CLOCK_MONOTONIC) < due + tick_ns / 4)
            continue;
        if (!naps && due > begin + STEP_NS / 2)
            naps = ticks_naps();
    }
    jsprof_pop(me);
    return ticks_naps() - naps;
}

/* The looker slept until a tick met the thread, so the thread had no samples. It stays awake if
 * none does. Where the thread runs, the looker mostly comes late, so its time follows slowly. */
TEST(thread_in_step_with_the_tick_has_samples)
{
    struct host h;
    jsprof_thread *me;
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_CPU, 250), &me))
        return;
    uint64_t naps = step_turns(me, (uint64_t)tick.tv_nsec);
    if (host_close(&h)) {
        uint64_t n = host_weight(&h, "turn");
        host_check(&h);
        printf("# %llu of %llu periods, %llu naps of the looker in %llu ms\n",
               (unsigned long long)n, (unsigned long long)h.stats.expirations,
               (unsigned long long)naps, (unsigned long long)STEP_NS / 2000000);
        CHECK(n > h.stats.expirations / 2 || naps > 200);
    }
    host_free(&h);
}

/* The looker sleeps when the thread wakes up with its signal blocked. */
TEST(time_without_the_signal_after_a_sleep_is_counted_as_blocked)
{
    struct host h;
    jsprof_thread *me;
    sigset_t all, before;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_CPU, 1000), &me))
        return;
    faults_sleep_us(200000);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    host_burn_ms(200);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (host_close(&h)) {
        host_check(&h);
        printf("# %llu of %llu blocked\n", (unsigned long long)h.stats.lost_blocked,
               (unsigned long long)h.stats.expirations);
        CHECK(h.stats.lost_blocked > 100);
        CHECK(h.stats.lost_blocked + 60 > h.stats.expirations);
    }
    host_free(&h);
}

/* A tick that meets a paused thread gives no sample. */
TEST(time_of_a_paused_thread_after_sleeps_is_counted_as_paused)
{
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_CPU, 1000), &me))
        return;
    jsprof_thread_pause(me);
    for (int i = 0; i < 10; i++) {
        faults_sleep_us(100000);
        host_burn_ms(8);
    }
    if (host_close(&h)) {
        host_check(&h);
        printf("# %llu of %llu paused, %llu samples\n", (unsigned long long)h.stats.lost_paused,
               (unsigned long long)h.stats.expirations, (unsigned long long)h.stats.samples);
        CHECK(h.stats.lost_paused > 30);
        CHECK(h.stats.kept < 10); /* before it paused */
    }
    host_free(&h);
}

enum { DENIED_SKIP = 77, DENIED_SPINS, DENIED_UNSAMPLED };

static void *denied_burn(void *unused)
{
    host_burn_ms(30);
    return unused;
}

/* While the looker sleeps deeply, timers can no longer be set, or deleted. A tick meets a thread at
 * which nobody looks: the looker does not spin. It stays awake, and no tick comes after the end. */
static int denied_timers(void)
{
    static const int calls[] = { SYS_timer_settime, SYS_timer_delete };
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_CPU, 1000), &me))
        return 1;
    faults_sleep_us(200000);
    if (!deny_in_all(calls, 2, EPERM))
        return DENIED_SKIP;
    pthread_join(host_thread(denied_burn, NULL), NULL);
    uint64_t before = host_ns(CLOCK_PROCESS_CPUTIME_ID);
    faults_sleep_us(400000);
    if (host_ns(CLOCK_PROCESS_CPUTIME_ID) - before > 200000000)
        return DENIED_SPINS;
    host_burn_ms(50);
    bool is_read = host_close(&h);
    host_burn_ms(20);
    return is_read && h.stats.expirations > 20 ? 0 : DENIED_UNSAMPLED;
}

TEST(sandbox_without_timers_lets_the_looker_look_and_sleep)
{
    int status = host_in_child(denied_timers);
    if (status == DENIED_SKIP)
        SKIP("no seccomp filters");
    else
        CHECK_EQ(status, 0);
}

int main(void)
{
    RUN(thread_with_short_turns_has_its_time_and_lets_the_looker_sleep);
    RUN(thread_in_step_with_the_tick_has_samples);
    RUN(time_without_the_signal_after_a_sleep_is_counted_as_blocked);
    RUN(time_of_a_paused_thread_after_sleeps_is_counted_as_paused);
    RUN(sandbox_without_timers_lets_the_looker_look_and_sleep);
    return DONE();
}
