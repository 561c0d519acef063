/* threads_test.c - threads that come, go, die and outlive the session while sampled. The storm
 * was seen failing on tallies changed without the session's lock, the thousand on one timer
 * in 512 that carries another's number.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

static struct host h;
static pthread_barrier_t barrier;
static _Atomic uint32_t wrong;

static void expect(int got, int want)
{
    if (got != want) {
        fprintf(stderr, "# a thread got %d, not %d\n", got, want);
        host_count(&wrong);
    }
}

static void *exit_attached(void *arg)
{
    jsprof_thread *me = NULL;
    expect(jsprof_thread_attach(h.prof, "leaver", &me), 0);
    jsprof_push(me, "leaver", NULL, 0);
    host_burn_ms(2);
    return arg;
}

TEST(thread_that_exits_without_detach_is_detached)
{
    if (!host_open(&h, 10000, JSPROF_CLOCK_WALL))
        return;
    CHECK_EQ(jsprof_start(h.prof), 0);
    for (int i = 0; i < 50; i++)
        pthread_join(host_thread(exit_attached, NULL), NULL);
    if (host_close(&h)) {
        CHECK_EQ(h.profile.account.n_threads, 50);
        CHECK(host_weight(&h, "leaver") > 200);
    }
    CHECK_EQ(host_counted(&wrong), 0);
}

static void *detach_after_close(void *arg)
{
    jsprof_thread *me = NULL, *other = NULL;
    jsprof *mine = arg;
    expect(jsprof_thread_attach(h.prof, "late", &me), 0);
    pthread_barrier_wait(&barrier); /* attached */
    pthread_barrier_wait(&barrier); /* closed */
    jsprof_push(me, "after the end", NULL, 0);
    jsprof_thread_pause(me);
    jsprof_thread_resume(me);
    jsprof_pop(me);
    expect(jsprof_thread_attach(mine, "again", &other), 0);
    expect(jsprof_thread_detach(me), 0);
    expect(jsprof_thread_detach(other), 0);
    return NULL;
}

TEST(session_may_close_before_its_threads_detach)
{
    enum { N = 4 };
    pthread_t threads[N];
    struct host second = { 0 };
    pthread_barrier_init(&barrier, NULL, N + 1);
    if (!host_open(&h, 10000, JSPROF_CLOCK_WALL) ||
        !host_open(&second, 10000, JSPROF_CLOCK_WALL))
        return;
    CHECK_EQ(jsprof_start(h.prof), 0);
    CHECK_EQ(jsprof_start(second.prof), 0);
    for (int i = 0; i < N; i++)
        threads[i] = host_thread(detach_after_close, second.prof);
    pthread_barrier_wait(&barrier);
    host_finish(&h);
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    host_finish(&second);
    CHECK_EQ(host_counted(&wrong), 0);
}

static void *meddle(void *thread)
{
    jsprof_stack none = { .size = sizeof none };
    expect(jsprof_thread_detach(thread), -EPERM);
    expect(jsprof_thread_set_walker(thread, NULL, NULL), -EPERM);
    expect(jsprof_thread_set_stack(thread, &none), -EPERM);
    return NULL;
}

TEST(only_the_owner_may_detach_and_only_once)
{
    jsprof_thread *me, *again = NULL;
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &again), -EALREADY);
    CHECK(!again);
    pthread_join(host_thread(meddle, me), NULL);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    CHECK_EQ(jsprof_thread_detach(me), -EPERM);
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    CHECK_EQ(jsprof_thread_detach(NULL), 0);
    host_finish(&h);
    CHECK_EQ(host_counted(&wrong), 0);
}

static _Atomic uint32_t walking, walk_on;

static uint32_t walk_slowly(void *arg, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)arg, (void)ucontext;
    host_count(&walking);
    while (!host_counted(&walk_on))
        ;
    if (max)
        *out = (jsprof_frame){ .label = "late", .sp = (uintptr_t)&h };
    return max ? 1 : 0;
}

static void *be_walked(void *arg)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(h.prof, "walked", &me) != 0 ||
        jsprof_thread_set_walker(me, walk_slowly, NULL) != 0)
        return arg;
    while (!host_counted(&walk_on))
        host_burn_ms(1);
    return jsprof_thread_detach(me) ? arg : NULL;
}

TEST(thread_stopped_in_the_handler_at_close_comes_back_to_memory_that_is_there)
{
    void *failed;
    if (!host_open(&h, 1000, JSPROF_CLOCK_WALL))
        return;
    CHECK_EQ(jsprof_start(h.prof), 0);
    pthread_t walked = host_thread(be_walked, &h);
    while (!host_counted(&walking))
        sched_yield();
    CHECK_EQ(jsprof_close(h.prof), 0);
    host_count(&walk_on);
    pthread_join(walked, &failed);
    CHECK(!failed);
    close(h.fd);
}

TEST_MAIN()
