/* empty.c - the price of being interrupted, and of nothing else: preloaded, it lets a timer of
 * elapsed time interrupt the first thread 1000 times a second, with a handler that does nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void empty_on_signal(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)info;
    (void)context;
}

__attribute__((constructor)) static void empty_begin(void)
{
    const struct sigaction action = { .sa_sigaction = empty_on_signal,
                                      .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
    const struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
    timer_t timer;

    event._sigev_un._tid = gettid();
    if (sigaction(SIGPROF, &action, NULL) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &every, NULL) != 0)
        abort();
}
