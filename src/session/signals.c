/* session/signals.c - see signals.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "sigsafe/sample.h"

static _Atomic unsigned signals_users[_NSIG]; /* a fork also reads it without the lock */
static struct sigaction signals_before[_NSIG];
/* since the last take: the covering handler may call ours in turn */
static bool signals_covered[_NSIG];
static _Atomic bool signals_survived[_NSIG]; /* a timer of ours runs for ever */
/* the action that is being set, while `cleaning` */
static struct sigaction signals_next[_NSIG];
static _Atomic bool signals_cleaning[_NSIG];
static _Thread_local sigset_t signals_fork_mask;

void jsp_signals_hush(struct jsp_signals_hushed *h)
{
    sigset_t writers;
    sigemptyset(&writers);
    sigaddset(&writers, SIGPIPE);
    sigaddset(&writers, SIGXFSZ);
    sigpending(&h->pending);
    pthread_sigmask(SIG_BLOCK, &writers, &h->mask);
}

/* Take back this signal if our write has caused it. */
static void signals_swallow(int signo, const struct jsp_signals_hushed *h)
{
    static const struct timespec now = { 0, 0 };
    sigset_t one;
    if (sigismember(&h->pending, signo) == 1)
        return;
    sigemptyset(&one);
    sigaddset(&one, signo);
    sigtimedwait(&one, NULL, &now);
}

void jsp_signals_unhush(const struct jsp_signals_hushed *h)
{
    signals_swallow(SIGPIPE, h);
    signals_swallow(SIGXFSZ, h);
    jsp_sample_mask(1);
    pthread_sigmask(SIG_SETMASK, &h->mask, NULL);
    jsp_sample_mask(-1);
}

static unsigned signals_count(int signo)
{
    /* ORDER: relaxed. The caller holds the lock, or forks and may miss a concurrent
     * change. */
    return atomic_load_explicit(&signals_users[signo], memory_order_relaxed);
}

/* Add to the number of users, with the lock held. Return the new number. */
static unsigned signals_add(int signo, int by)
{
    unsigned now = signals_count(signo) + (unsigned)by;
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(&signals_users[signo], now, memory_order_relaxed);
    return now;
}

void jsp_signals_before_fork(void)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (int s = 1; s < _NSIG; s++)
        if (signals_count(s))
            sigaddset(&ours, s);
    jsp_sample_mask(1);
    pthread_sigmask(SIG_BLOCK, &ours, &signals_fork_mask);
}

void jsp_signals_after_fork(void)
{
    pthread_sigmask(SIG_SETMASK, &signals_fork_mask, NULL);
    jsp_sample_mask(-1);
}

/* Forget all users of the signals, though the handler stays; the child inherits no timer.
 * A thread that the child lacks may have been in the middle of signals_set_clean. */
void jsp_signals_in_child(void)
{
    for (int s = 1; s < _NSIG; s++) {
        signals_add(s, -(int)signals_count(s));
        /* ORDER: relaxed. The process has one thread. */
        atomic_store_explicit(&signals_survived[s], false, memory_order_relaxed);
        /* ORDER: acquire, pairs with the release in signals_set_clean. */
        if (atomic_exchange_explicit(&signals_cleaning[s], false, memory_order_acquire))
            sigaction(s, &signals_next[s], NULL);
    }
}

static bool signals_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == jsp_sample_handle;
}

/* Return true for a handler of the host. Both kinds of handlers share their place:
 * SIG_DFL with SA_SIGINFO is SIG_DFL. */
static bool signals_somebodys(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

void jsp_signals_all(sigset_t *set)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    sigfillset(set);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(set, faults[i]);
}

/* Install our handler. All asynchronous signals wait during a sample; faults cannot. */
static int signals_install(int signo, struct sigaction *old)
{
    struct sigaction action = { .sa_sigaction = jsp_sample_handle,
                                .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    jsp_signals_all(&action.sa_mask);
    return sigaction(signo, &action, old) < 0 ? -errno : 0;
}

static struct jsp_sample_owner signals_owner(const struct sigaction *action)
{
    if (!signals_somebodys(action))
        return (struct jsp_sample_owner){ 0 };
    if (action->sa_flags & SA_SIGINFO)
        return (struct jsp_sample_owner){ .action_sigsafe = action->sa_sigaction };
    return (struct jsp_sample_owner){ .plain_sigsafe = action->sa_handler };
}

static void signals_set_reset(int signo, bool is_reset)
{
    /* ORDER: relaxed. It publishes nothing else. */
    atomic_store_explicit(&jsp_sample_chain[signo].is_reset, is_reset, memory_order_relaxed);
}

/* Note the handler before ours. The one below it stays until another handler is before
 * ours. */
static void signals_set_chain(int signo, const struct sigaction *before)
{
    struct jsp_sample_chain *chain = &jsp_sample_chain[signo];
    struct jsp_sample_owner owner = signals_owner(before);
    bool is_covered = signals_covered[signo];
    signals_covered[signo] = false;
    signals_set_reset(signo, false);
    if (chain->before.action_sigsafe == owner.action_sigsafe &&
        chain->before.plain_sigsafe == owner.plain_sigsafe)
        return;
    chain->below = is_covered ? chain->before : (struct jsp_sample_owner){ 0 };
    chain->before = owner;
}

int jsp_signals_take(int signo, bool chain)
{
    struct sigaction now;
    if (signo < 1 || signo >= _NSIG)
        return -EINVAL;
    if (sigaction(signo, NULL, &now) < 0)
        return -errno;
    if (!signals_ours(&now)) {
        if (signals_somebodys(&now) && !chain)
            return -EBUSY;
        signals_before[signo] = now;
        signals_set_chain(signo, &now);
        int err = signals_install(signo, NULL);
        if (err)
            return err;
    }
    signals_add(signo, 1);
    return 0;
}

bool jsp_signals_look(int signo)
{
    struct sigaction now;
    if (sigaction(signo, NULL, &now) < 0 || now.sa_handler != SIG_DFL)
        return false;
    if (signals_install(signo, &now) < 0)
        return false;
    if (now.sa_handler == SIG_DFL)
        signals_set_reset(signo, true);
    else if (!signals_ours(&now)) /* the host has just set it */
        sigaction(signo, &now, NULL);
    return now.sa_handler == SIG_DFL;
}

void jsp_signals_survives(int signo)
{
    /* ORDER: relaxed. jsp_signals_give reads it, later in the same thread or after the
     * session's lock has been passed on. */
    atomic_store_explicit(&signals_survived[signo], true, memory_order_relaxed);
}

/* Discard the signals pending in any thread, then set this action. */
static void signals_set_clean(int signo, const struct sigaction *action)
{
    static const struct sigaction ignore = { .sa_handler = SIG_IGN };
    signals_next[signo] = *action;
    /* ORDER: release, for the copy that a fork on another thread makes. */
    atomic_store_explicit(&signals_cleaning[signo], true, memory_order_release);
    sigaction(signo, &ignore, NULL);
    sigaction(signo, action, NULL);
    /* ORDER: release, as above: the action is set before. */
    atomic_store_explicit(&signals_cleaning[signo], false, memory_order_release);
}

/* Return the action that the host had before us, or has set since. */
static const struct sigaction *signals_wanted(int signo)
{
    static const struct sigaction reset = { .sa_handler = SIG_DFL };
    /* ORDER: relaxed, see signals_set_reset. */
    bool is_reset = atomic_load_explicit(&jsp_sample_chain[signo].is_reset,
                                         memory_order_relaxed);
    return is_reset ? &reset : &signals_before[signo];
}

void jsp_signals_give(int signo)
{
    struct sigaction now;
    bool last = signals_count(signo) && signals_add(signo, -1) == 0;
    if (!last || sigaction(signo, NULL, &now) < 0)
        return;
    /* A handler that was put on top of ours meanwhile stays. */
    signals_covered[signo] = signals_somebodys(&now) && !signals_ours(&now);
    if (signals_covered[signo])
        return;
    /* ORDER: relaxed, see jsp_signals_survives. */
    if (atomic_load_explicit(&signals_survived[signo], memory_order_relaxed))
        jsp_signals_look(signo);
    else
        signals_set_clean(signo, signals_ours(&now) ? signals_wanted(signo) : &now);
}
