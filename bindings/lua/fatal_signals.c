/* fatal_signals.c - see fatal_signals.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fatal_signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "jsprof.h"

enum { FATAL_AGAIN_NS = 1000000, FATAL_TRIES = 2000, FATAL_SIGNALS = 3,
       FATAL_SAME = 20 /* tries: timeout(1) sends a signal twice at once */ };

static const int fatal_signals[FATAL_SIGNALS] = { SIGINT, SIGTERM, SIGHUP };

/* Constant once a handler is installed. */
static timer_t fatal_timers[FATAL_SIGNALS]; /* sends the signal again, to any thread */
static pid_t fatal_pid;
static bool (*fatal_last)(void);

static volatile sig_atomic_t fatal_tries;

/* End the process as if it had no handler. */
static void fatal_end(int signo)
{
    sigset_t one;
    signal(signo, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, signo);
    raise(signo);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void fatal_again(int signo)
{
    static const struct itimerspec soon = { .it_value = { 0, FATAL_AGAIN_NS } };
    for (int i = 0; i < FATAL_SIGNALS; i++)
        if (fatal_signals[i] == signo && timer_settime(fatal_timers[i], 0, &soon, NULL))
            fatal_end(signo);
}

/* The process ends at once at a signal in a child between fork and exec, and at a second
 * signal from a user who does not want to wait. */
static void fatal_handle(int signo, siginfo_t *info, void *ucontext)
{
    int saved_errno = errno;
    bool is_ours = info->si_code == SI_TIMER;
    if (getpid() != fatal_pid || (fatal_tries > FATAL_SAME && !is_ours) ||
        fatal_tries++ == FATAL_TRIES || (jsprof_callable(ucontext) && fatal_last()))
        fatal_end(signo);
    else
        fatal_again(signo);
    errno = saved_errno;
}

static int fatal_timer(int i)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = fatal_signals[i] };
    return timer_create(CLOCK_MONOTONIC, &event, &fatal_timers[i]) < 0 ? -errno : 0;
}

/* The handler does not run on an alternate stack, which may be too small for `last`. */
int jsp_lua_on_fatal_signal(bool (*last)(void))
{
    struct sigaction ours = { .sa_sigaction = fatal_handle,
                              .sa_flags = SA_SIGINFO | SA_RESTART }, now;
    int err = 0;
    fatal_pid = getpid();
    fatal_last = last;
    sigfillset(&ours.sa_mask);
    for (int i = 0; !err && i < FATAL_SIGNALS; i++) {
        bool is_free = sigaction(fatal_signals[i], NULL, &now) == 0 &&
                       now.sa_handler == SIG_DFL;
        err = is_free ? fatal_timer(i) : 0;
        if (!err && is_free)
            sigaction(fatal_signals[i], &ours, NULL);
    }
    return err;
}
