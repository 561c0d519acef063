/* unseen_host.c - threads whose time is in few samples, for unseen.sh.
 *
 * unseen_host shares FILE: one thread that stays attached, and one that attaches for half a
 * period again and again, for as much CPU time. unseen_host blocked FILE: a thread that
 * blocks the signal from before it attaches until after it detached.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIMES = 1000, SHORT_US = 500 };

static jsprof *prof;

static long long cpu_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

static void turn_us(long long us)
{
    for (long long until = cpu_us() + us; cpu_us() < until;)
        continue;
}

static void *attached(void *name)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(prof, name, &me) != 0)
        return name;
    turn_us((long long)TIMES * SHORT_US);
    jsprof_thread_detach(me);
    return NULL;
}

static void *attached_often(void *name)
{
    for (int i = 0; i < TIMES; i++) {
        jsprof_thread *me;
        if (jsprof_thread_attach(prof, name, &me) != 0)
            return name;
        turn_us(SHORT_US);
        jsprof_thread_detach(me);
    }
    return NULL;
}

static void *blocked(void *name)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    sigaddset(&set, SIGURG); /* of events */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return attached(name);
}

static int run(void *(*body)(void *), const char *name)
{
    pthread_t thread;
    void *failed = NULL;
    if (pthread_create(&thread, NULL, body, (void *)(uintptr_t)name) != 0)
        return 1;
    pthread_join(thread, &failed);
    return failed != NULL;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    jsprof_options options = { .size = sizeof options, .path = argv[2] };
    if (jsprof_open(&prof, &options) != 0 || jsprof_start(prof) != 0)
        return 1;
    int failed = run(attached, "long");
    failed |= strcmp(argv[1], "shares") == 0 ? run(attached_often, "short")
                                             : run(blocked, "blocked");
    failed |= jsprof_close(prof) != 0;
    puts(failed ? "failed" : "done");
    return failed;
}
