/* reset_test.c - a signal of ours never meets the default action, which ends the program:
 * where a sandbox keeps a timer alive, and where the host sets SIG_DFL while we sample.
 *
 * Each case is a child of its own: it may die, and a sandbox is for ever.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include "deny.h"

enum { NO_SECCOMP = 77, AFTER_NS = 700000000 /* twice what a timer without a handler takes */ };

/* What the body of a child answers, or 128 + SIGNAL. */
static int outcome(int (*body)(struct host *h, jsprof_thread *me), jsprof_options options)
{
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        struct host h = { 0 };
        jsprof_thread *me;
        alarm(240);
        _exit(host_begin_with(&h, options, &me) ? body(&h, me) : 1);
    }
    return host_child_status(child);
}

static void check_outcome(int (*body)(struct host *h, jsprof_thread *me))
{
    int got = outcome(body, host_options(1000, JSPROF_CLOCK_WALL));
    if (got == NO_SECCOMP)
        SKIP("needs a kernel with seccomp filters");
    else
        CHECK_EQ(got, 0);
}

static struct sigaction installed(int signo)
{
    struct sigaction now;
    sigaction(signo, NULL, &now);
    return now;
}

static void rest(uint64_t ns)
{
    for (uint64_t until = host_ns(CLOCK_MONOTONIC) + ns; host_ns(CLOCK_MONOTONIC) < until;)
        host_burn_ms(1);
}

/* -- Timers that continue ---------------------------------------------------------- */

static int close_in_sandbox(struct host *h, const int *calls, size_t n)
{
    if (!deny(calls, n, EPERM))
        return NO_SECCOMP;
    rest(20000000);
    if (jsprof_close(h->prof) < 0)
        return 2;
    rest(AFTER_NS);
    return 0;
}

static int close_with_timers_kept(struct host *h, jsprof_thread *me)
{
    static const int calls[] = { SYS_timer_delete };
    (void)me;
    int err = close_in_sandbox(h, calls, 1);
    /* It was stopped, so there is no reason to stay. */
    return err || installed(host_signo()).sa_handler == SIG_DFL ? err : 3;
}

static int close_with_timers_going_on(struct host *h, jsprof_thread *me)
{
    static const int calls[] = { SYS_timer_delete, SYS_timer_settime };
    (void)me;
    return close_in_sandbox(h, calls, 2);
}

static int reset_before_close(struct host *h, jsprof_thread *me)
{
    host_mask(SIG_BLOCK, host_signo());
    signal(host_signo(), SIG_DFL);
    int err = close_with_timers_going_on(h, me);
    if (err)
        return err;
    host_mask(SIG_UNBLOCK, host_signo());
    rest(AFTER_NS);
    return 0;
}

static int detach_and_close(struct host *h, jsprof_thread *me)
{
    static const int calls[] = { SYS_timer_delete, SYS_timer_settime };
    if (!deny(calls, 2, EPERM))
        return NO_SECCOMP;
    if (jsprof_thread_detach(me) < 0 || jsprof_close(h->prof) < 0)
        return 2;
    rest(AFTER_NS);
    return 0;
}

TEST_OF(sandbox_that_refuses_timer_delete_kills_nobody_after_close,
        check_outcome(close_with_timers_kept))
TEST_OF(sandbox_that_refuses_timer_settime_too_kills_nobody_after_close,
        check_outcome(close_with_timers_going_on))
TEST_OF(timer_that_goes_on_finds_our_handler_where_the_host_set_the_default,
        check_outcome(reset_before_close))
TEST_OF(timer_of_a_thread_that_detached_is_remembered, check_outcome(detach_and_close))

/* -- SIG_DFL ------------------------------------------------------------------ */

static bool is_pending(int signo)
{
    sigset_t set;
    return sigpending(&set) == 0 && sigismember(&set, signo) == 1;
}

static int close_with_one_pending(struct host *h, jsprof_thread *me)
{
    (void)me;
    host_mask(SIG_BLOCK, host_signo());
    while (!is_pending(host_signo()))
        rest(1000000);
    signal(host_signo(), SIG_DFL);
    if (jsprof_close(h->prof) < 0)
        return 2;
    host_mask(SIG_UNBLOCK, host_signo());
    return installed(host_signo()).sa_handler == SIG_DFL ? 0 : 3;
}

static uint64_t kept(const struct host *h)
{
    jsprof_stats stats = { .size = sizeof stats };
    jsprof_flush(h->prof);
    jsprof_stats_get(h->prof, &stats);
    return stats.kept;
}

static int go_on(struct host *h, int signo)
{
    while (installed(signo).sa_handler == SIG_DFL)
        rest(1000000);
    host_mask(SIG_UNBLOCK, signo);
    for (uint64_t before = kept(h); kept(h) < before + 10;)
        rest(1000000);
    if (jsprof_close(h->prof) < 0)
        return 2;
    return installed(signo).sa_handler == SIG_DFL ? 0 : 3;
}

static int reset_while_blocked(struct host *h, jsprof_thread *me)
{
    (void)me;
    host_mask(SIG_BLOCK, host_signo());
    signal(host_signo(), SIG_DFL);
    return go_on(h, host_signo());
}

TEST_OF(host_that_sets_the_default_action_is_not_killed_after_close,
        check_outcome(close_with_one_pending))
TEST_OF(handler_is_put_back_where_the_host_set_the_default_action,
        check_outcome(reset_while_blocked))

static int reset_harmless(struct host *h, jsprof_thread *me)
{
    (void)me;
    signal(SIGURG, SIG_DFL);
    return go_on(h, SIGURG);
}

TEST(host_that_samples_on_SIGURG_may_set_the_default_action_at_any_time)
{
    jsprof_options options = host_options(1000, JSPROF_CLOCK_WALL);
    options.signo = SIGURG;
    CHECK_EQ(outcome(reset_harmless, options), 0);
}

static void never(int sig)
{
    (void)sig;
    _exit(4);
}

static int reset_over_a_chain(struct host *h, jsprof_thread *me)
{
    (void)me;
    signal(SIGURG, SIG_DFL);
    while (installed(SIGURG).sa_handler == SIG_DFL)
        rest(1000000);
    raise(SIGURG);
    return go_on(h, SIGURG);
}

TEST(handler_before_ours_is_not_called_once_the_host_has_reset_it)
{
    jsprof_options options = host_options(1000, JSPROF_CLOCK_WALL);
    options.signo = SIGURG;
    options.flags |= JSPROF_CHAIN;
    signal(SIGURG, never);
    CHECK_EQ(outcome(reset_over_a_chain, options), 0);
    signal(SIGURG, SIG_DFL);
}

TEST_MAIN()
