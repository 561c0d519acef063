/* watch.c - preloaded into a program under gdb: on SIGALRM, at random moments, it takes the stack
 * by jsprof_backtrace, which gdb has given it together with the thread, and stops. equal.py
 * compares that stack with the debugger's.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

#include "jsprof.h"

enum { WATCH_FRAMES = 1500 };

int (*watch_backtrace)(jsprof_thread *, const void *, jsprof_backtrace_frame *, uint32_t);
jsprof_thread *watch_thread;
jsprof_backtrace_frame watch_frames[WATCH_FRAMES];
int watch_n;
unsigned watch_seed = 1;

__attribute__((noinline)) void watch_stop(void)
{
    __asm__ volatile("" ::: "memory");
}

static void watch_arm(void)
{
    struct itimerval once = { .it_value.tv_usec = 50 + (suseconds_t)(rand_r(&watch_seed) % 3000) };
    setitimer(ITIMER_REAL, &once, NULL);
}

static void watch_alarm(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)info;
    watch_n = watch_backtrace && watch_thread
                  ? watch_backtrace(watch_thread, ucontext, watch_frames, WATCH_FRAMES)
                  : -1;
    watch_stop();
    watch_arm();
}

__attribute__((constructor)) static void watch_begin(void)
{
    struct sigaction action = { .sa_sigaction = watch_alarm, .sa_flags = SA_SIGINFO | SA_RESTART };
    if (!getenv("WATCH"))
        return;
    unsetenv("WATCH");
    watch_seed = (unsigned)atoi(getenv("WATCH_SEED") ? getenv("WATCH_SEED") : "1");
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    watch_arm();
}
