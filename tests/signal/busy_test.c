/* busy_test.c - a thread that is in jsprof_backtrace all the time: stop, close and the
 * counters do not wait for it, and forget none of its samples. And a handler that does not
 * get the processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

enum { DEPTH = 300, MOST = 600, ROUNDS = 8, RUN_MS = 80, HZ = 500 };

static struct host h;
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
    if (jsprof_thread_attach(h.prof, "busy", &me) == 0)
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
    for (int i = 0; i < ROUNDS; i++) {
        host_recount(&taken);
        host_recount(&over);
        if (!host_open(&h, HZ, JSPROF_CLOCK_WALL) || !CHECK_EQ(jsprof_start(h.prof), 0))
            return;
        pthread_t thread = host_thread(work, NULL);
        while (!host_counted(&taken))
            sched_yield();
        wait_ms(RUN_MS);
        CHECK_EQ(jsprof_stop(h.prof), 0);
        host_stats(&h);
        CHECK(h.stats.expirations >= (HOST_SANITIZED ? 1 : RUN_MS * HZ / 1000 / 10));
        CHECK_EQ(jsprof_close(h.prof), 0);
        host_count(&over);
        pthread_join(thread, NULL);
        if (host_load(&h))
            host_check(&h);
        host_free(&h);
    }
}

enum { WAITS_MS = 100, WALKS = 20, AFTER = 3, SOON_MS = 40 };

static volatile uint32_t n_walks;
static volatile uint64_t walked_ns; /* CPU time from the walk that waited to those after it */

/* Does not get the processor for a while, once. */
static uint32_t slow_walk_sigsafe(void *data, const void *ucontext, jsprof_frame *out,
                                  uint32_t max)
{
    struct timespec wait = { 0, WAITS_MS * 1000000 };
    (void)data, (void)ucontext, (void)out, (void)max;
    n_walks = n_walks + 1;
    if (n_walks == WALKS) {
        nanosleep(&wait, NULL);
        walked_ns = host_ns(CLOCK_THREAD_CPUTIME_ID);
    } else if (n_walks == WALKS + AFTER) {
        walked_ns = host_ns(CLOCK_THREAD_CPUTIME_ID) - walked_ns;
    }
    return 0;
}

/* Of CPU time a handler may use its share, and so puts off the next sample; to wait is not
 * to use. */
TEST(sample_after_one_that_had_to_wait_comes_in_time)
{
    jsprof_thread *me;
    n_walks = 0;
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_WALL), &me))
        return;
    CHECK_EQ(jsprof_thread_set_walker(me, slow_walk_sigsafe, NULL), 0);
    for (int i = 0; i < 100 && n_walks < WALKS + AFTER; i++)
        host_burn_ms(20);
    CHECK(n_walks >= WALKS + AFTER);
    CHECK(walked_ns < SOON_MS * 1000000);
    CHECK_EQ(jsprof_thread_set_walker(me, NULL, NULL), 0);
    jsprof_thread_detach(me);
    CHECK_EQ(jsprof_close(h.prof), 0);
    host_free(&h);
}

int main(void)
{
    RUN(samples_are_counted_at_stop_while_their_thread_prints_its_stack);
    RUN(sample_after_one_that_had_to_wait_comes_in_time);
    return DONE();
}
