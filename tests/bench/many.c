/* many.c - a million functions, called in a thousand threads: what defining, counting and
 * reading them takes, in time and in memory.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each thread calls a thousand functions of its own and a hundred that all of them call,
 * and stays until everything was read.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jsprof.h>

#include "bench.h"

enum { MANY_THREADS = 1000, MANY_OWN = 1000, MANY_SHARED = 100 };
enum { MANY_FUNCTIONS = MANY_THREADS * MANY_OWN };

static jsprof *many_session;
static jsprof_function *many_functions[MANY_FUNCTIONS];
static pthread_barrier_t many_barrier;
static double many_thread_ns[MANY_THREADS];

static double many_resident_mib(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    bench_need(f && fscanf(f, "%lu %lu", &pages, &resident) == 2, "reading /proc/self/statm");
    fclose(f);
    return (double)resident * 4096 / (1 << 20);
}

static void many_call(jsprof_thread *t, int f)
{
    jsprof_link link;
    jsprof_link_enter(t, &link, many_functions[f]);
    jsprof_link_leave(t, &link);
}

static void *many_thread(void *arg)
{
    int number = *(int *)arg;
    jsprof_thread *t;
    bench_need(jsprof_thread_attach(many_session, "many", &t) == 0, "jsprof_thread_attach");
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < MANY_OWN; i++)
        many_call(t, number * MANY_OWN + i);
    for (int i = 0; i < MANY_SHARED; i++)
        many_call(t, i);
    many_thread_ns[number] = bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    pthread_barrier_wait(&many_barrier);
    pthread_barrier_wait(&many_barrier);
    return NULL;
}

static void many_told(const char *what, const char *unit, double value, const char *beside)
{
    struct bench_series s = { .n = 0 };
    bench_add(&s, value);
    bench_print(&(struct bench_row){ what, NULL, 0, unit, beside }, &s);
}

static void many_define(void)
{
    char name[32], beside[80];
    double before = many_resident_mib(), begin = bench_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < MANY_FUNCTIONS; i++) {
        snprintf(name, sizeof name, "function %d", i);
        bench_need(jsprof_function_new(&many_functions[i], name, "many.js", (uint32_t)i,
                                       JSPROF_KIND_VM) == 0, "jsprof_function_new");
    }
    double ns = bench_ns(CLOCK_MONOTONIC) - begin;
    snprintf(beside, sizeof beside, "%.0f MiB, the names among them",
             many_resident_mib() - before);
    many_told("1,000,000 functions: define one", " ns", ns / MANY_FUNCTIONS, beside);
}

/* Every call is there, under its own function. */
static void many_check(const jsprof_calls *calls)
{
    bench_need(calls->calls == MANY_THREADS * (MANY_OWN + MANY_SHARED), "counting all calls");
    bench_need(calls->n_rows == MANY_FUNCTIONS, "telling a million functions apart");
    bench_need(calls->threads == MANY_THREADS, "counting the threads");
    for (size_t i = 0; i < calls->n_rows; i++)
        bench_need(calls->rows[i].calls == (i < MANY_SHARED ? 1 + MANY_THREADS : 1),
                   "counting each function");
}

static void many_read(const char *what)
{
    char text[80], beside[80];
    double before = many_resident_mib(), begin = bench_ns(CLOCK_MONOTONIC);
    jsprof_calls calls = { .size = sizeof calls };
    bench_need(jsprof_calls_snapshot(many_session, &calls) == 0, "jsprof_calls_snapshot");
    double ms = (bench_ns(CLOCK_MONOTONIC) - begin) / 1e6;
    snprintf(text, sizeof text, "  %s: read all of it", what);
    snprintf(beside, sizeof beside, "%.0f MiB", many_resident_mib() - before);
    many_told(text, " ms", ms, beside);
    many_check(&calls);
    jsprof_calls_free(&calls);
    begin = bench_ns(CLOCK_MONOTONIC);
    before = many_resident_mib();
    bench_need(jsprof_flush(many_session) == 0, "jsprof_flush");
    snprintf(text, sizeof text, "  %s: the first flush", what);
    snprintf(beside, sizeof beside, "%.0f MiB", many_resident_mib() - before);
    many_told(text, " ms", (bench_ns(CLOCK_MONOTONIC) - begin) / 1e6, beside);
    begin = bench_ns(CLOCK_MONOTONIC);
    bench_need(jsprof_flush(many_session) == 0, "jsprof_flush");
    snprintf(text, sizeof text, "  %s: a flush without news", what);
    many_told(text, " ms", (bench_ns(CLOCK_MONOTONIC) - begin) / 1e6, "-");
}

static void many_open(const char *path, uint32_t modes)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_USE_FD };
    options.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    options.ring_bytes = 1 << 14;
    bench_need(jsprof_open(&many_session, &options) == 0, "jsprof_open");
    bench_need(jsprof_calls_set(many_session, modes) == 0, "jsprof_calls_set");
}

static void many_count(const char *path, const char *what, uint32_t modes)
{
    static pthread_t threads[MANY_THREADS];
    static int numbers[MANY_THREADS];
    struct bench_series each = { .n = 0 };
    char text[80], beside[80];
    many_open(path, modes);
    double before = many_resident_mib();
    pthread_barrier_init(&many_barrier, NULL, MANY_THREADS + 1);
    for (int i = 0; i < MANY_THREADS; i++) {
        numbers[i] = i;
        bench_need(pthread_create(&threads[i], NULL, many_thread, &numbers[i]) == 0,
                   "pthread_create");
    }
    pthread_barrier_wait(&many_barrier);
    snprintf(beside, sizeof beside, "%.0f KiB a thread, its sampler's among them",
             (many_resident_mib() - before) * 1024 / MANY_THREADS);
    for (int i = 0; i < MANY_THREADS; i++)
        bench_add(&each, many_thread_ns[i] / (MANY_OWN + MANY_SHARED));
    snprintf(text, sizeof text, "  in 1,000 threads, %s: a first call", what);
    bench_print(&(struct bench_row){ text, NULL, 0, " ns", beside }, &each);
    many_read(what);
    pthread_barrier_wait(&many_barrier);
    for (int i = 0; i < MANY_THREADS; i++)
        pthread_join(threads[i], NULL);
    bench_need(jsprof_close(many_session) == 0, "jsprof_close");
}

/* What `jsprof calls` takes to open and show it: the better of so many runs. */
static void many_show(const char *tool, const char *path)
{
    enum { RUNS = 5 };
    struct bench_series ms = { .n = 0 };
    struct rusage used = { .ru_maxrss = 0 };
    char beside[80];
    for (int i = 0; i < RUNS; i++) {
        double begin = bench_ns(CLOCK_MONOTONIC);
        pid_t pid = fork();
        if (pid == 0) {
            bench_need(freopen("/dev/null", "w", stdout), "opening /dev/null");
            execl(tool, tool, "calls", path, (char *)NULL);
            _exit(127);
        }
        int status = -1;
        bench_need(pid > 0 && wait4(pid, &status, 0, &used) == pid && status == 0, tool);
        bench_add(&ms, (bench_ns(CLOCK_MONOTONIC) - begin) / 1e6);
    }
    struct stat st = { .st_size = 0 };
    bench_need(stat(path, &st) == 0, "looking at the capture");
    snprintf(beside, sizeof beside, "%ld MiB resident, the capture's %ld MiB among them",
             used.ru_maxrss / 1024, (long)(st.st_size >> 20));
    bench_print(&(struct bench_row){ "  jsprof calls on that", NULL, 0, " ms", beside }, &ms);
}

/* many [JSPROF FILE]: the tool, and where to leave a capture for it. */
int main(int argc, char **argv)
{
    const char *path = argc == 3 ? argv[2] : "/dev/null";
    many_define();
    many_count(path, "counts", JSPROF_CALLS_COUNT);
    if (argc == 3)
        many_show(argv[1], path);
    many_count(path, "everything", JSPROF_CALLS_ALL);
    if (argc == 3)
        many_show(argv[1], path);
    return 0;
}
