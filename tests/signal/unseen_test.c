/* unseen_test.c - each expiration is kept or has a cause: time that passes while the signal can not
 * come is a loss with a name, and no function is charged with it. tests/signal/sources.sh runs this
 * with a timer for each thread, of which tests/sim knows nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

enum { HZ = 1000, PERIOD = 1000000000 / HZ };

static const int clocks[] = { JSPROF_CLOCK_CPU, JSPROF_CLOCK_WALL };
enum { N_CLOCKS = sizeof clocks / sizeof *clocks };

static struct host h;
static jsprof_thread *me;

static bool begin(int clock, uint32_t flags)
{
    jsprof_options options = host_options(HZ, clock);
    options.flags |= flags;
    return host_begin_with(&h, options, &me);
}

static bool end(void)
{
    if (!host_close(&h))
        return false;
    printf("# %llu expirations, %llu kept, %llu blocked, %llu undelivered\n",
           (unsigned long long)h.stats.expirations, (unsigned long long)h.stats.kept,
           (unsigned long long)h.stats.lost_blocked, (unsigned long long)h.stats.lost_undelivered);
    return true;
}

/* Use CPU time until so many points were lost so: the looker, or the drain, notices in its own time
 * that no signal comes. */
static void blocked(uint64_t points)
{
    do {
        host_burn_ms(10);
        host_stats(&h);
    } while (h.stats.lost_blocked < points);
}

static uint64_t clock_ns(int clock)
{
    return host_ns(clock ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
}

/* As many as the thread's clock says, between two readings of it inside and two outside, within
 * the two periods in which the first and the last point lie. */
TEST(expirations_are_as_many_as_periods_went_by)
{
    for (int i = 0; i < N_CLOCKS; i++) {
        uint64_t around = clock_ns(clocks[i]);
        if (!begin(clocks[i], 0))
            return;
        uint64_t inside = clock_ns(clocks[i]);
        jsprof_push(me, "work", NULL, 1);
        host_sampled(&h, 100);
        jsprof_pop(me);
        inside = clock_ns(clocks[i]) - inside;
        if (end()) {
            around = clock_ns(clocks[i]) - around;
            CHECK(h.stats.expirations + 2 >= inside / PERIOD);
            CHECK(h.stats.expirations <= around / PERIOD + 2);
            CHECK(host_samples(&h, "work") >= 90); /* 10 at most come before and after */
        }
    }
}

TEST(thread_that_blocks_the_signal_loses_all_its_time_under_that_name)
{
    for (int i = 0; i < N_CLOCKS; i++)
        for (uint32_t alone = 0; alone < 2; alone++) {
            host_mask(SIG_BLOCK, host_signo());
            if (begin(clocks[i], alone ? JSPROF_NO_THREAD : 0)) {
                if (alone) { /* nobody looks before that */
                    host_burn_ms(100);
                    CHECK_EQ(jsprof_thread_detach(me), 0);
                } else {
                    blocked(50);
                }
                if (end()) {
                    CHECK_EQ(h.stats.kept, 0);
                    CHECK(h.stats.lost_blocked > 0);
                    CHECK_EQ(h.stats.lost_blocked + h.stats.lost_undelivered,
                             h.stats.expirations);
                }
            }
            host_mask(SIG_UNBLOCK, host_signo());
        }
}

static void slow_handler(int signo)
{
    (void)signo;
    blocked(h.stats.lost_blocked + 20);
}

/* No system call unblocks then, but the return from the handler. */
TEST(time_in_a_handler_that_blocks_the_signal_does_not_go_to_who_was_interrupted)
{
    struct sigaction slow = { .sa_handler = slow_handler }, before;
    sigfillset(&slow.sa_mask);
    sigaction(SIGUSR1, &slow, &before);
    for (int i = 0; i < N_CLOCKS; i++) {
        if (!begin(clocks[i], 0))
            continue;
        for (int j = 0; j < 3; j++) {
            host_burn_ms(5);
            raise(SIGUSR1);
        }
        if (end())
            CHECK(h.stats.lost_blocked >= 60);
    }
    sigaction(SIGUSR1, &before, NULL);
}

static void taker(int signo)
{
    (void)signo;
}

/* Another one has the signal until that has cost points, and then work is done. */
static void taken_by(void (*handler)(int), bool gives_back)
{
    for (int i = 0; i < N_CLOCKS; i++) {
        struct sigaction ours, other = { .sa_handler = handler };
        if (!begin(clocks[i], 0))
            return;
        sigaction(host_signo(), &other, &ours);
        blocked(50);
        if (gives_back) {
            sigaction(host_signo(), &ours, NULL);
            jsprof_push(me, "work", NULL, 0);
            host_sampled(&h, 20);
            jsprof_pop(me);
        }
        if (end())
            CHECK((host_weight(&h, "work") > 0) == gives_back || HOST_LATE);
        signal(host_signo(), SIG_DFL);
    }
}

TEST(time_in_which_another_handler_had_the_signal_is_lost_under_that_name)
{
    taken_by(taker, true);
}

TEST(time_in_which_the_signal_was_ignored_is_lost_under_that_name)
{
    taken_by(SIG_IGN, true);
    taken_by(SIG_IGN, false);
}

/* The looker sleeps when the thread wakes up with its signal blocked. */
TEST(time_without_the_signal_after_a_sleep_is_counted_as_blocked)
{
    sigset_t all, before;
    if (!begin(JSPROF_CLOCK_CPU, 0))
        return;
    usleep(200000);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    blocked(50);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (end())
        CHECK(h.stats.lost_blocked >= 50);
}

/* Most of them end before a tick: what was due until then is counted all the same. The chance of
 * each is its own. Chance: each has 0 to 2 points, so the sum of 400 deviates by 20 or fewer in
 * most runs, and by more than 90, 4.5 times that, in 1 of 100,000. Where the first point is always
 * at one place of the period, none or each of the 400 has one. */
TEST(short_attachments_have_as_many_expirations_as_their_time)
{
    enum { TIMES = 400, CHANCE = 90 };
    for (int i = 0; i < N_CLOCKS; i++) {
        uint64_t ns = 0;
        if (!CHECK_EQ(host_open_with(&h, host_options(HZ, clocks[i])), 0))
            return;
        CHECK_EQ(jsprof_start(h.prof), 0);
        for (int j = 0; j < TIMES; j++) {
            CHECK_EQ(jsprof_thread_attach(h.prof, "short", &me), 0);
            for (volatile int k = 0; k < 1000000; k = k + 1)
                continue;
            CHECK_EQ(jsprof_thread_detach(me), 0);
        }
        if (end()) {
            for (uint32_t t = 0; t < h.profile.account.n_threads; t++)
                ns += h.profile.account.threads[t].clock_ns[clocks[i]];
            printf("# %llu ms\n", (unsigned long long)ns / 1000000);
            CHECK(host_distance(h.stats.expirations, ns / PERIOD) <= CHANCE);
            CHECK(h.stats.lost_blocked == 0 || HOST_LATE);
        }
    }
}

TEST_MAIN()
