/* close_test.c - a session that is closed while other threads close and use it: one close
 * answers 0, every other call an error, and nobody reads memory that is gone.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

enum { ROUNDS = 150, CLOSERS = 3 };

struct race {
    jsprof *prof;
    pthread_barrier_t begin;
    _Atomic uint32_t closed, refused, others;
};

static void *close_at_once(void *arg)
{
    struct race *r = arg;
    pthread_barrier_wait(&r->begin);
    int err = jsprof_close(r->prof);
    host_count(err == 0 ? &r->closed : err == -EINVAL ? &r->refused : &r->others);
    return NULL;
}

TEST(session_that_threads_close_at_once_is_closed_once)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct race r = { .closed = 0 };
        struct host h = { 0 };
        pthread_t threads[CLOSERS];
        jsprof_thread *me;
        if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me))
            return;
        r.prof = h.prof;
        pthread_barrier_init(&r.begin, NULL, CLOSERS);
        for (int t = 0; t < CLOSERS; t++)
            threads[t] = host_thread(close_at_once, &r);
        for (int t = 0; t < CLOSERS; t++)
            pthread_join(threads[t], NULL);
        pthread_barrier_destroy(&r.begin);
        CHECK_EQ(jsprof_thread_detach(me), 0);
        close(h.fd);
        if (!CHECK_EQ(host_counted(&r.closed), 1) ||
            !CHECK_EQ(host_counted(&r.refused), CLOSERS - 1))
            return;
    }
}

TEST(session_that_was_closed_is_refused_by_every_call)
{
    struct host h = { 0 };
    jsprof_thread *me;
    jsprof_stats stats = { .size = sizeof stats };
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    CHECK_EQ(jsprof_close(h.prof), 0);
    CHECK_EQ(jsprof_close(h.prof), -EINVAL);
    CHECK_EQ(jsprof_start(h.prof), -EINVAL);
    CHECK_EQ(jsprof_stop(h.prof), -EINVAL);
    CHECK_EQ(jsprof_flush(h.prof), -EINVAL);
    CHECK_EQ(jsprof_stats_get(h.prof, &stats), -EINVAL);
    CHECK_EQ(jsprof_thread_attach(h.prof, "late", &me), -EINVAL);
    CHECK_EQ(jsprof_calls_set(h.prof, JSPROF_CALLS_COUNT), -EINVAL);
    close(h.fd);
}

/* -- Use beside a close ------------------------------------------------------------- */

static int use_run(jsprof *p)
{
    int err = jsprof_start(p);
    return err ? err : jsprof_stop(p);
}

static int use_stats(jsprof *p)
{
    jsprof_stats stats = { .size = sizeof stats };
    return jsprof_stats_get(p, &stats);
}

static int use_attach(jsprof *p)
{
    jsprof_thread *me;
    int err = jsprof_thread_attach(p, "user", &me);
    if (!err && jsprof_thread_detach(me) != 0)
        return -EIO;
    return err;
}

static int use_calls(jsprof *p)
{
    jsprof_calls calls = { .size = sizeof calls };
    int err = jsprof_calls_set(p, JSPROF_CALLS_COUNT);
    if (!err)
        err = jsprof_calls_snapshot(p, &calls);
    jsprof_calls_free(&calls);
    return err;
}

enum { USERS = 5 };

struct user {
    struct race *race;
    int (*use)(jsprof *p);
};

static void *use_until_refused(void *arg)
{
    struct user *u = arg;
    int err = 0;
    pthread_barrier_wait(&u->race->begin);
    while (!err)
        err = u->use(u->race->prof);
    host_count(err == -EINVAL ? &u->race->refused : &u->race->others);
    return NULL;
}

TEST(calls_beside_a_close_get_an_error)
{
    static int (*const uses[USERS])(jsprof *) = {
        use_run, use_stats, use_attach, use_calls, jsprof_flush,
    };
    for (int i = 0; i < ROUNDS / 5; i++) {
        struct race r = { .closed = 0 };
        struct host h = { 0 };
        struct user users[USERS];
        pthread_t threads[USERS];
        jsprof_thread *me;
        if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me))
            return;
        r.prof = h.prof;
        pthread_barrier_init(&r.begin, NULL, USERS + 1);
        for (int u = 0; u < USERS; u++) {
            users[u] = (struct user){ &r, uses[u] };
            threads[u] = host_thread(use_until_refused, &users[u]);
        }
        pthread_barrier_wait(&r.begin);
        host_burn_ms((uint64_t)i % 3);
        CHECK_EQ(jsprof_close(h.prof), 0);
        for (int u = 0; u < USERS; u++)
            pthread_join(threads[u], NULL);
        pthread_barrier_destroy(&r.begin);
        CHECK_EQ(jsprof_thread_detach(me), 0);
        close(h.fd);
        if (!CHECK_EQ(host_counted(&r.refused), USERS))
            return;
    }
}

/* -- A thread that prints its stack all the time --------------------------------- */

enum { DEPTH = 300, MOST = 600, BUSY_ROUNDS = 8, RUN_MS = 80, HZ = 500 };

static struct host busy;
static _Atomic uint32_t taken, over;
static _Atomic uint64_t took_ns; /* the last of them */

static __attribute__((noinline)) int deep(jsprof_thread *me, int level)
{
    static jsprof_backtrace_frame frames[MOST];
    if (level)
        return deep(me, level - 1) + 1;
    while (!host_counted(&over))
        if (jsprof_backtrace(me, NULL, frames, MOST) > 0) {
            host_count(&taken);
            atomic_store(&took_ns, host_ns(CLOCK_MONOTONIC));
        }
    return 0;
}

static void *work(void *arg)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(busy.prof, "busy", &me) == 0)
        deep(me, DEPTH);
    jsprof_thread_detach(me);
    return arg;
}

/* Until the other thread had a processor after that long. */
static void wait_ms(uint64_t ms)
{
    uint64_t until = host_ns(CLOCK_MONOTONIC) + ms * 1000000;
    while (atomic_load(&took_ns) < until)
        sched_yield();
}

/* How many expirations are known right after stop, of so many that there were. */
TEST(samples_are_counted_at_stop_while_their_thread_prints_its_stack)
{
    for (int i = 0; i < BUSY_ROUNDS; i++) {
        host_recount(&taken);
        host_recount(&over);
        if (!host_open(&busy, HZ, JSPROF_CLOCK_WALL) || !CHECK_EQ(jsprof_start(busy.prof), 0))
            return;
        pthread_t thread = host_thread(work, NULL);
        while (!host_counted(&taken))
            sched_yield();
        wait_ms(RUN_MS);
        CHECK_EQ(jsprof_stop(busy.prof), 0);
        host_stats(&busy);
        CHECK(busy.stats.expirations >= (HOST_SANITIZED ? 1 : RUN_MS * HZ / 1000 / 10));
        CHECK_EQ(jsprof_close(busy.prof), 0);
        host_count(&over);
        pthread_join(thread, NULL);
        if (host_load(&busy))
        host_free(&busy);
    }
}

/* A backtrace that stays in the host's callback until close had time enough to end. */
enum { HELD_US = 100000 };
static _Atomic bool is_inside, is_closed, was_closed;

static int decode_slowly_sigsafe(void *host, const void *entry, jsprof_frame *out)
{
    (void)host, (void)entry;
    atomic_store(&is_inside, true);
    usleep(HELD_US); /* a close that does not wait has time enough, one that waits has patience */
    atomic_store(&was_closed, atomic_load(&is_closed));
    out->label = "slow";
    return 1;
}

static void *take_slowly(void *results_of)
{
    static const uint32_t depth = 1;
    static const char entry[8], *entries = entry;
    jsprof_stack stack = { .size = sizeof stack, .depth = &depth, .depth_bytes = 4,
                           .entries = &entries, .stride = sizeof entry, .limit = 1,
                           .decode_sigsafe = decode_slowly_sigsafe };
    jsprof_thread *own = NULL;
    jsprof_backtrace_frame some[MOST];
    int *results = results_of;
    results[0] = jsprof_thread_attach(busy.prof, "other", &own);
    results[1] = jsprof_thread_set_stack(own, &stack);
    results[2] = jsprof_backtrace(own, NULL, some, MOST);
    results[3] = jsprof_backtrace(own, NULL, some, MOST);
    jsprof_thread_detach(own);
    return NULL;
}

TEST(close_while_another_thread_takes_a_backtrace_waits_for_it)
{
    int results[4] = { -1, -1, -1, 0 };
    if (!host_open(&busy, 1, JSPROF_CLOCK_CPU))
        return;
    pthread_t thread = host_thread(take_slowly, results);
    while (!atomic_load(&is_inside))
        sched_yield();
    CHECK_EQ(jsprof_close(busy.prof), 0);
    atomic_store(&is_closed, true);
    pthread_join(thread, NULL);
    CHECK(!atomic_load(&was_closed));
    CHECK_EQ(results[0], 0);
    CHECK_EQ(results[1], 0);
    CHECK(results[2] > 1);
    CHECK_EQ(results[3], -EINVAL);
    close(busy.fd);
}

int main(void)
{
    alarm(300); /* a use after the close may wait for ever */
    RUN(session_that_threads_close_at_once_is_closed_once);
    RUN(session_that_was_closed_is_refused_by_every_call);
    RUN(samples_are_counted_at_stop_while_their_thread_prints_its_stack);
    RUN(calls_beside_a_close_get_an_error);
    RUN(close_while_another_thread_takes_a_backtrace_waits_for_it);
    return DONE();
}
