/* raw_test.c - threads that the C library does not see end, and one that it did not make.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <sched.h>
#include <sys/syscall.h>

enum { THREADS = 30, CALLS = 10, PATIENCE_S = 60 };

/* Timers of this process, as the kernel lists them; -1: it does not. */
static int count_timers(void)
{
    char line[256];
    int n = 0;
    FILE *f = fopen("/proc/self/timers", "r");
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f))
        n += strncmp(line, "ID:", 3) == 0;
    fclose(f);
    return n;
}

static void *end_by_system_call(void *body)
{
    ((void (*)(void))(uintptr_t)body)();
    syscall(SYS_exit, 0);
    return NULL;
}

static void run_thread(void (*body)(void))
{
    pthread_join(host_thread(end_by_system_call, (void *)(uintptr_t)body), NULL);
}

static bool sees_no_end(void)
{
    if (HOST_SANITIZED)
        SKIP("the sanitizer waits for the end of each thread, which it does not see here");
    return HOST_SANITIZED;
}

static struct host h;
static jsprof_function *in_thread;
static _Atomic uint32_t refused;

/* The last call stays open. */
static void attach_and_work(void)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(h.prof, "ends raw", &me) != 0) {
        host_count(&refused);
        return;
    }
    for (int i = 0; i < CALLS; i++) {
        jsprof_enter(me, in_thread);
        host_burn_ms(1);
        if (i < CALLS - 1)
            jsprof_leave(me);
    }
}

/* With time for the drain, until this many are left. */
static bool timers_become(int n)
{
    struct timespec moment = { 0, 10000000 };
    for (int i = 0; i < PATIENCE_S * 100 && count_timers() != n; i++)
        nanosleep(&moment, NULL);
    return CHECK_EQ(count_timers(), n);
}

static void check_calls(void)
{
    jsprof_calls calls = { .size = sizeof calls };
    uint64_t n = 0;
    CHECK_EQ(jsprof_calls_snapshot(h.prof, &calls), 0);
    for (uint32_t i = 0; i < calls.n_rows; i++)
        if (strcmp(calls.rows[i].name, "in a thread") == 0)
            n = calls.rows[i].calls;
    CHECK_EQ(n, THREADS * CALLS);
    CHECK_EQ(calls.foreign, 0);
    jsprof_calls_free(&calls);
}

TEST(threads_that_end_by_the_system_call_give_their_timers_back)
{
    jsprof_thread *me;
    if (sees_no_end())
        return;
    if (count_timers() < 0) {
        SKIP("needs /proc/self/timers");
        return;
    }
    CHECK_EQ(jsprof_function_new(&in_thread, "in a thread", NULL, 0, JSPROF_KIND_VM), 0);
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me) ||
        !CHECK_EQ(jsprof_calls_set(h.prof, JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME), 0))
        return;
    int before = count_timers(); /* of this thread, and of the looker */
    for (int i = 0; i < THREADS; i++)
        run_thread(attach_and_work);
    CHECK_EQ(host_counted(&refused), 0);
    timers_become(before);
    check_calls();
    CHECK_EQ(jsprof_thread_detach(me), 0);
    if (host_close(&h))
        CHECK(host_samples(&h, "in a thread") > 0);
    jsprof_function_free(in_thread);
    in_thread = NULL;
}

static void attach_only(void)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(h.prof, "ends raw", &me) != 0)
        host_count(&refused);
}

TEST(session_starts_after_a_thread_ended_by_the_system_call)
{
    if (sees_no_end() || !host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    run_thread(attach_only);
    CHECK_EQ(host_counted(&refused), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    host_finish(&h);
}

/* -- A thread that shares the thread-local variables of its maker ------------------------- */

static _Atomic int raw_answer, raw_over;

static int attach_raw(void *unused)
{
    jsprof_thread *me;
    (void)unused;
    atomic_store_explicit(&raw_answer, jsprof_thread_attach(h.prof, "raw", &me),
                          memory_order_relaxed);
    atomic_store_explicit(&raw_over, 1, memory_order_release);
    syscall(SYS_exit, 0);
    return 0;
}

TEST(thread_made_by_the_system_call_is_refused)
{
    enum { STACK = 1 << 18 };
    static _Alignas(16) char stack[STACK];
    jsprof_thread *me;
    if (HOST_SANITIZED) {
        SKIP("the sanitizer knows no such threads");
        return;
    }
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    if (CHECK(clone(attach_raw, stack + STACK, flags, NULL) > 0))
        while (!atomic_load_explicit(&raw_over, memory_order_acquire))
            ; /* errno is its, too */
    CHECK_EQ(atomic_load_explicit(&raw_answer, memory_order_relaxed), -ENOTSUP);
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    host_finish(&h);
}

TEST_MAIN()
