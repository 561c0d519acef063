/* truth.c - do system calls have the time in the samples that they take?
 *
 *     truth CLOCK TOOL DIRECTORY [ROW...]
 *
 * A thread works for so many us and makes one call, by turns, each as its own function. What both
 * take is measured in the same run, by the elapsed time (where the thread also sleeps, by the clock
 * asked). The call's share of the samples less its share of that time, as the root of the mean
 * square over the runs, is divided by what as many independent draws would have,
 * sqrt(p (1 - p) / n).
 * CLOCK is cpu or wall.
 *
 * In the same runs and on the same thread, two peers: the CPU timer of a fixed period, and
 * perf_event's task clock with the kernel's time, as perf record has it, where that is allowed.
 * Their handlers look whether the thread is in a call.
 *
 * BESIDE=4 in the environment: beside so many other programs that are always busy. SOURCE=timer,
 * looker or perf: in place of the default. RUNS=10: so many runs, of 2000 samples asked each.
 * ALONE=1: without the peers, whose signals of the same tick come first, and so hide the system
 * call.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <jsprof.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "bench.h"
#include "event.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { TRUTH_HZ = 1000, TRUTH_BYTES = 1 << 20, TRUTH_PAGE = 4096, TRUTH_NAMES = 10000,
       TRUTH_FIRST = 100, TRUTH_LONG = 10 };

#define TRUTH_RUN_NS 2e9
#define TRUTH_LONG_NS 20000

struct truth_row {
    const char *name;
    double us;           /* of work before each call */
    void (*call)(void);
    size_t bytes;        /* for the call */
    bool has_other;      /* another thread takes part */
};

/* What is found in one run, or its truth: 0 to 1. */
struct truth_shares {
    double ours, timer, perf, of_calls;
    double n_ours, n_timer, n_perf; /* samples */
};

static volatile sig_atomic_t truth_in; /* the thread is in a call */
static volatile double truth_timer[2], truth_perf[2]; /* samples in work, in calls */
static int truth_zero, truth_perf_fd = -1, truth_pair[2];
static char *truth_into;
static size_t truth_bytes;
static _Atomic int truth_turn;
static unsigned truth_name;
static const char *truth_folder;

static __attribute__((noinline)) void truth_work(uint64_t units)
{
    for (volatile uint64_t i = 0; i < units; i = i + 1)
        continue;
}

/* -- The calls ---------------------------------------------------------------- */

static void truth_getppid(void) { syscall(SYS_getppid); }
static void truth_read(void) { bench_need(read(truth_zero, truth_into, truth_bytes) > 0, "read"); }
static void truth_clock(void) { bench_ns(CLOCK_THREAD_CPUTIME_ID); }

static void truth_fault(void)
{
    char *p = mmap(NULL, truth_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bench_need(p != MAP_FAILED, "mmap");
    for (size_t at = 0; at < truth_bytes; at += TRUTH_PAGE)
        p[at] = 1;
    munmap(p, truth_bytes);
}

static void truth_stat(void)
{
    char name[4096];
    struct stat st;
    snprintf(name, sizeof name, "%s/%u", truth_folder, truth_name++ % TRUTH_NAMES);
    stat(name, &st);
}

static void truth_write(void)
{
    bench_need(write(truth_pair[0], truth_into, truth_bytes) > 0, "write");
}

static void truth_pingpong(void)
{
    bench_need(write(truth_pair[0], truth_into, 1) == 1 && read(truth_pair[0], truth_into, 1) == 1,
               "ping-pong");
}

/* Wake the other thread, and wait until it has answered. */
static void truth_futex(void)
{
    atomic_store(&truth_turn, 1);
    syscall(SYS_futex, &truth_turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    while (atomic_load(&truth_turn) == 1)
        syscall(SYS_futex, &truth_turn, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

static const struct truth_row truth_rows[] = {
    { "getppid_2us", 2, truth_getppid, 0, false },
    { "getppid_6us", 6, truth_getppid, 0, false },
    { "getppid_20us", 20, truth_getppid, 0, false },
    { "getppid_100us", 100, truth_getppid, 0, false },
    { "getppid_1000us", 1000, truth_getppid, 0, false },
    { "read_16k_20us", 20, truth_read, 1 << 14, false },
    { "read_64k_5us", 5, truth_read, 1 << 16, false },
    { "read_512k_20us", 20, truth_read, 1 << 19, false },
    { "faults_20us", 20, truth_fault, 8 * TRUTH_PAGE, false },
    { "stat_6us", 6, truth_stat, 0, false },
    { "clock_6us", 6, truth_clock, 0, false },
    { "pipe_20us", 20, truth_write, 512, true },
    { "socket_20us", 20, truth_pingpong, 1, true },
    { "futex_20us", 20, truth_futex, 0, true },
};

/* The other thread: what it does ends when its end of the pair is closed, or at turn 2. */
static void *truth_other(void *row)
{
    const struct truth_row *r = row;
    static char into[1 << 16];
    for (int turn = 0; r->call == truth_futex && turn != 2; turn = atomic_load(&truth_turn)) {
        if (turn == 1)
            atomic_store(&truth_turn, 0);
        syscall(SYS_futex, &truth_turn, turn == 1 ? FUTEX_WAKE_PRIVATE : FUTEX_WAIT_PRIVATE,
                turn == 1 ? 1 : turn, NULL, NULL, 0);
    }
    for (ssize_t n = 0; (n = read(truth_pair[1], into, sizeof into)) > 0;)
        if (r->call == truth_pingpong && write(truth_pair[1], into, (size_t)n) != n)
            break;
    return NULL;
}

/* -- The peers ---------------------------------------------------------------- */

static void truth_tick(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)info, (void)ucontext;
    truth_timer[truth_in] += 1; /* each tick has as many overruns */
}

static void truth_event(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)info, (void)ucontext;
    truth_perf[truth_in] += 1;
}

/* An event costs some us at each switch of a thread, in which no interrupt can meet it: so none
 * where the thread also sleeps. */
static void truth_peers_open(timer_t *timer, bool has_perf)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    bench_need(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, timer) == 0, "timer_create");
    struct itimerspec every = { { 0, 1000000000 / TRUTH_HZ }, { 0, 1000000000 / TRUTH_HZ } };
    timer_settime(*timer, 0, &every, NULL);
    truth_perf_fd = has_perf ? bench_event_open(SIGUSR2, 1000000007 / TRUTH_HZ) : -1;
}

static void truth_peers_close(timer_t timer)
{
    timer_delete(timer);
    bench_event_close(truth_perf_fd);
}

/* -- Runs --------------------------------------------------------------------- */

/* Sums of the times of both parts of a turn by this clock. Where time is to be that of the thread,
 * but the clock is not, without those in which others had the processor: much longer than usual. */
struct truth_times {
    clockid_t clock;
    bool is_cut;
    double sum[2];
    long n[2];
};

static void truth_note(struct truth_times *times, int part, double ns)
{
    if (times->is_cut && times->n[part] > TRUTH_FIRST &&
        ns > TRUTH_LONG * times->sum[part] / (double)times->n[part] + TRUTH_LONG_NS)
        return;
    times->sum[part] += ns;
    times->n[part]++;
}

/* Do so many turns. The clock is read at the beginning and at the end of what a sample shows as
 * the function. */
static void truth_turns(const struct truth_row *r, jsprof_thread *t, uint64_t units, long n,
                        struct truth_times *times)
{
    for (long i = 0; i < n; i++) {
        jsprof_push(t, "work", NULL, 0);
        double began = bench_ns(times->clock);
        truth_work(units);
        double worked = bench_ns(times->clock);
        jsprof_pop(t);
        jsprof_push(t, "call", NULL, 0);
        truth_in = 1;
        double at = bench_ns(times->clock);
        r->call();
        double end = bench_ns(times->clock);
        truth_in = 0;
        jsprof_pop(t);
        truth_note(times, 0, worked - began);
        truth_note(times, 1, end - at);
    }
}

/* Return the time of one reading. Half of the first one in a part of a turn, and half of the last,
 * belong to the part. */
static double truth_reading(clockid_t clock)
{
    struct truth_times times = { clock, true, { 0, 0 }, { 0, 0 } };
    for (int i = 0; i < 100 * TRUTH_FIRST; i++) {
        double at = bench_ns(clock);
        truth_note(&times, 0, bench_ns(clock) - at);
    }
    return times.sum[0] / (double)times.n[0];
}

/* Return the calls' share of the time of both parts. */
static double truth_share(const struct truth_times *times)
{
    double reading = truth_reading(times->clock);
    double work = times->sum[0] / (double)times->n[0] + reading;
    double call = times->sum[1] / (double)times->n[1] + reading;
    return call / (work + call);
}

/* Return the time of a turn in ns. */
static double truth_turn_ns(const struct truth_row *r, uint64_t units)
{
    struct truth_times unused = { CLOCK_MONOTONIC, false, { 0, 0 }, { 0, 0 } };
    long n = (long)(TRUTH_RUN_NS / 8 / (r->us * 1000 + 500)) + 100;
    double from = bench_ns(CLOCK_MONOTONIC);
    truth_turns(r, NULL, units, n, &unused);
    return (bench_ns(CLOCK_MONOTONIC) - from) / (double)n;
}

/* Time of a function by the report, with its waits for a processor. */
static void truth_read_report(const char *tool, const char *capture, struct truth_shares *s)
{
    char command[8192], line[1024];
    double total[2] = { 0, 0 };
    snprintf(command, sizeof command, "'%s' report --vm --csv '%s'", tool, capture);
    FILE *f = popen(command, "r");
    bench_need(f != NULL, command);
    while (fgets(line, sizeof line, f)) {
        const char *at = line + (line[0] == '"');
        int which = strncmp(at, "call", 4) == 0 ? 1 : strncmp(at, "work", 4) == 0 ? 0 : -1;
        if (which >= 0)
            sscanf(strchr(at, ','), ",%*[^,],%*[^,],%lf", &total[which]);
    }
    bench_need(pclose(f) == 0 && total[0] + total[1] > 0, command);
    s->ours = total[1] / (total[0] + total[1]);
}

static void truth_run(const struct truth_row *r, clockid_t clock, const char *tool,
                      const char *path, uint64_t units, struct truth_shares *s)
{
    const char *source = getenv("SOURCE");
    jsprof_options o = { .size = sizeof o, .path = path, .hz = TRUTH_HZ,
                         .clock = clock == CLOCK_MONOTONIC ? JSPROF_CLOCK_WALL
                                                           : JSPROF_CLOCK_CPU };
    jsprof_stats stats = { .size = sizeof stats };
    bench_need(!source || jsprof_options_set(&o, "source", source) == 0, "SOURCE");
    jsprof *p = NULL;
    jsprof_thread *t = NULL;
    timer_t timer;
    struct truth_times times = { r->has_other ? clock : CLOCK_MONOTONIC,
                                 clock != CLOCK_MONOTONIC && !r->has_other, { 0, 0 }, { 0, 0 } };
    long n = (long)(TRUTH_RUN_NS / truth_turn_ns(r, units)) + 1;
    for (int i = 0; i < 2; i++)
        truth_timer[i] = truth_perf[i] = 0;
    bench_need(jsprof_open(&p, &o) == 0 && jsprof_thread_attach(p, "work", &t) == 0 &&
               jsprof_start(p) == 0, "starting a session");
    bool has_peers = !getenv("ALONE");
    if (has_peers)
        truth_peers_open(&timer, !r->has_other);
    truth_turns(r, t, units, n, &times);
    if (has_peers)
        truth_peers_close(timer);
    bench_need(jsprof_stop(p) == 0 && jsprof_stats_get(p, &stats) == 0, "stopping");
    bench_need(jsprof_close(p) == 0, "completing the capture");
    jsprof_thread_detach(t);
    s->of_calls = truth_share(&times);
    truth_read_report(tool, path, s);
    s->n_ours = (double)stats.samples;
    s->n_timer = truth_timer[0] + truth_timer[1];
    s->n_perf = truth_perf[0] + truth_perf[1];
    s->timer = s->n_timer > 0 ? truth_timer[1] / s->n_timer : 0;
    s->perf = s->n_perf > 0 ? truth_perf[1] / s->n_perf : 0;
}

static double truth_square(double share, double truth, double n)
{
    double p = truth < 1e-4 ? 1e-4 : truth;
    return n > 0 ? (share - truth) * (share - truth) / (p * (1 - p) / n) : 0;
}

static void truth_tell(const struct truth_row *r, const char *clock,
                       const struct truth_shares *mean, const struct truth_shares *squares,
                       int runs)
{
    double ours = sqrt(squares->ours / runs);
    char perf[64] = "no perf";
    if (mean->n_perf > 0)
        snprintf(perf, sizeof perf, "perf %.2f %% %.1fx", 100 * mean->perf / runs,
                 sqrt(squares->perf / runs));
    printf("row\tshare of a call, %s clock, %s\t<= 1.2x chance\t%.2f %% of %.2f %%, %.2fx\t"
           "%s, CPU timer %.2f %% %.1fx\t%s\n", clock, r->name, 100 * mean->ours / runs,
           100 * mean->of_calls / runs, ours, perf, 100 * mean->timer / runs,
           sqrt(squares->timer / runs),
           ours <= 1.2 ? "yes" : ours > 1.2 * (1 + 2 / sqrt(2.0 * runs)) ? "NO" : "noise");
    fflush(stdout);
}

static void truth_all_runs(const struct truth_row *r, const char *clock, const char *tool)
{
    struct truth_shares mean = { 0 }, squares = { 0 };
    const char *asked = getenv("RUNS");
    int runs = asked && atoi(asked) > 0 ? atoi(asked) : bench_rounds(20) / 2;
    clockid_t id = strcmp(clock, "wall") == 0 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    char path[4096];
    pthread_t other;
    truth_bytes = r->bytes;
    atomic_store(&truth_turn, 0);
    bench_need(socketpair(AF_UNIX, SOCK_STREAM, 0, truth_pair) == 0, "socketpair");
    bench_need(!r->has_other || pthread_create(&other, NULL, truth_other, (void *)r) == 0,
               "a second thread");
    double from = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    truth_work(20000000);
    double unit_ns = (bench_ns(CLOCK_THREAD_CPUTIME_ID) - from) / 20000000;
    snprintf(path, sizeof path, "%s/truth.cap", truth_folder);
    for (int i = 0; i < runs; i++) {
        struct truth_shares s = { 0 };
        truth_run(r, id, tool, path, (uint64_t)(r->us * 1000 / unit_ns), &s);
        mean.ours += s.ours;
        mean.timer += s.timer;
        mean.perf += s.perf;
        mean.n_perf += s.n_perf;
        mean.of_calls += s.of_calls;
        squares.ours += truth_square(s.ours, s.of_calls, s.n_ours);
        squares.timer += truth_square(s.timer, s.of_calls, s.n_timer);
        squares.perf += truth_square(s.perf, s.of_calls, s.n_perf);
    }
    truth_tell(r, clock, &mean, &squares, runs);
    close(truth_pair[0]);
    atomic_store(&truth_turn, 2);
    syscall(SYS_futex, &truth_turn, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0);
    if (r->has_other)
        pthread_join(other, NULL);
    close(truth_pair[1]);
    if (!getenv("KEEP"))
        unlink(path);
}

static bool truth_is_asked(int n, char **names, const char *name)
{
    bool is = n == 0;
    for (int i = 0; i < n; i++)
        is |= strcmp(names[i], name) == 0;
    return is;
}

int main(int argc, char **argv)
{
    struct sigaction tick = { .sa_sigaction = truth_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct sigaction event = { .sa_sigaction = truth_event, .sa_flags = SA_SIGINFO | SA_RESTART };
    if (argc < 4) {
        fprintf(stderr, "usage: truth cpu|wall TOOL DIRECTORY [ROW...]\n");
        return 2;
    }
    truth_folder = argv[3];
    truth_zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    truth_into = malloc(TRUTH_BYTES);
    bench_need(truth_into && truth_zero >= 0 && sigaction(SIGUSR1, &tick, NULL) == 0 &&
               sigaction(SIGUSR2, &event, NULL) == 0, "setting up");
    bench_beside();
    for (size_t i = 0; i < sizeof truth_rows / sizeof *truth_rows; i++)
        if (truth_is_asked(argc - 4, argv + 4, truth_rows[i].name))
            truth_all_runs(&truth_rows[i], argv[1], argv[2]);
    return 0;
}
