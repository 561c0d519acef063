/* crash.c - how long the report of a crash takes in a process with 50 attached threads.
 *
 * SPDX-License-Identifier: MIT
 *
 * From the fault to the handler that the host had before, which the report calls at its end. The
 * threads wait 20 functions deep, in C and in the host's own frames. The report goes to a file.
 */
#include <jsprof.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "bench.h"

enum { CRASH_THREADS = 50, CRASH_DEPTH = 20 };

static jsprof *session;
static pthread_barrier_t ready;
static sigjmp_buf after;

static void host_handler(int signo)
{
    siglongjmp(after, signo);
}

static __attribute__((noinline)) void deep(jsprof_thread *t, int depth)
{
    jsprof_push(t, "function", "file.vm", (uint32_t)depth);
    if (depth)
        deep(t, depth - 1);
    else
        pthread_barrier_wait(&ready);
    while (!depth)
        pause();
    jsprof_pop(t);
}

static void *thread_run(void *unused)
{
    jsprof_thread *t;
    bench_need(jsprof_thread_attach(session, "worker", &t) == 0, "attaching");
    deep(t, CRASH_DEPTH);
    return unused;
}

int main(void)
{
    const jsprof_options o = { .size = sizeof o, .flags = JSPROF_DESCRIBE };
    const struct sigaction host = { .sa_handler = host_handler, .sa_flags = SA_NODEFER };
    static struct bench_series ms;
    static int rounds;
    jsprof_thread *me;
    FILE *report = tmpfile();
    rounds = bench_rounds(55);
    bench_need(report && jsprof_open(&session, &o) == 0, "opening a session");
    bench_need(sigaction(SIGSEGV, &host, NULL) == 0, "the host's handler");
    bench_need(jsprof_crash_report(fileno(report), 0) == 0, "jsprof_crash_report");
    bench_need(jsprof_thread_attach(session, "main", &me) == 0, "attaching");
    pthread_barrier_init(&ready, NULL, CRASH_THREADS);
    for (int i = 1; i < CRASH_THREADS; i++) {
        pthread_t thread;
        bench_need(pthread_create(&thread, NULL, thread_run, NULL) == 0, "starting a thread");
    }
    pthread_barrier_wait(&ready);
    for (int i = 0; i < rounds; i++) {
        const double begin = bench_ns(CLOCK_MONOTONIC);
        if (sigsetjmp(after, 1) == 0)
            raise(SIGSEGV);
        bench_add(&ms, (bench_ns(CLOCK_MONOTONIC) - begin) / 1e6);
    }
    rewind(report);
    int n_threads = 0;
    for (char line[4096]; fgets(line, sizeof line, report);)
        n_threads += strstr(line, "function (file.vm):20\n") != NULL;
    bench_need(n_threads == (CRASH_THREADS - 1) * rounds, "the stacks of all threads");
    bench_print(&(struct bench_row){ .budget = "a crash's report of 50 threads", .limit = 20,
                                     .limit_text = "<= 20 ms", .unit = " ms" }, &ms);
    return 0;
}
