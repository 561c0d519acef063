/* alarms.h - SIGALRM again and again, for a handler that a test looks at the program with.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_ALARMS_H
#define JSP_TEST_ALARMS_H

#include <signal.h>
#include <sys/time.h>

/* Every so many microseconds; 0: no more. */
static inline void alarms(void (*handler)(int, siginfo_t *, void *), long us)
{
    struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct itimerval every = { { 0, us }, { 0, us } };
    if (us)
        sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    if (!us)
        signal(SIGALRM, SIG_IGN);
}

#endif
