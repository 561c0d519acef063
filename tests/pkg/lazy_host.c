/* lazy_host.c - a host that says when its session is open, and then is sampled: in a
 * walk over another stack, through a signal, in the text of a stack.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { RUN_MS = 200 };

static jsprof_thread *me;

static void burn(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        jsprof_push(me, "burn", "host.c", 1);
        jsprof_pop(me);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
             RUN_MS);
}

static void on_signal(int sig)
{
    (void)sig;
    burn();
    jsprof_backtrace_print(me, NULL, STDOUT_FILENO);
}

int main(void)
{
    static char other[1 << 16];
    stack_t stack = { .ss_sp = other, .ss_size = sizeof other };
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
    jsprof_options options = { .size = sizeof options, .path = "/dev/null", .hz = 1000,
                               .clock = JSPROF_CLOCK_WALL };
    jsprof_stats stats = { .size = sizeof stats };
    jsprof *p;
    if (jsprof_open(&p, &options) < 0 || jsprof_thread_attach(p, "main", &me) < 0)
        return 2;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    fprintf(stderr, "the session is open\n");
    if (jsprof_start(p) < 0)
        return 2;
    burn();
    raise(SIGUSR1);
    jsprof_stop(p);
    jsprof_stats_get(p, &stats);
    fprintf(stderr, "%llu samples\n", (unsigned long long)stats.samples);
    jsprof_close(p);
    return stats.samples < 3;
}
