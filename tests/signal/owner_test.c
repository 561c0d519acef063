/* owner_test.c - whose signal it is: other owners, chaining, late arrivals, and what
 * the interrupted program may not notice.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <setjmp.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "sigsafe/sample.h"

static struct host h;
static jsprof_thread *me;

static _Atomic uint32_t others, others_ours;

static void other_handler(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)ucontext;
    host_count(info->si_code == SI_TIMER ? &others_ours : &others);
}

static void other_plain(int sig)
{
    (void)sig;
    host_count(&others);
}

static struct sigaction now_installed(void)
{
    struct sigaction now;
    sigaction(host_signo(), NULL, &now);
    return now;
}

static void other_profiler(suseconds_t us)
{
    struct itimerval every = { { 0, us }, { 0, us } };
    setitimer(ITIMER_PROF, &every, NULL);
}

TEST(signal_that_somebody_owns_is_refused)
{
    struct sigaction other = { .sa_sigaction = other_handler, .sa_flags = SA_SIGINFO };
    sigaction(host_signo(), &other, NULL);
    if (!host_open(&h, 1000, JSPROF_CLOCK_CPU))
        return;
    CHECK_EQ(jsprof_start(h.prof), -EBUSY);
    CHECK(now_installed().sa_sigaction == other_handler);
    signal(host_signo(), SIG_DFL);
    CHECK_EQ(jsprof_start(h.prof), 0); /* nothing was left behind */
    host_finish(&h);
    CHECK(now_installed().sa_handler == SIG_DFL);
}

static void chain(const struct sigaction *other)
{
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    options.flags |= JSPROF_CHAIN;
    options.hz = HOST_LATE ? 20 : 1000;
    host_recount(&others);
    host_recount(&others_ours);
    sigaction(host_signo(), other, NULL);
    if (!host_begin_with(&h, options, &me))
        return;
    uint64_t began = host_ns(CLOCK_PROCESS_CPUTIME_ID);
    other_profiler(10000);
    for (int i = 0; i < 1500 && host_counted(&others) < 5; i++)
        host_burn_ms(10);
    other_profiler(0);
    uint64_t used = host_ns(CLOCK_PROCESS_CPUTIME_ID) - began;
    host_stats(&h);
    CHECK(host_counted(&others) >= 5); /* theirs, each 10 ms, went on to them */
    /* And ours, each ms, did not. Late ones come together. */
    CHECK(host_counted(&others) <= used / 10000000 + (HOST_LATE ? 60 : 3));
    CHECK_EQ(host_counted(&others_ours), 0);
    CHECK(jsprof_flush(h.prof) == 0);
    host_finish(&h);
    CHECK(now_installed().sa_sigaction == other->sa_sigaction);
    host_recount(&others);
    raise(host_signo());
    CHECK_EQ(host_counted(&others), 1);
    signal(host_signo(), SIG_DFL);
}

TEST_OF(chained_owner_gets_its_signals_and_none_of_ours,
        chain(&(struct sigaction){ .sa_sigaction = other_handler, .sa_flags = SA_SIGINFO }))
TEST_OF(chained_owner_with_an_old_style_handler_gets_its_signals,
        chain(&(struct sigaction){ .sa_handler = other_plain }))

static struct sigaction below;

static void on_top(int sig, siginfo_t *info, void *ucontext)
{
    host_count(&others);
    if (host_counted(&others) < 100 && below.sa_flags & SA_SIGINFO)
        below.sa_sigaction(sig, info, ucontext);
}

static _Atomic uint32_t lowest;

static void at_the_bottom(int sig)
{
    (void)sig;
    host_count(&lowest);
}

TEST(host_that_chains_to_us_is_called_once_a_signal_after_a_second_start)
{
    struct sigaction top = { .sa_sigaction = on_top, .sa_flags = SA_SIGINFO };
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    options.flags |= JSPROF_CHAIN;
    host_recount(&others);
    host_recount(&lowest);
    signal(host_signo(), at_the_bottom);
    if (!CHECK_EQ(host_open_with(&h, options), 0) || !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    sigaction(host_signo(), &top, &below);
    raise(host_signo());
    CHECK_EQ(host_counted(&others), 1);
    for (uint32_t run = 1; run <= 3; run++) {
        CHECK_EQ(jsprof_stop(h.prof), 0);
        CHECK_EQ(jsprof_start(h.prof), 0); /* now each has the other below it */
        raise(host_signo());
        CHECK_EQ(host_counted(&others), 2 * run);
        raise(host_signo());
        CHECK_EQ(host_counted(&others), 2 * run + 1);
    }
    CHECK_EQ(host_counted(&lowest), 7);
    host_finish(&h);
    signal(host_signo(), SIG_DFL);
}

static sigjmp_buf deadline;

static void leap(int sig)
{
    (void)sig;
    siglongjmp(deadline, 1);
}

/* A deadline that leaves its handler by a jump; on an alternate stack each delivery has its
 * context at the same address. */
TEST(chained_handler_that_jumps_out_is_called_the_next_time_too)
{
    static char alternate[1 << 16];
    stack_t alt = { .ss_sp = alternate, .ss_size = sizeof alternate };
    struct sigaction other = { .sa_handler = leap, .sa_flags = SA_ONSTACK };
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    options.flags |= JSPROF_CHAIN;
    sigaltstack(&alt, NULL);
    sigaction(host_signo(), &other, NULL);
    if (!CHECK_EQ(host_open_with(&h, options), 0) || !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    volatile int jumps = 0;
    for (volatile int i = 0; i < 3; i = i + 1) {
        if (sigsetjmp(deadline, 1) == 0)
            raise(host_signo());
        else
            jumps = jumps + 1;
    }
    CHECK_EQ(jumps, 3);
    host_finish(&h);
    signal(host_signo(), SIG_DFL);
    alt.ss_flags = SS_DISABLE;
    sigaltstack(&alt, NULL);
}

/* Another copy of the library marks its timers nearly as we do, and counts from 1 too. */
TEST(timer_of_another_copy_of_the_library_is_passed_on)
{
    struct sigaction other = { .sa_sigaction = other_handler, .sa_flags = SA_SIGINFO };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = host_signo() };
    struct itimerspec soon = { .it_value = { 0, 1000000 } };
    timer_t timer;
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    options.flags |= JSPROF_CHAIN;
    host_recount(&others_ours);
    sigaction(host_signo(), &other, NULL);
    if (!CHECK_EQ(host_open_with(&h, options), 0) || !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    event.sigev_value.sival_ptr =
        (void *)((uintptr_t)jsp_sample_value(1) ^ (uintptr_t)1 << 40);
    CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    timer_settime(timer, 0, &soon, NULL);
    host_burn_ms(20);
    CHECK_EQ(host_counted(&others_ours), 1);
    timer_delete(timer);
    host_finish(&h);
    signal(host_signo(), SIG_DFL);
}

/* It is pending when the session ends; the default action would kill us. */
TEST(signal_that_arrives_after_stop_kills_nobody)
{
    for (int i = 0; i < 20; i++) {
        if (!host_begin_with(&h, host_options(10000, JSPROF_CLOCK_WALL), &me))
            return;
        host_mask(SIG_BLOCK, host_signo());
        if (i % 2)
            raise(host_signo()); /* kernels throw a timer's away together with the timer */
        sigset_t pending;
        do
            sigpending(&pending);
        while (!sigismember(&pending, host_signo()));
        CHECK_EQ(jsprof_stop(h.prof), 0);
        CHECK(now_installed().sa_handler == SIG_DFL);
        host_mask(SIG_UNBLOCK, host_signo());
        host_finish(&h);
    }
}

static jsprof_options timer_options(uint32_t hz)
{
    jsprof_options options = host_options(hz, JSPROF_CLOCK_CPU);
    host_choose(&options, "timer");
    return options;
}

/* What the kernel would deliver, made by hand: some kernels throw it away. */
static void deliver(const jsprof_thread *t)
{
    const struct jsp_sampled *sampled = (const void *)t;
    siginfo_t info = { .si_signo = host_signo(), .si_code = SI_TIMER };
    ucontext_t context = { 0 }; /* registers that lead nowhere: the stack ends at once */
    info.si_value.sival_ptr = jsp_sample_value(sampled->number);
    jsp_sample_handle(host_signo(), &info, &context);
}

TEST(signal_that_arrives_after_stop_is_counted_as_late)
{
    if (!CHECK_EQ(host_open_with(&h, timer_options(1)), 0)) /* none expires meanwhile */
        return;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    deliver(me);
    CHECK_EQ(jsprof_start(h.prof), 0);
    CHECK_EQ(jsprof_stop(h.prof), 0);
    deliver(me);
    if (host_close(&h)) {
        /* The second may be that of an expiration that stop found due, and counted. */
        CHECK_EQ(h.stats.lost_late + (h.stats.lost_undelivered != 0), 2);
        CHECK_EQ(h.stats.kept, 0);
    }
    deliver(me); /* its session is gone, its memory is not */
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

static int slow_entry(void *unused, const void *entry, jsprof_frame *out)
{
    (void)unused;
    host_burn_ms(40);
    out->label = entry;
    return 1;
}

/* Whose signal was ignored for a moment has no timer that would set itself again. */
TEST(signal_that_was_ignored_for_a_moment_is_not_the_last)
{
    struct sigaction ours;
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_WALL), &me))
        return;
    sigaction(host_signo(), NULL, &ours);
    signal(host_signo(), SIG_IGN);
    host_burn_ms(20);
    sigaction(host_signo(), &ours, NULL);
    jsprof_push(me, "after", NULL, 0);
    host_sampled(&h, 10);
    jsprof_pop(me);
    if (host_close(&h))
        CHECK(host_weight(&h, "after") > 0);
}

/* As where a fault's handler, within a sample, lets our signal through. */
TEST(signal_within_a_sample_goes_to_the_next_ones_weight)
{
    static const char entries[2][8] = { "outer", "inner" };
    static const char(*const at)[8] = entries;
    static const uint32_t depth = 2;
    jsprof_stack stack = { .size = sizeof stack, .depth = &depth, .entries = &at,
                           .limit = 2, .depth_bytes = 4, .stride = sizeof entries[0],
                           .decode_sigsafe = slow_entry };
    if (!host_begin_with(&h, timer_options(100), &me))
        return;
    CHECK_EQ(jsprof_thread_set_stack(me, &stack), 0);
    for (int i = 0; i < 3; i++)
        deliver(me);
    CHECK_EQ(jsprof_thread_set_stack(me, NULL), 0);
    if (host_close(&h)) {
        CHECK(h.stats.samples >= 3);
        CHECK(host_weight(&h, "inner") > 0);
    }
}

TEST(interrupted_code_keeps_its_errno)
{
    int changed = 0;
    if (!host_begin_with(&h, host_options(10000, JSPROF_CLOCK_WALL), &me))
        return;
    do {
        errno = 12345;
        for (volatile int i = 0; i < 10000; i = i + 1)
            ;
        changed += errno != 12345;
    } while (host_taken(&h) < 50);
    CHECK_EQ(changed, 0);
    host_finish(&h);
}

static void *write_late(void *arg)
{
    int *pipe_end = arg;
    host_burn_ms(60); /* many signals for who waits */
    return write(*pipe_end, "x", 1) == 1 ? arg : NULL;
}

TEST(read_that_was_interrupted_goes_on)
{
    int ends[2];
    char byte = 0;
    void *wrote;
    if (!CHECK_EQ(pipe(ends), 0) || !host_open(&h, 1000, JSPROF_CLOCK_WALL))
        return;
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    pthread_t writer = host_thread(write_late, &ends[1]);
    CHECK_EQ(read(ends[0], &byte, 1), 1);
    CHECK_EQ(byte, 'x');
    pthread_join(writer, &wrote);
    CHECK(wrote);
    if (host_close(&h))
        CHECK(h.stats.expirations > 0);
    close(ends[0]);
    close(ends[1]);
}

static int run_without_timers(void)
{
    struct rlimit none = { 0, 0 };
    me = NULL;
    if (setrlimit(RLIMIT_SIGPENDING, &none) != 0)
        return 1;
    if (host_open_with(&h, timer_options(1000)) != 0)
        return 2;
    if (jsprof_start(h.prof) != 0) /* no thread, no timer */
        return 3;
    errno = 12345;
    if (jsprof_thread_attach(h.prof, "main", &me) != -EAGAIN || me)
        return 4;
    if (errno != 12345)
        return 5;
    if (jsprof_stop(h.prof) != 0 || jsprof_thread_attach(h.prof, "main", &me) != 0)
        return 6;
    if (jsprof_start(h.prof) != -EAGAIN || errno != 12345)
        return 7;
    if (now_installed().sa_handler != SIG_DFL)
        return 8;
    host_burn_ms(5);
    return jsprof_thread_detach(me) == 0 && jsprof_close(h.prof) == 0 ? 0 : 9;
}

TEST(host_goes_on_where_no_timer_can_be_had)
{
    CHECK_EQ(host_in_child(run_without_timers), 0);
}

TEST_MAIN()
