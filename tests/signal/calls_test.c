/* calls_test.c - exact calls on the real clock and of real threads: entries on a stack
 * when counting begins or ends, threads that come and go, a reader at the same time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

static struct host h;

/* -- A thread that does nothing while modes change ------------------------------- */

static struct sleeper {
    jsprof_function *f;
    jsprof_thread *t;
    _Atomic uint32_t stage; /* 1: inside, 2: may leave, 3: has left, 4: may go */
} sleeper;

static void stage_is(uint32_t stage)
{
    atomic_store_explicit(&sleeper.stage, stage, memory_order_release);
}

static void wait_for(uint32_t stage)
{
    while (atomic_load_explicit(&sleeper.stage, memory_order_acquire) < stage)
        usleep(200);
}

static void *sleep_inside(void *unused)
{
    (void)unused;
    jsprof_link link;
    jsprof_thread_attach(h.prof, "sleeper", &sleeper.t);
    jsprof_link_enter(sleeper.t, &link, sleeper.f);
    stage_is(1);
    wait_for(2);
    jsprof_link_leave(sleeper.t, &link);
    stage_is(3);
    wait_for(4);
    return NULL;
}

/* Its frame is on the stack of a thread that makes no call for a while. */
static pthread_t begin_sleeper(void)
{
    sleeper.f = calls_function("sleeper");
    stage_is(0);
    host_open(&h, 1000, JSPROF_CLOCK_CPU);
    pthread_t thread = host_thread(sleep_inside, NULL);
    wait_for(1);
    return thread;
}

static void end_sleeper(pthread_t thread)
{
    stage_is(4);
    pthread_join(thread, NULL);
    CHECK_EQ(jsprof_close(h.prof), 0);
    close(h.fd);
}

TEST(function_on_a_stack_when_counting_begins_has_its_time_from_then_on)
{
    pthread_t thread = begin_sleeper();
    calls_wait_ms(20);
    uint64_t begin = host_ns(CLOCK_MONOTONIC);
    CHECK_EQ(jsprof_calls_set(h.prof, JSPROF_CALLS_ALL), 0);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls.waiting, 1); /* and says so: what it does is not known yet */
    calls_wait_ms(20);
    stage_is(2);
    wait_for(3);
    uint64_t passed = host_ns(CLOCK_MONOTONIC) - begin;
    calls = calls_now(h.prof);
    jsprof_calls_row row = calls_row(&calls, "sleeper");
    CHECK_EQ(calls.waiting, 0);
    CHECK_EQ(row.calls, 0); /* it was entered before */
    CHECK(row.total_ns > 19000000 && row.total_ns < passed + 1000000);
    CHECK_EQ(calls.underflows, 0);
    end_sleeper(thread);
}

TEST(function_still_on_a_stack_when_counting_ends_has_its_time_until_then)
{
    pthread_t thread;
    sleeper.f = calls_function("sleeper");
    stage_is(0);
    host_open(&h, 1000, JSPROF_CLOCK_CPU);
    CHECK_EQ(jsprof_calls_set(h.prof, JSPROF_CALLS_ALL), 0);
    uint64_t begin = host_ns(CLOCK_MONOTONIC);
    thread = host_thread(sleep_inside, NULL);
    wait_for(1);
    calls_wait_ms(20);
    uint64_t running = calls_of(h.prof, "sleeper").total_ns; /* while it is open */
    CHECK_EQ(jsprof_calls_set(h.prof, 0), 0);
    uint64_t passed = host_ns(CLOCK_MONOTONIC) - begin;
    calls_wait_ms(20);
    jsprof_calls_row row = calls_of(h.prof, "sleeper");
    CHECK_EQ(row.calls, 1);
    CHECK(running > 19000000 && row.total_ns >= running && row.total_ns <= passed);
    stage_is(2);
    wait_for(3);
    CHECK_EQ(calls_of(h.prof, "sleeper").total_ns, row.total_ns);
    end_sleeper(thread);
}

/* -- Threads ---------------------------------------------------------------------- */

enum { WORKERS = 8, WORKER_CALLS = 20000 };

static jsprof_function *shared_function, *own_functions[WORKERS];
static _Atomic uint32_t workers_done;

static void *work(void *arg)
{
    jsprof_thread *t;
    const jsprof_function *own = *(jsprof_function **)arg;
    if (jsprof_thread_attach(h.prof, "worker", &t) != 0)
        return arg;
    for (int i = 0; i < WORKER_CALLS; i++) {
        jsprof_link outer, inner;
        jsprof_link_enter(t, &outer, own);
        jsprof_link_enter(t, &inner, shared_function);
        jsprof_alloc(t, 3);
        jsprof_link_leave(t, &inner);
        jsprof_link_leave(t, &outer);
    }
    host_count(&workers_done);
    return NULL; /* without a detach: an exit is one */
}

/* Nothing that was counted once is ever less. */
static void watch(void)
{
    jsprof_calls_row before = { .calls = 0 };
    while (host_counted(&workers_done) < WORKERS) {
        jsprof_calls calls = calls_now(h.prof);
        jsprof_calls_row now = calls_row(&calls, "shared");
        CHECK(now.calls >= before.calls && now.self_bytes >= before.self_bytes);
        before = now;
    }
}

static void run_workers(uint32_t modes)
{
    pthread_t threads[WORKERS];
    host_recount(&workers_done);
    host_open(&h, 1000, JSPROF_CLOCK_CPU);
    CHECK_EQ(jsprof_calls_set(h.prof, modes), 0);
    for (int i = 0; i < WORKERS; i++)
        threads[i] = host_thread(work, &own_functions[i]);
    watch();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls_row(&calls, "shared").calls, WORKERS * WORKER_CALLS);
    for (size_t i = 0; i < calls.n_rows; i++)
        CHECK(calls.rows[i].calls % WORKER_CALLS == 0);
    CHECK_EQ(calls.calls, 2 * WORKERS * WORKER_CALLS);
    CHECK_EQ(calls.threads, 0);
    CHECK_EQ(calls_row(&calls, "shared").self_bytes,
             modes & JSPROF_CALLS_ALLOC ? 3 * WORKERS * WORKER_CALLS : 0);
    CHECK_EQ(calls.n_edges, modes & JSPROF_CALLS_EDGES ? 2 * WORKERS : 0);
    CHECK_EQ(jsprof_close(h.prof), 0);
    close(h.fd);
}

TEST(calls_of_threads_that_come_and_go_are_all_there)
{
    char name[16];
    shared_function = calls_function("shared");
    for (int i = 0; i < WORKERS; i++) {
        snprintf(name, sizeof name, "own %d", i);
        own_functions[i] = calls_function(name);
    }
    run_workers(JSPROF_CALLS_COUNT);
    run_workers(JSPROF_CALLS_ALL);
}

static _Atomic bool over;

static void *count_for_ever(void *arg)
{
    jsprof_thread *t = NULL;
    jsprof_thread_attach(h.prof, "for ever", &t);
    host_count(&workers_done);
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        jsprof_link link;
        jsprof_link_enter(t, &link, arg);
        jsprof_link_leave(t, &link);
    }
    return jsprof_thread_detach(t) == 0 ? NULL : arg;
}

TEST(session_closes_and_modes_change_under_threads_that_count)
{
    pthread_t threads[4];
    void *wrong;
    jsprof_function *f = calls_function("f");
    atomic_store_explicit(&over, false, memory_order_relaxed);
    host_recount(&workers_done);
    host_open(&h, 1000, JSPROF_CLOCK_CPU);
    CHECK_EQ(jsprof_start(h.prof), 0);
    for (int i = 0; i < 4; i++)
        threads[i] = host_thread(count_for_ever, f);
    while (host_counted(&workers_done) < 4)
        usleep(100);
    for (uint32_t i = 0; i < (HOST_LATE ? 20 : 40); i++) {
        CHECK_EQ(jsprof_calls_set(h.prof, (i * 7 + 1) % 16), 0);
        calls_now(h.prof);
    }
    CHECK_EQ(jsprof_calls_set(h.prof, JSPROF_CALLS_ALL), 0);
    CHECK_EQ(jsprof_close(h.prof), 0);
    atomic_store_explicit(&over, true, memory_order_relaxed);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &wrong);
        CHECK(!wrong);
    }
    close(h.fd);
}

TEST_MAIN()
