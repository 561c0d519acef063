/* session/signals.c - see signals.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signals.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "sigsafe/sample.h"

static unsigned signals_users[_NSIG];
static struct sigaction signals_before[_NSIG];
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

/* Take back the one signal, if it came from our write. */
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
    pthread_sigmask(SIG_SETMASK, &h->mask, NULL);
}

void jsp_signals_before_fork(void)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (int s = 1; s < _NSIG; s++)
        if (signals_users[s])
            sigaddset(&ours, s);
    pthread_sigmask(SIG_BLOCK, &ours, &signals_fork_mask);
}

void jsp_signals_after_fork(void)
{
    pthread_sigmask(SIG_SETMASK, &signals_fork_mask, NULL);
}

/* Nobody uses the signals, though the handler stays. */
void jsp_signals_in_child(void)
{
    memset(signals_users, 0, sizeof signals_users);
}

static bool signals_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == jsp_sample_handle;
}

static bool signals_somebodys(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

/* Everything asynchronous waits while we sample; faults can not. */
static int signals_install(int signo)
{
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    struct sigaction action = { .sa_sigaction = jsp_sample_handle,
                                .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&action.sa_mask, faults[i]);
    return sigaction(signo, &action, NULL) < 0 ? -errno : 0;
}

static void signals_set_chain(int signo, const struct sigaction *before)
{
    struct jsp_sample_chain *chain = &jsp_sample_chain[signo];
    *chain = (struct jsp_sample_chain){ 0 };
    if (!signals_somebodys(before))
        return;
    if (before->sa_flags & SA_SIGINFO)
        chain->action_sigsafe = before->sa_sigaction;
    else
        chain->plain_sigsafe = before->sa_handler;
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
        int err = signals_install(signo);
        if (err)
            return err;
    }
    signals_users[signo]++;
    return 0;
}

void jsp_signals_give(int signo)
{
    struct sigaction now, ignore = { .sa_handler = SIG_IGN };
    bool last = signals_users[signo] && --signals_users[signo] == 0;
    /* Who put a handler on top of ours meanwhile keeps it. */
    if (last && sigaction(signo, NULL, &now) == 0 && signals_ours(&now)) {
        sigaction(signo, &ignore, NULL); /* throws away what is pending */
        sigaction(signo, &signals_before[signo], NULL);
    }
}
