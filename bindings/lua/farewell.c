/* farewell.c - see farewell.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "farewell.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "jsprof.h"

enum { FAREWELL_AGAIN_NS = 1000000, FAREWELL_TRIES = 2000, FAREWELL_SIGNALS = 3,
       FAREWELL_SAME = 20 /* tries: who sends one twice by then, as timeout(1), means one */ };

static const int farewell_signals[FAREWELL_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* Constant once a handler is there. */
static timer_t farewell_timers[FAREWELL_SIGNALS]; /* send it again, to any thread */
static pid_t farewell_pid;
static bool (*farewell_last)(void);

static volatile sig_atomic_t farewell_tries;

/* As if nobody had handled it. */
static void farewell_end(int signo)
{
    sigset_t one;
    signal(signo, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, signo);
    raise(signo);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void farewell_again(int signo)
{
    static const struct itimerspec soon = { .it_value = { 0, FAREWELL_AGAIN_NS } };
    for (int i = 0; i < FAREWELL_SIGNALS; i++)
        if (farewell_signals[i] == signo && timer_settime(farewell_timers[i], 0, &soon, NULL))
            farewell_end(signo);
}

/* A signal in a child between fork and exec, and a later one of a user who does not want
 * to wait, end the process at once. */
static void farewell_handle(int signo, siginfo_t *info, void *ucontext)
{
    int saved_errno = errno;
    bool is_ours = info->si_code == SI_TIMER;
    if (getpid() != farewell_pid || (farewell_tries > FAREWELL_SAME && !is_ours) ||
        farewell_tries++ == FAREWELL_TRIES || (jsprof_callable(ucontext) && farewell_last()))
        farewell_end(signo);
    else
        farewell_again(signo);
    errno = saved_errno;
}

static int farewell_timer(int i)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = farewell_signals[i] };
    return timer_create(CLOCK_MONOTONIC, &event, &farewell_timers[i]) < 0 ? -errno : 0;
}

/* Not on an alternate stack, which may be too small for what `last` does. */
int jsp_lua_farewell(bool (*last)(void))
{
    struct sigaction ours = { .sa_sigaction = farewell_handle,
                              .sa_flags = SA_SIGINFO | SA_RESTART }, now;
    int err = 0;
    farewell_pid = getpid();
    farewell_last = last;
    sigfillset(&ours.sa_mask);
    for (int i = 0; !err && i < FAREWELL_SIGNALS; i++) {
        bool is_free = sigaction(farewell_signals[i], NULL, &now) == 0 &&
                       now.sa_handler == SIG_DFL;
        err = is_free ? farewell_timer(i) : 0;
        if (!err && is_free)
            sigaction(farewell_signals[i], &ours, NULL);
    }
    return err;
}
