/* slowdown.c - how much longer a busy interpreter takes while it is profiled.
 *
 * SPDX-License-Identifier: MIT
 *
 *     slowdown cpu      a timer of the CPU time, against no profiler
 *     slowdown default  the default source, on the CPU clock, against the same event with a handler
 *                       that does nothing, and that against no event at all
 *     slowdown wall     1000 Hz of elapsed time, against the same timer with a handler
 *                       that does nothing, and that against no timer at all
 *     slowdown peer     gperftools at 1000 Hz, against no profiler
 *
 * The same work is done again and again, in pairs in alternating order: one turn
 * without and one with. What counts is the CPU time of the whole process, user and
 * system, with the drain's thread in it, and jsprof_start and jsprof_stop once a turn: the
 * turns are so long that these are a small part, which has a row of its own. The
 * second row of "cpu" and "wall" is the handler's own clock over the same CPU time. It
 * contains neither the delivery of the signal nor noise of the machine.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "event.h"
#include "interp.h"

enum { SLOWDOWN_TURN_NS = 250000000, SLOWDOWN_PAIRS = 240, SLOWDOWN_STARTS = 100,
       SLOWDOWN_HZ = 1000 };

enum slowdown_mode { SLOWDOWN_NONE, SLOWDOWN_EMPTY, SLOWDOWN_EVENT, SLOWDOWN_OURS, SLOWDOWN_PEER };

static struct interp slowdown_vm;
static int slowdown_runs; /* of the interpreter in one turn */
static jsprof *slowdown_session;
static int (*slowdown_peer_start)(const char *file);
static void (*slowdown_peer_stop)(void);

static void slowdown_empty(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)info, (void)ucontext;
}

/* User and system time of the process. The process's CPU clock would not do:
 * while a timer of the whole process runs, as the peer's does, that clock moves in scheduler
 * ticks. */
static double slowdown_cpu_ns(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

static double slowdown_work(int runs)
{
    uint64_t sum = 0;
    double begin = slowdown_cpu_ns();
    for (int i = 0; i < runs; i++)
        sum += interp_run(&slowdown_vm);
    bench_need(sum != 0, "interpreting");
    return slowdown_cpu_ns() - begin;
}

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static timer_t slowdown_timer_start(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2 };
    struct itimerspec every = { { 0, 1000000000 / SLOWDOWN_HZ }, { 0, 1000000000 / SLOWDOWN_HZ } };
    timer_t timer;
    event.sigev_notify_thread_id = gettid();
    bench_need(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
               timer_settime(timer, 0, &every, NULL) == 0, "starting a timer");
    return timer;
}

/* CPU time of one turn. */
static double slowdown_turn(enum slowdown_mode mode)
{
    timer_t timer;
    int event = -1;
    if (mode == SLOWDOWN_EMPTY)
        timer = slowdown_timer_start();
    else if (mode == SLOWDOWN_EVENT)
        event = bench_event_open(SIGUSR2, 1000000000 / SLOWDOWN_HZ);
    else if (mode == SLOWDOWN_PEER)
        bench_need(slowdown_peer_start("/dev/null"), "ProfilerStart");
    else if (mode != SLOWDOWN_NONE)
        bench_need(jsprof_start(slowdown_session) == 0, "jsprof_start");

    double ns = slowdown_work(slowdown_runs);

    double begin = slowdown_cpu_ns();
    if (mode == SLOWDOWN_EMPTY)
        timer_delete(timer);
    else if (mode == SLOWDOWN_EVENT)
        bench_event_close(event);
    else if (mode == SLOWDOWN_PEER)
        slowdown_peer_stop();
    else if (mode != SLOWDOWN_NONE)
        jsprof_stop(slowdown_session);
    return ns + slowdown_cpu_ns() - begin;
}

/* CPU time with `mode`, in percent over `floor`'s. */
static double slowdown_pair(enum slowdown_mode mode, enum slowdown_mode floor, bool swap,
                            double *with)
{
    double a = swap ? 0 : slowdown_turn(floor);
    *with = slowdown_turn(mode);
    if (swap)
        a = slowdown_turn(floor);
    return (*with / a - 1) * 100;
}

static void slowdown_measure(const struct bench_row *row, enum slowdown_mode mode,
                             enum slowdown_mode floor, struct bench_series *handler)
{
    static struct bench_series ratio;
    jsprof_stats before = { .size = sizeof before }, after = before;
    double with;

    ratio.n = 0;
    for (int i = bench_rounds(SLOWDOWN_PAIRS); i > 0; i--) {
        if (handler)
            jsprof_stats_get(slowdown_session, &before);
        bench_add(&ratio, slowdown_pair(mode, floor, i & 1, &with));
        if (!handler)
            continue;
        jsprof_stats_get(slowdown_session, &after);
        bench_add(handler, (double)(after.handler_ns - before.handler_ns) / with * 100);
    }
    bench_print(row, &ratio);
}

/* What each turn with us pays besides sampling, in percent of its CPU time. */
static void slowdown_starts(void)
{
    static struct bench_series each;
    each.n = 0;
    for (int i = bench_rounds(SLOWDOWN_STARTS); i > 0; i--) {
        double begin = slowdown_cpu_ns();
        for (int k = 0; k < 10; k++) {
            bench_need(jsprof_start(slowdown_session) == 0, "jsprof_start");
            jsprof_stop(slowdown_session);
        }
        bench_add(&each, (slowdown_cpu_ns() - begin) / 10 / SLOWDOWN_TURN_NS * 100);
    }
    bench_print(&(struct bench_row){ "  of it one start and one stop", NULL, 0, "%",
                                     "in a turn of 250 ms" }, &each);
}

static jsprof_thread *slowdown_open(int clock, uint32_t flags)
{
    jsprof_options o = { .size = sizeof o, .hz = SLOWDOWN_HZ, .clock = clock,
                         .flags = JSPROF_USE_FD | flags };
    jsprof_stack stack = interp_describe(&slowdown_vm);
    jsprof_thread *t = NULL;

    o.fd = open("/dev/null", O_WRONLY);
    bench_need(jsprof_open(&slowdown_session, &o) == 0 &&
               jsprof_thread_attach(slowdown_session, "bench", &t) == 0 &&
               jsprof_thread_set_stack(t, &stack) == 0, "opening a session");
    close(o.fd);
    return t;
}

static void slowdown_close(jsprof_thread *t)
{
    jsprof_stats s = { .size = sizeof s };
    bench_need(jsprof_stats_get(slowdown_session, &s) == 0 && s.samples > 100 && !s.frames_bad,
               "sampling the interpreter");
    jsprof_close(slowdown_session);
    jsprof_thread_detach(t);
}

/* Measure a session with this clock against `floor`. */
static void slowdown_session_rows(const struct bench_row *row, int clock, uint32_t flags,
                                  enum slowdown_mode floor)
{
    static struct bench_series handler;
    handler.n = 0;
    jsprof_thread *t = slowdown_open(clock, flags);
    slowdown_measure(row, SLOWDOWN_OURS, floor, &handler);
    bench_print(&(struct bench_row){ "  of it inside our handler", NULL, 0, "%",
                                     "handler_ns / CPU time" }, &handler);
    slowdown_starts();
    slowdown_close(t);
}

static void slowdown_cpu(void)
{
    slowdown_session_rows(&(struct bench_row){ "busy interpreter, CPU clock", "<= +0.5%", 0.5, "%",
                                               "CPU time over no profiler's" },
                          JSPROF_CLOCK_CPU, JSPROF_TIMER, SLOWDOWN_NONE);
}

static void slowdown_wall(void)
{
    slowdown_session_rows(&(struct bench_row){ "busy interpreter, wall clock", "<= +0.5%", 0.5,
                                               "%", "over the same timer, empty handler" },
                          JSPROF_CLOCK_WALL, JSPROF_TIMER, SLOWDOWN_EMPTY);
    slowdown_measure(&(struct bench_row){ "  that timer with an empty handler", NULL, 0, "%",
                                          "over no timer: the floor" },
                     SLOWDOWN_EMPTY, SLOWDOWN_NONE, NULL);
}

static bool slowdown_default(void)
{
    int fd = bench_event_open(SIGUSR2, 1000000000);
    bench_event_close(fd);
    if (fd < 0)
        return false;
    slowdown_session_rows(&(struct bench_row){ "busy interpreter, default source", "<= +0.4%", 0.4,
                                               "%", "over the same event, empty handler" },
                          JSPROF_CLOCK_CPU, 0, SLOWDOWN_EVENT);
    slowdown_measure(&(struct bench_row){ "  that event with an empty handler", NULL, 0, "%",
                                          "over no event: the floor" },
                     SLOWDOWN_EVENT, SLOWDOWN_NONE, NULL);
    return true;
}

/* gperftools is loaded for this, so that the other modes run without it. */
static bool slowdown_peer(void)
{
    setenv("CPUPROFILE_FREQUENCY", "1000", 1);
    void *library = dlopen("libprofiler.so.0", RTLD_NOW);
    if (!library)
        return false;
    *(void **)&slowdown_peer_start = dlsym(library, "ProfilerStart");
    *(void **)&slowdown_peer_stop = dlsym(library, "ProfilerStop");
    bench_need(slowdown_peer_start && slowdown_peer_stop, "finding ProfilerStart");
    interp_describe(&slowdown_vm);
    slowdown_measure(&(struct bench_row){ "  gperftools, its 1000 Hz of CPU time", NULL, 0, "%",
                                          "over no profiler" },
                     SLOWDOWN_PEER, SLOWDOWN_NONE, NULL);
    return true;
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_sigaction = slowdown_empty,
                                .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    const char *mode = argc == 2 ? argv[1] : "";

    sigfillset(&action.sa_mask);
    bench_need(sigaction(SIGUSR2, &action, NULL) == 0, "sigaction");
    bench_pin();
    interp_describe(&slowdown_vm);
    slowdown_work(100);
    slowdown_runs = (int)(SLOWDOWN_TURN_NS / (slowdown_work(100) / 100));
    if (strcmp(mode, "cpu") == 0)
        slowdown_cpu();
    else if (strcmp(mode, "wall") == 0)
        slowdown_wall();
    else if (strcmp(mode, "default") == 0) {
        if (!slowdown_default())
            printf("note\tno default source to measure: the kernel allows no perf_event here\n");
    } else if (strcmp(mode, "peer") != 0)
        return fprintf(stderr, "usage: slowdown cpu|default|wall|peer\n"), 2;
    else if (!slowdown_peer())
        printf("note\tno peer for the slowdown: libprofiler.so.0 (gperftools) is not here\n");
    return 0;
}
