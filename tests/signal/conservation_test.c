/* conservation_test.c - every timer expiration is kept or has a cause, and samples
 * count the time that passed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

/* As many expirations as the clock says between two readings of it inside and two outside, within
 * the two periods in which the first and the last point lie. Each is accounted for. */
static void conserve(int clock, uint32_t hz)
{
    struct host h;
    jsprof_thread *me;
    clockid_t id = clock ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    uint64_t around = host_ns(id);
    if (!host_begin_with(&h, host_options(hz, clock), &me))
        return;
    uint64_t inside = host_ns(id);
    for (int i = 0; i < 20; i++) {
        jsprof_push(me, "work", NULL, 1);
        host_burn_ms(20);
        jsprof_pop(me);
    }
    inside = host_ns(id) - inside;
    if (host_close(&h)) {
        around = host_ns(id) - around;
        host_check(&h);
        CHECK(h.stats.expirations + 2 >= inside * hz / 1000000000u);
        CHECK(h.stats.expirations <= around * hz / 1000000000u + 2);
        CHECK(host_weight(&h, "work") * 10 >= h.stats.kept * 9);
    }
    host_free(&h);
}

TEST(cpu_clock_expirations_are_kept_or_have_a_cause)
{
    conserve(JSPROF_CLOCK_CPU, 1000);
}

TEST(wall_clock_expirations_are_kept_or_have_a_cause)
{
    conserve(JSPROF_CLOCK_WALL, 1000);
}

TEST(cpu_time_of_the_samples_adds_up_to_the_threads)
{
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_WALL), &me))
        return;
    uint64_t began = host_ns(CLOCK_THREAD_CPUTIME_ID);
    host_burn_ms(100);
    uint64_t took = host_ns(CLOCK_THREAD_CPUTIME_ID) - began;
    if (host_close(&h) && CHECK_EQ(h.profile.n_threads, 1)) {
        uint64_t cpu = h.profile.threads[0].cpu_ns;
        CHECK(host_distance(cpu, took) < took / 10 + (HOST_SANITIZED ? 20000000 : 0));
        CHECK(cpu <= h.profile.account.threads[0].clock_ns[JSP_CLOCK_CPU]);
    }
    host_free(&h);
}

/* A ring for very few samples and a signal that comes faster than the drain. */
TEST(full_ring_is_counted_and_the_rest_is_whole)
{
    struct host h;
    jsprof_thread *me;
    jsprof_options options = host_options(10000, JSPROF_CLOCK_WALL);
    options.ring_bytes = 1 << 14;
    options.max_depth = 60;
    if (!CHECK_EQ(host_open_with(&h, options), 0))
        return;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    for (int i = 0; i < 60; i++)
        jsprof_push(me, "deep", NULL, 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    for (int i = 0; i < 20 && !h.stats.lost_ring; i++) {
        host_burn_ms(50);
        host_stats(&h);
    }
    CHECK(h.stats.lost_ring > 0);
    host_finish(&h);
}

enum { WORK_MS = 300 };

static _Atomic uint32_t at_work;

static void *worker(void *arg)
{
    struct host *h = arg;
    jsprof_thread *me;
    if (jsprof_thread_attach(h->prof, "worker", &me) == 0)
        host_count(&at_work);
    jsprof_push(me, "worker", NULL, 0);
    host_burn_ms(WORK_MS);
    jsprof_pop(me);
    jsprof_thread_detach(me);
    return NULL;
}

/* A busy machine's tick may miss a thread's last slices, or come when the machine was not
 * there for most of them, never invent some. */
TEST(each_thread_has_its_own_account)
{
    enum { N = 6 };
    struct host h;
    pthread_t threads[N];
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    CHECK_EQ(jsprof_start(h.prof), 0);
    for (int i = 0; i < N; i++)
        threads[i] = host_thread(worker, &h);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(host_counted(&at_work), N);
    if (host_close(&h)) {
        host_check(&h);
        CHECK_EQ(h.profile.account.n_threads, N);
        for (uint32_t i = 0; i < h.profile.account.n_threads; i++) {
            const struct jsp_account_thread *t = &h.profile.account.threads[i];
            CHECK(t->expirations > 0 && t->expirations <= t->clock_ns[JSP_CLOCK_CPU] / 1000000 + 2);
        }
        CHECK(h.stats.expirations > N * WORK_MS / 3);
    }
    host_free(&h);
}

/* When a thread's first sample comes, in 8 parts of the period. The thread sleeps, because
 * one that wakes up gets a processor soon even if others want it. */
TEST(first_expiry_is_random_within_the_period)
{
    enum { RUNS = 48, PARTS = 8, HZ = 25, PERIOD = 1000000000 / HZ };
    uint32_t seen[PARTS] = { 0 }, used = 0;
    for (int i = 0; i < RUNS; i++) {
        struct host h;
        jsprof_thread *me;
        if (!host_begin_with(&h, host_options(HZ, JSPROF_CLOCK_WALL), &me))
            return;
        uint64_t began = host_ns(CLOCK_MONOTONIC), now;
        while ((now = host_ns(CLOCK_MONOTONIC)) < began + PERIOD)
            nanosleep(&(struct timespec){ 0, (long)(began + PERIOD - now) }, NULL);
        if (host_close(&h) && h.profile.samples) {
            uint64_t at = (uint64_t)h.profile.first_sample - began;
            seen[at < PERIOD ? at * PARTS / PERIOD : PARTS - 1]++;
        }
        host_free(&h);
    }
    for (int i = 0; i < PARTS; i++)
        used += seen[i] > 0;
    printf("# %u parts of %d\n", used, PARTS);
    /* A fixed phase would use one part. Chance: 48 draws miss three or more of 8 parts in 1 of
     * 100,000,000 runs. */
    CHECK(used >= PARTS - 2);
}

int main(void)
{
    RUN(cpu_clock_expirations_are_kept_or_have_a_cause);
    RUN(wall_clock_expirations_are_kept_or_have_a_cause);
    RUN(cpu_time_of_the_samples_adds_up_to_the_threads);
    RUN(full_ring_is_counted_and_the_rest_is_whole);
    RUN(each_thread_has_its_own_account);
    RUN(first_expiry_is_random_within_the_period);
    return DONE();
}
