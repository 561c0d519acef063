/* alone_test.c - JSPROF_NO_THREAD: the sampled thread does the drain's work in the handler,
 * where it may, and nowhere else; a thread is there where that would not do.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <sys/stat.h>

#include "alarms.h"

enum { HZ = 1000, STORM_HZ = 10000, SMALL_RING = 1 << 14, BLOCKS = 64, TASK_LINKS = 2,
       PATIENCE = 60000 };

static struct host h;
static jsprof_thread *me;
static _Atomic uint32_t n_drained;

/* The sanitizer's own alternate stack would be one reason for a thread. */
JSPROF_API const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "use_sigaltstack=0";
}

static uint32_t n_threads(void)
{
    struct stat st;
    return stat("/proc/self/task", &st) == 0 ? (uint32_t)st.st_nlink - TASK_LINKS : 0;
}

/* One that was joined may not be gone from the list yet. */
static bool has_threads(uint32_t n)
{
    for (int i = 0; i < PATIENCE && n_threads() != n; i++)
        usleep(1000);
    return n_threads() == n;
}

static off_t n_written(void)
{
    struct stat st;
    return fstat(h.fd, &st) == 0 ? st.st_size : 0;
}

/* Allocates, with sizes in no order: a list of malloc's that is half changed would show. */
static void use_malloc(uint32_t seed, uint32_t rounds)
{
    static _Thread_local void *volatile kept[BLOCKS];
    for (uint32_t i = 0; i < rounds; i++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t at = seed >> 16 & (BLOCKS - 1);
        free(kept[at]);
        kept[at] = malloc(16 + (seed >> 8 & 4095));
        if (kept[at])
            memset(kept[at], (int)at, 16);
    }
}

/* Any function of the C library may be called here. */
static void on_drain(void *data)
{
    void *own[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++)
        own[i] = malloc(16 + i * 40);
    for (uint32_t i = 0; i < BLOCKS; i++)
        free(own[i]);
    jsprof_mark(*(jsprof **)data, 0, "test", "drained", NULL);
    host_count(&n_drained);
}

/* Do this until it was drained so often. */
static void drained(void (*work)(void), uint32_t n)
{
    while (host_counted(&n_drained) < n)
        work();
}

static bool begin(uint32_t hz, int clock)
{
    jsprof_options o = host_options(hz, clock);
    o.flags |= JSPROF_NO_THREAD;
    o.ring_bytes = SMALL_RING * (hz / HZ);
    o.on_drain = on_drain;
    o.on_drain_data = &h.prof;
    host_recount(&n_drained);
    return host_begin_with(&h, o, &me);
}

static void end(void)
{
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_finish(&h);
}

TEST(capture_grows_though_there_is_no_thread)
{
    if (HOST_LATE) {
        SKIP("the thread sanitizer has a thread of its own");
        return;
    }
    if (!begin(HZ, JSPROF_CLOCK_CPU))
        return;
    for (off_t early = n_written(); n_written() == early;)
        host_burn_ms(10);
    CHECK(has_threads(1));
    CHECK(host_counted(&n_drained) > 0);
    end();
    CHECK_EQ(h.stats.lost_ring, 0);
}

TEST(flush_stop_and_start_again_need_no_thread)
{
    if (!begin(HZ, JSPROF_CLOCK_CPU))
        return;
    off_t empty = n_written();
    host_sampled(&h, 5);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    CHECK(n_written() > empty);
    CHECK_EQ(jsprof_stop(h.prof), 0);
    off_t first = n_written();
    CHECK_EQ(jsprof_start(h.prof), 0);
    host_sampled(&h, 5);
    CHECK_EQ(jsprof_stop(h.prof), 0);
    CHECK(n_written() > first);
    end();
}

/* -- Where a thread is needed ------------------------------------------------------ */

static void *burn(void *arg)
{
    jsprof_thread *own;
    bool is_attached = jsprof_thread_attach(h.prof, "second", &own) == 0;
    *(bool *)arg = has_threads(HOST_LATE ? 4 : 3);
    host_burn_ms(100);
    if (is_attached)
        jsprof_thread_detach(own);
    return NULL;
}

TEST(second_thread_that_is_sampled_brings_one)
{
    bool is_there = false;
    if (!begin(HZ, JSPROF_CLOCK_CPU))
        return;
    pthread_t t = host_thread(burn, &is_there);
    host_burn_ms(100);
    pthread_join(t, NULL);
    CHECK(is_there);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    if (host_close(&h))
        CHECK_EQ(h.profile.n_threads, 2);
}

TEST(program_on_an_alternate_stack_gets_one)
{
    static char stack[1 << 16];
    stack_t ours = { .ss_sp = stack, .ss_size = sizeof stack }, none = { .ss_flags = SS_DISABLE };
    CHECK_EQ(sigaltstack(&ours, NULL), 0);
    if (begin(HZ, JSPROF_CLOCK_CPU)) {
        CHECK(has_threads(HOST_LATE ? 3 : 2));
        end();
    }
    CHECK_EQ(sigaltstack(&none, NULL), 0);
}

/* Nobody reads it, so a write by the program itself would be its last. */
TEST(pipe_that_makes_who_writes_wait_brings_one)
{
    jsprof_options o = host_options(HZ, JSPROF_CLOCK_CPU);
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    o.flags |= JSPROF_NO_THREAD | JSPROF_USE_FD;
    o.fd = ends[1];
    if (!CHECK_EQ(jsprof_open(&h.prof, &o), 0))
        return;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    CHECK(has_threads(HOST_LATE ? 3 : 2));
    CHECK_EQ(jsprof_thread_detach(me), 0);
    CHECK_EQ(jsprof_close(h.prof), 0);
    close(ends[0]);
    close(ends[1]);
}

/* -- Where it may not ---------------------------------------------------------------- */

/* Looks like the program to our signal, and may be in the middle of malloc. */
static void nested(int signo, siginfo_t *info, void *ucontext)
{
    static volatile uint32_t sink;
    (void)signo, (void)info, (void)ucontext;
    for (int i = 0; i < 100000; i++)
        sink = sink + 1;
}

static void allocate(void)
{
    static uint32_t n;
    use_malloc(n++, 20000);
    host_burn_ms(1); /* mostly in the clock, and the clock in the kernel's code */
}

TEST(allocator_is_whole_whenever_the_handler_calls_it)
{
    if (!begin(STORM_HZ, JSPROF_CLOCK_WALL))
        return;
    alarms(nested, 1500);
    drained(allocate, 20);
    alarms(NULL, 0);
    end();
    CHECK(h.stats.kept > 0);
}

enum { DEEP = 9000 }; /* more frames than a walk looks at */

static volatile uint32_t n_before, n_after;

/* How often somebody drains meanwhile. */
static __attribute__((noinline)) int descend(int depth)
{
    volatile int here = depth;
    if (!depth) {
        n_before = host_counted(&n_drained);
        for (int i = 0; i < 1000; i++)
            nested(0, NULL, NULL);
        n_after = host_counted(&n_drained);
        return 0;
    }
    return descend(depth - 1) + here;
}

static void deep(int signo, siginfo_t *info, void *ucontext)
{
    (void)signo, (void)info, (void)ucontext;
    setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
    descend(DEEP);
}

TEST(nobody_drains_in_a_handler_that_no_walk_comes_out_of)
{
    if (HOST_LATE) {
        SKIP("the thread sanitizer calls handlers where it likes");
        return;
    }
    if (!begin(HZ, JSPROF_CLOCK_WALL))
        return;
    n_before = n_after = UINT32_MAX;
    alarms(deep, 10000);
    while (n_after == UINT32_MAX)
        host_burn_ms(1);
    alarms(NULL, 0);
    CHECK_EQ(n_after, n_before);
    end();
}

/* It may lie anywhere, also in a frame: then the thread's stack is around it. */
TEST(nobody_drains_on_a_small_stack_within_the_threads_own)
{
    char small[1 << 14];
    stack_t ours = { .ss_sp = small, .ss_size = sizeof small }, none = { .ss_flags = SS_DISABLE };
    if (HOST_LATE) {
        SKIP("the thread sanitizer calls handlers where it likes");
        return;
    }
    if (!begin(HZ, JSPROF_CLOCK_WALL))
        return;
    host_burn_ms(10);
    CHECK_EQ(sigaltstack(&ours, NULL), 0);
    uint32_t before = host_counted(&n_drained);
    host_burn_ms(100);
    CHECK_EQ(host_counted(&n_drained), before);
    CHECK_EQ(sigaltstack(&none, NULL), 0);
    end();
}

enum { FINE = 7 };

/* A cancelled thread ends in a write. */
static int cancelled(void)
{
    if (!begin(HZ, JSPROF_CLOCK_WALL))
        return 0;
    pthread_cancel(pthread_self());
    drained(host_burn_one, 3);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    end();
    return FINE;
}

TEST(thread_that_is_cancelled_does_not_end_in_the_handler)
{
    CHECK_EQ(host_in_child(cancelled), FINE);
}

TEST_MAIN()
