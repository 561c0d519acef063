/* counted.c - what a call costs while calls are counted, and while they are timed; in one
 * thread and in eight.
 *
 * SPDX-License-Identifier: MIT
 *
 * The recursion of fib.h, in turns: with an entry linked by hand, with ours counted, with
 * two bare readings of the counter that ours is timed with, and timed. Beside them what no
 * way of counting can be without: the entry by hand and one increment of a counter that is
 * found through the function, or two readings around it. Eight threads on few processors
 * take turns, so what they use is CPU time; and whether two of them write one cache line is
 * looked up in their tables.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "fib.h"
#include "session/session.h"

enum { COUNTED_N = 20, COUNTED_CROWD_N = 24, COUNTED_THREADS = 8, COUNTED_LINE = 64 };

static jsprof_function *counted_function;
static volatile uint64_t counted_sink;

/* The least: its function's number, its counter, one more. */
static struct counted_floor {
    struct fib_host host;
    uint64_t *counts;
} counted_floor;

FIB_VARIANT unsigned long counted_least(void *arg, unsigned long n)
{
    struct counted_floor *h = arg;
    struct fib_hand link = { h->host.top, h->host.function };
    h->counts[*(const uint32_t *)h->host.function]++;
    __atomic_signal_fence(__ATOMIC_RELEASE); /* ORDER: for the own thread's handler */
    h->host.top = &link;
    unsigned long r = n < 2 ? 1 : counted_least(h, n - 1) + counted_least(h, n - 2);
    FIB_BARRIER(r);
    h->host.top = link.up;
    return r;
}

FIB_VARIANT unsigned long counted_two_reads(void *t, unsigned long n)
{
    counted_sink = jsp_counter_now();
    unsigned long r = n < 2 ? 1 : counted_two_reads(t, n - 1) + counted_two_reads(t, n - 2);
    FIB_BARRIER(r);
    counted_sink = jsp_counter_now();
    return r;
}

FIB_VARIANT unsigned long counted_two_gettimes(void *t, unsigned long n)
{
    counted_sink = jsp_now_ns(CLOCK_MONOTONIC);
    unsigned long r = n < 2 ? 1 : counted_two_gettimes(t, n - 1) + counted_two_gettimes(t, n - 2);
    FIB_BARRIER(r);
    counted_sink = jsp_now_ns(CLOCK_MONOTONIC);
    return r;
}

enum counted_what {
    COUNTED_HAND, COUNTED_COUNT, COUNTED_LEAST, COUNTED_COUNT_ARRAY, COUNTED_EDGES,
    COUNTED_READS, COUNTED_TIME, COUNTED_TIME_ARRAY, COUNTED_GETTIMES, COUNTED_ALL, COUNTED_KINDS
};

static const struct counted_kind {
    fib_fn *call;
    uint32_t modes;
} counted_kinds[COUNTED_KINDS] = {
    [COUNTED_HAND] = { fib_by_hand, 0 },
    [COUNTED_LEAST] = { counted_least, 0 },
    [COUNTED_READS] = { counted_two_reads, 0 },
    [COUNTED_GETTIMES] = { counted_two_gettimes, 0 },
    [COUNTED_COUNT] = { fib_link, JSPROF_CALLS_COUNT },
    [COUNTED_COUNT_ARRAY] = { fib_enter, JSPROF_CALLS_COUNT },
    [COUNTED_TIME] = { fib_link, JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME },
    [COUNTED_TIME_ARRAY] = { fib_enter, JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME },
    [COUNTED_EDGES] = { fib_link, JSPROF_CALLS_COUNT | JSPROF_CALLS_EDGES },
    [COUNTED_ALL] = { fib_link, JSPROF_CALLS_ALL },
};

static jsprof *counted_open(uint32_t modes)
{
    jsprof *p;
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_USE_FD };
    options.fd = memfd_create("capture", MFD_CLOEXEC);
    bench_need(jsprof_open(&p, &options) == 0, "jsprof_open");
    bench_need(jsprof_calls_set(p, modes) == 0, "jsprof_calls_set");
    return p;
}

static jsprof_thread *counted_attach(jsprof *p)
{
    jsprof_thread *t;
    bench_need(jsprof_thread_attach(p, "bench", &t) == 0, "jsprof_thread_attach");
    return t;
}

/* -- One thread --------------------------------------------------------------- */

static struct bench_series counted_series[COUNTED_KINDS], counted_pairs[COUNTED_KINDS];

static enum counted_what counted_peer(enum counted_what what)
{
    return what == COUNTED_TIME || what == COUNTED_TIME_ARRAY || what == COUNTED_ALL ||
           what == COUNTED_GETTIMES ? COUNTED_READS : COUNTED_HAND;
}

static void counted_measure(void **arg)
{
    for (int i = bench_rounds(1501); i >= 0; i--) {
        double ns[COUNTED_KINDS];
        for (int k = 0; k < COUNTED_KINDS; k++)
            ns[k] = fib_time(counted_kinds[k].call, arg[k], COUNTED_N, CLOCK_MONOTONIC);
        for (int k = 0; k < COUNTED_KINDS; k++) {
            bench_add(&counted_series[k], ns[k]);
            bench_add(&counted_pairs[k], ns[k] / ns[counted_peer((enum counted_what)k)]);
        }
    }
}

static void counted_row(const char *budget, const char *limit_text, double limit,
                        enum counted_what what)
{
    char peer[120];
    enum counted_what other = counted_peer(what);
    snprintf(peer, sizeof peer, "%s %.2f ns a call, this %.2f ns",
             other == COUNTED_READS ? "two readings of the counter" : "linked by hand",
             bench_median(&counted_series[other]), bench_median(&counted_series[what]));
    bench_print(&(struct bench_row){ budget, limit_text, limit, "x", peer },
                &counted_pairs[what]);
}

static void counted_one_thread(void)
{
    jsprof *p[COUNTED_KINDS];
    static struct fib_host host;
    void *arg[COUNTED_KINDS];
    jsprof_thread *t[COUNTED_KINDS];
    for (int k = 0; k < COUNTED_KINDS; k++) {
        p[k] = counted_open(counted_kinds[k].modes);
        t[k] = counted_attach(p[k]);
        arg[k] = counted_kinds[k].modes ? (void *)t[k] : &host;
    }
    host.function = counted_function;
    counted_floor = (struct counted_floor){ host, (uint64_t[4096]){ 0 } };
    arg[COUNTED_LEAST] = &counted_floor;
    for (int k = 0; k < COUNTED_KINDS; k++)
        fib_time(counted_kinds[k].call, arg[k], COUNTED_N, CLOCK_MONOTONIC); /* warm up */
    counted_measure(arg);
    counted_row("call counted (linked)", "<= 1.5x by hand", 1.5, COUNTED_COUNT);
    counted_row("  the least: by hand, one increment", NULL, 0, COUNTED_LEAST);
    counted_row("call counted (array)", NULL, 0, COUNTED_COUNT_ARRAY);
    counted_row("call with self and total time (linked)", "<= 1.25x 2 reads", 1.25, COUNTED_TIME);
    counted_row("call with self and total time (array)", NULL, 0, COUNTED_TIME_ARRAY);
    counted_row("  two clock_gettime instead", NULL, 0, COUNTED_GETTIMES);
    counted_row("call counted, with edges", NULL, 0, COUNTED_EDGES);
    counted_row("call with everything", NULL, 0, COUNTED_ALL);
    for (int k = 0; k < COUNTED_KINDS; k++) {
        jsprof_thread_detach(t[k]);
        jsprof_close(p[k]);
    }
}

/* -- Eight threads ------------------------------------------------------------ */

static struct counted_crowd {
    jsprof *p;
    pthread_barrier_t begin, end;
    double ns[COUNTED_THREADS]; /* CPU time of a call */
} counted_crowd;

static void *counted_worker(void *arg)
{
    jsprof_thread *t = counted_attach(counted_crowd.p);
    const struct counted_kind *kind = &counted_kinds[COUNTED_COUNT];
    fib_time(kind->call, t, COUNTED_CROWD_N, CLOCK_THREAD_CPUTIME_ID);
    pthread_barrier_wait(&counted_crowd.begin);
    *(double *)arg = fib_time(kind->call, t, COUNTED_CROWD_N, CLOCK_THREAD_CPUTIME_ID);
    pthread_barrier_wait(&counted_crowd.end);
    pthread_barrier_wait(&counted_crowd.end); /* others may look at the tables */
    return NULL;
}

struct counted_range {
    uintptr_t begin, end; /* lines */
};

static uint32_t counted_overlaps(const struct counted_range *ranges, uint32_t n)
{
    uint32_t shared = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            shared += i / 2 != k / 2 && ranges[i].begin <= ranges[k].end &&
                      ranges[k].begin <= ranges[i].end;
    return shared;
}

/* Pairs of ranges that two threads write and that have a line in common. */
static uint32_t counted_shared(void)
{
    struct counted_range ranges[2 * COUNTED_THREADS];
    uint32_t n = 0;
    for (const struct jsp_thread *t = counted_crowd.p->threads; t; t = t->next) {
        uintptr_t own = (uintptr_t)&t->sampled, table = (uintptr_t)t->calls;
        ranges[n++] = (struct counted_range){ own / COUNTED_LINE,
                                              (own + sizeof t->sampled - 1) / COUNTED_LINE };
        ranges[n++] = (struct counted_range){ table / COUNTED_LINE,
                                              (table + t->calls->bytes - 1) / COUNTED_LINE };
    }
    bench_need(n == 2 * COUNTED_THREADS, "finding the threads");
    return counted_overlaps(ranges, n);
}

/* The median CPU time of a call in so many threads. */
static double counted_in(uint32_t n, uint32_t *shared)
{
    pthread_t threads[COUNTED_THREADS];
    struct bench_series each = { .n = 0 };
    counted_crowd.p = counted_open(JSPROF_CALLS_COUNT);
    pthread_barrier_init(&counted_crowd.begin, NULL, n);
    pthread_barrier_init(&counted_crowd.end, NULL, n + 1);
    for (uint32_t i = 0; i < n; i++)
        bench_need(pthread_create(&threads[i], NULL, counted_worker, &counted_crowd.ns[i]) == 0,
                   "pthread_create");
    pthread_barrier_wait(&counted_crowd.end);
    if (n == COUNTED_THREADS)
        *shared = counted_shared();
    pthread_barrier_wait(&counted_crowd.end);
    for (uint32_t i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        bench_add(&each, counted_crowd.ns[i]);
    }
    jsprof_close(counted_crowd.p);
    return bench_median(&each);
}

static void counted_eight_threads(void)
{
    static struct bench_series pairs, one, eight;
    uint32_t shared = 0;
    char peer[120];
    for (int i = bench_rounds(101); i >= 0; i--) {
        double a = counted_in(1, &shared), b = counted_in(COUNTED_THREADS, &shared);
        bench_add(&one, a);
        bench_add(&eight, b);
        bench_add(&pairs, b / a);
    }
    snprintf(peer, sizeof peer, "one %.2f ns of CPU a call, each of eight %.2f ns; they "
             "write %u lines in common", bench_median(&one), bench_median(&eight),
             (unsigned)shared);
    bench_print(&(struct bench_row){ "call counted in 8 threads", NULL, 0, "x one thread", peer },
                &pairs);
    bench_need(!shared, "keeping the threads' lines apart");
}

int main(void)
{
    bench_need(jsprof_function_new(&counted_function, "fib", "counted.c", 1, JSPROF_KIND_VM) == 0,
               "jsprof_function_new");
    fib_begin(counted_function);
    counted_eight_threads();
    bench_pin();
    counted_one_thread();
    jsprof_function_free(counted_function);
    return 0;
}
