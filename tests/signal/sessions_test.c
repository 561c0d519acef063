/* sessions_test.c - sessions one after another, at once, and turned on and off.
 *
 * SPDX-License-Identifier: MIT
 */
#include "seen.h"

enum { SAMPLES = 3 };

TEST(sessions_one_after_another_each_have_their_own_samples)
{
    static const char *const names[] = { "first", "second", "third" };
    for (int i = 0; i < 3; i++) {
        struct host h = { 0 };
        jsprof_thread *me;
        if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me))
            return;
        jsprof_push(me, names[i], NULL, 0);
        seen_burn(me, SAMPLES);
        jsprof_pop(me);
        if (host_close(&h)) {
            CHECK(host_weight(&h, names[i]) > 0);
            CHECK_EQ(host_weight(&h, names[(i + 1) % 3]), 0);
        }
        host_free(&h);
    }
}

static void two_at_once(int other_signo)
{
    struct host a = { 0 }, b = { 0 };
    jsprof_thread *in_a, *in_b;
    jsprof_options options = host_options(500, JSPROF_CLOCK_CPU);
    options.signo = other_signo;
    if (HOST_LATE && other_signo == SIGPROF) {
        SKIP("the thread sanitizer keeps one signal of a number");
        return;
    }
    if (!host_open(&a, 1000, JSPROF_CLOCK_CPU) || !CHECK_EQ(host_open_with(&b, options), 0))
        return;
    CHECK_EQ(jsprof_thread_attach(a.prof, "in a", &in_a), 0);
    CHECK_EQ(jsprof_thread_attach(b.prof, "in b", &in_b), 0);
    CHECK_EQ(jsprof_start(a.prof), 0);
    CHECK_EQ(jsprof_start(b.prof), 0);
    jsprof_push(in_a, "for a", NULL, 0);
    jsprof_push(in_b, "for b", NULL, 0);
    seen_burn(in_a, SAMPLES);
    if (host_close(&a)) {
        CHECK(host_weight(&a, "for a") > 0);
        CHECK_EQ(host_weight(&a, "for b"), 0);
    }
    seen_burn(in_b, SAMPLES); /* b goes on alone */
    if (host_close(&b)) {
        CHECK(host_weight(&b, "for b") > 0);
        CHECK_EQ(host_weight(&b, "for a"), 0);
    }
    CHECK_EQ(jsprof_thread_detach(in_b), 0);
    CHECK_EQ(jsprof_thread_detach(in_a), 0);
    host_free(&a);
    host_free(&b);
}

TEST_OF(two_sessions_share_a_thread_and_a_signal, two_at_once(SIGPROF))
TEST_OF(two_sessions_share_a_thread_on_two_signals, two_at_once(SIGRTMIN + 2))

static _Atomic bool over;
static _Atomic uint32_t attached, refused;

static bool is_over(void)
{
    return atomic_load_explicit(&over, memory_order_relaxed);
}

static void *work(void *arg)
{
    struct host *h = arg;
    jsprof_thread *me = NULL;
    int err = jsprof_thread_attach(h->prof, "worker", &me);
    host_count(err ? &refused : &attached);
    while (!is_over()) {
        jsprof_push(me, "work", NULL, 0);
        host_burn_ms(1);
        jsprof_pop(me);
    }
    jsprof_thread_detach(me);
    return NULL;
}

static void begin(struct host *h, pthread_t *threads, int n)
{
    atomic_store_explicit(&over, false, memory_order_relaxed);
    host_recount(&attached);
    host_recount(&refused);
    for (int i = 0; i < n; i++)
        threads[i] = host_thread(work, h);
    while (host_counted(&attached) + host_counted(&refused) < (uint32_t)n)
        sched_yield();
    CHECK_EQ(host_counted(&refused), 0);
}

static void end(pthread_t *threads, int n)
{
    atomic_store_explicit(&over, true, memory_order_relaxed);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

TEST(a_hundred_starts_and_stops_while_threads_work)
{
    enum { N = 3, ROUNDS = 100 };
    struct host h = { 0 };
    pthread_t threads[N];
    int failed = 0;
    if (!host_open(&h, 10000, JSPROF_CLOCK_WALL))
        return;
    begin(&h, threads, N);
    for (int i = 0; i < ROUNDS; i++) {
        failed += jsprof_start(h.prof) != 0;
        if (i % 10 == 0)
            host_burn_ms(2);
        failed += jsprof_stop(h.prof) != 0;
    }
    CHECK_EQ(failed, 0);
    end(threads, N);
    host_stats(&h);
    CHECK(h.stats.kept > 0);
    host_finish(&h);
}

static void *toggle(void *arg)
{
    struct host *h = arg;
    for (int i = 0; i < 60; i++) {
        int err = i & 1 ? jsprof_stop(h->prof) : jsprof_start(h->prof);
        if (err)
            host_count(&refused);
    }
    return NULL;
}

TEST(two_threads_that_start_and_stop_one_session_do_not_hang_it)
{
    struct host h = { 0 };
    pthread_t threads[1], togglers[3];
    if (!host_open(&h, 10000, JSPROF_CLOCK_WALL))
        return;
    begin(&h, threads, 1);
    for (int i = 0; i < 3; i++)
        togglers[i] = host_thread(toggle, &h);
    for (int i = 0; i < 3; i++)
        pthread_join(togglers[i], NULL);
    CHECK_EQ(host_counted(&refused), 0);
    end(threads, 1);
    host_finish(&h);
}

TEST(start_and_stop_are_idempotent_and_flush_works_in_between)
{
    struct host h = { 0 };
    jsprof_thread *me;
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    CHECK_EQ(jsprof_flush(h.prof), 0);
    CHECK_EQ(jsprof_stop(h.prof), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    seen_burn(me, SAMPLES);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    off_t size = lseek(h.fd, 0, SEEK_END);
    CHECK(host_load(&h) && h.profile.samples > 0); /* readable while it grows */
    CHECK_STR(h.profile.account.session.state, "running");
    jsp_profile_free(&h.profile);
    jsp_read_close(&h.read);
    seen_burn(me, SAMPLES);
    CHECK_EQ(jsprof_stop(h.prof), 0);
    CHECK(lseek(h.fd, 0, SEEK_END) > size);
    CHECK_EQ(jsprof_stop(h.prof), 0);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    host_finish(&h);
}

static void *flush_for_ever(void *arg)
{
    struct host *h = arg;
    for (host_count(&attached); host_counted(&attached); host_count(&attached)) {
        jsprof_flush(h->prof);
        pthread_testcancel();
    }
    return NULL;
}

/* In a child: a lock that is still held would hang it. */
static int cancel_one_that_flushes(void)
{
    struct host h = { 0 };
    alarm(30);
    if (host_open_with(&h, host_options(1000, JSPROF_CLOCK_CPU)) || jsprof_start(h.prof))
        return 1;
    for (int i = 0; i < 20; i++) {
        host_recount(&attached);
        pthread_t thread = host_thread(flush_for_ever, &h);
        while (host_counted(&attached) < 2)
            sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    return jsprof_stop(h.prof) || jsprof_close(h.prof) ? 2 : 0;
}

static void drain_cancelled(void *unused)
{
    (void)unused;
    pthread_testcancel(); /* as a write would be */
}

static void *end_cancelled(void *arg)
{
    struct host *h = arg;
    jsprof_thread *me;
    if (jsprof_thread_attach(h->prof, "cancelled", &me) == 0)
        pthread_cancel(pthread_self());
    return NULL;
}

/* In a child: the library detaches it, and there is no drain to do the rest. */
static int end_one_that_is_cancelled(void)
{
    struct host h = { 0 };
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    jsprof_stats stats = { .size = sizeof stats };
    alarm(30);
    options.on_drain = drain_cancelled;
    if (host_open_with(&h, options))
        return 1;
    pthread_join(host_thread(end_cancelled, &h), NULL);
    return jsprof_stats_get(h.prof, &stats) || jsprof_close(h.prof) ? 2 : 0;
}

static void check_in_child(int (*run)(void))
{
    if (HOST_LATE)
        SKIP("the thread sanitizer has no threads after a fork");
    else
        CHECK_EQ(host_in_child(run), 0);
}

TEST_OF(thread_cancelled_in_a_call_leaves_no_lock_behind, check_in_child(cancel_one_that_flushes))
TEST_OF(thread_that_ends_with_a_cancellation_under_way_leaves_no_lock_behind,
        check_in_child(end_one_that_is_cancelled))

TEST_MAIN()
