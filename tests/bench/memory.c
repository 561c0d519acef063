/* memory.c - what a session with default options, and each thread in it, keeps in RAM.
 *
 * SPDX-License-Identifier: MIT
 *
 * Resident bytes of this process by /proc/self/smaps_rollup, which counts pages
 * exactly: before anything of ours, with a session in which one thread has seen
 * 10,000 samples (10 s at the default rate, taken faster here), and with four more
 * threads that have seen as many. The threads exist from the beginning. It runs
 * several times, each in a child process of its own.
 */
#include <fcntl.h>
#include <jsprof.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { MEMORY_HELPERS = 4, MEMORY_SAMPLES = 10000, MEMORY_DEPTH = 30, MEMORY_HZ = 10000 };

struct memory_growth {
    double session, thread; /* MiB; session: with its first thread's share taken off */
};

static pthread_barrier_t memory_barrier;
static jsprof *memory_session;

static double memory_mib(void)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    bench_need(f, "/proc/self/smaps_rollup");
    while (kib < 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "Rss: %ld", &kib) != 1)
            kib = -1;
    fclose(f);
    bench_need(kib >= 0, "finding Rss in smaps_rollup");
    return (double)kib / 1024;
}

static uint64_t memory_expirations(void)
{
    jsprof_stats s = { .size = sizeof s };
    bench_need(jsprof_stats_get(memory_session, &s) == 0, "jsprof_stats_get");
    return s.expirations;
}

/* Attach, and be busy in 30 frames for so many expirations of all threads. */
static void memory_attach(uint64_t samples)
{
    jsprof_thread *t;
    uint64_t until = memory_expirations() + samples;
    bench_need(jsprof_thread_attach(memory_session, "busy", &t) == 0, "attaching");
    for (uint32_t i = 0; i < MEMORY_DEPTH; i++)
        jsprof_push(t, "a function of the host", "module.x", i);
    while (memory_expirations() < until)
        for (volatile int i = 0; i < 100000; i++)
            continue;
}

static void *memory_helper(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&memory_barrier); /* all are there */
    pthread_barrier_wait(&memory_barrier); /* the main thread had its samples */
    memory_attach(MEMORY_HELPERS * MEMORY_SAMPLES);
    pthread_barrier_wait(&memory_barrier); /* all had theirs */
    pthread_barrier_wait(&memory_barrier); /* and were weighed */
    return NULL;
}

/* 10,000 Hz shorten the wait; what the options allow is the default. */
static void memory_open(void)
{
    jsprof_options o = { .size = sizeof o, .hz = MEMORY_HZ, .clock = JSPROF_CLOCK_WALL,
                         .flags = JSPROF_TIMER | JSPROF_USE_FD };
    o.fd = open("/dev/null", O_WRONLY);
    bench_need(jsprof_open(&memory_session, &o) == 0 && jsprof_start(memory_session) == 0,
               "starting a session");
    close(o.fd);
}

static struct memory_growth memory_weigh(void)
{
    pthread_t helpers[MEMORY_HELPERS];
    pthread_barrier_init(&memory_barrier, NULL, MEMORY_HELPERS + 1);
    for (int i = 0; i < MEMORY_HELPERS; i++)
        bench_need(pthread_create(&helpers[i], NULL, memory_helper, NULL) == 0, "pthread_create");
    pthread_barrier_wait(&memory_barrier);
    memory_mib(); /* stdio's own buffer is not ours */

    double before = memory_mib();
    memory_open();
    memory_attach(MEMORY_SAMPLES);
    double one = memory_mib();
    pthread_barrier_wait(&memory_barrier);
    pthread_barrier_wait(&memory_barrier);
    double all = memory_mib();
    pthread_barrier_wait(&memory_barrier);
    for (int i = 0; i < MEMORY_HELPERS; i++)
        pthread_join(helpers[i], NULL);
    double thread = (all - one) / MEMORY_HELPERS;
    return (struct memory_growth){ one - before - thread, thread };
}

static struct memory_growth memory_in_child(void)
{
    struct memory_growth g = { 0, 0 };
    int ends[2], status;
    bench_need(pipe(ends) == 0, "pipe");
    pid_t pid = fork();
    bench_need(pid >= 0, "fork");
    if (pid == 0) {
        g = memory_weigh();
        _exit(write(ends[1], &g, sizeof g) == (ssize_t)sizeof g ? 0 : 1);
    }
    bench_need(waitpid(pid, &status, 0) == pid && status == 0 &&
               read(ends[0], &g, sizeof g) == (ssize_t)sizeof g, "weighing in a child");
    close(ends[0]);
    close(ends[1]);
    return g;
}

int main(void)
{
    static struct bench_series session, thread;
    for (int i = bench_rounds(11) / 4 + 1; i > 0; i--) {
        struct memory_growth g = memory_in_child();
        bench_add(&session, g.session);
        bench_add(&thread, g.thread);
    }
    bench_print(&(struct bench_row){ "memory of a session", "<= 2 MiB", 2, " MiB",
                                     "10,000 samples of 30 frames" }, &session);
    bench_print(&(struct bench_row){ "memory of each thread", "<= 1 MiB", 1, " MiB",
                                     "10,000 samples each" }, &thread);
    return 0;
}
