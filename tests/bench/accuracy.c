/* accuracy.c - are the shares in a report those of the program, as well as chance allows?
 *
 * SPDX-License-Identifier: MIT
 *
 *     accuracy MODE TOOL DIRECTORY
 *
 * tinywork, leastwork, middlework and mostwork burn time 1:8:16:32 in turns, and a
 * clock at every change keeps the true shares. Each run is about 1000 expirations;
 * the capture is read back through `TOOL report --vm --csv`. For each share the
 * root-mean-square error over the runs is divided by that of as many independent
 * draws, sqrt(p (1 - p) / n). Over 20 runs even a perfect sampler shows 1 +- 0.16.
 *
 *     wall    wall clock; each cycle through the four has a random length
 *     cycle   wall clock; every cycle takes exactly one sampling period, 1 ms
 *     cpu     CPU clock; cycles of random length
 *     tick    CPU clock; every cycle takes 4 ms, a scheduler tick at 250 Hz
 *     looker, looker_cycle, looker_tick
 *             the same three cycles: random, 1 ms and 4 ms, on the CPU clock; the looker in
 *             place of timers
 *     looker_wall  the same with 1 ms on the wall clock
 *
 * BESIDE=4 in the environment: beside so many other programs that are always busy.
 *
 * The peer samples the same runs: a timer of fixed period on the same clock, whose
 * handler counts which of the four it interrupted, overruns included.
 */
#include <fcntl.h>
#include <jsprof.h>
#include <signal.h>
#include <unistd.h>

#include "bench.h"

enum { ACC_WORKS = 4, ACC_HZ = 1000, ACC_EXPIRATIONS = 1000, ACC_PARTS = 57 };

#define ACC_MS 1000000.0

static const char *const acc_names[ACC_WORKS] = { "tinywork", "leastwork", "middlework",
                                                  "mostwork" };
static const int acc_parts[ACC_WORKS] = { 1, 8, 16, 32 };

struct acc_mode {
    const char *name, *budget, *limit, *peer;
    int clock;
    int runs;
    double cycle_ns; /* 0: random, 0.6 to 6 ms */
    uint32_t flags;
};

/* Time or counts of each of the four. */
struct acc_shares {
    double of[ACC_WORKS];
};

struct acc_errors {
    struct acc_shares squares; /* sums of (error / chance)^2 */
    int runs;
};

static volatile sig_atomic_t acc_now = -1; /* which of them runs */
static volatile uint64_t acc_hits[ACC_WORKS];
static uint64_t acc_random = 88172645463325252u;

static void acc_peer_tick(int sig, siginfo_t *info, void *ucontext)
{
    (void)sig, (void)ucontext;
    int now = acc_now;
    if (now >= 0)
        acc_hits[now] += 1 + (uint64_t)info->si_overrun;
}

static double acc_draw(double from, double to)
{
    acc_random ^= acc_random << 13;
    acc_random ^= acc_random >> 7;
    acc_random ^= acc_random << 17;
    return from + (to - from) * (double)(acc_random >> 11) / 9007199254740992.0;
}

static clockid_t acc_clock_id(const struct acc_mode *m)
{
    return m->clock == JSPROF_CLOCK_WALL ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
}

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static timer_t acc_peer_start(const struct acc_mode *m)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR2 };
    struct itimerspec every = { { 0, 1000000000 / ACC_HZ },
                                { 0, (long)acc_draw(1, 1e9 / ACC_HZ) } };
    timer_t timer;
    event.sigev_notify_thread_id = gettid();
    bench_need(timer_create(acc_clock_id(m), &event, &timer) == 0 &&
               timer_settime(timer, 0, &every, NULL) == 0, "starting the peer's timer");
    return timer;
}

/* One of the four, until a moment of CLOCK_MONOTONIC; its true time is added up. */
static void acc_work(int which, double until, const struct acc_mode *m,
                     struct acc_shares *truth, jsprof_thread *t)
{
    jsprof_push(t, acc_names[which], NULL, 0);
    acc_now = which;
    double begin = bench_ns(acc_clock_id(m));
    while (bench_ns(CLOCK_MONOTONIC) < until)
        continue;
    truth->of[which] += bench_ns(acc_clock_id(m)) - begin;
    acc_now = -1;
    jsprof_pop(t);
}

/* Cycles follow each other without a gap, at absolute times, so that 1 ms stays 1 ms. */
static void acc_workload(const struct acc_mode *m, jsprof_thread *t, struct acc_shares *truth)
{
    double begin = bench_ns(acc_clock_id(m)), at = bench_ns(CLOCK_MONOTONIC);
    while (bench_ns(acc_clock_id(m)) - begin < 1e9 / ACC_HZ * ACC_EXPIRATIONS) {
        double cycle = m->cycle_ns > 0 ? m->cycle_ns : acc_draw(0.6 * ACC_MS, 6 * ACC_MS);
        double end = at;
        for (int i = 0; i < ACC_WORKS; i++) {
            end += cycle * acc_parts[i] / ACC_PARTS;
            acc_work(i, end, m, truth, t);
        }
        at += cycle;
        while (bench_ns(CLOCK_MONOTONIC) - at > cycle)
            at += cycle; /* we did not run for a while: keep the phase */
    }
}

/* Self time of the four by the report; the name may be in quotes. */
static void acc_read_report(const char *tool, const char *capture, struct acc_shares *seen)
{
    char command[8192], line[1024];
    snprintf(command, sizeof command, "'%s' report --vm --csv '%s'", tool, capture);
    FILE *f = popen(command, "r");
    bench_need(f && fgets(line, sizeof line, f) && strncmp(line, "function,kind,self,", 19) == 0,
               command);
    while (fgets(line, sizeof line, f))
        for (int i = 0; i < ACC_WORKS; i++) {
            const char *at = line + (line[0] == '"');
            size_t n = strlen(acc_names[i]);
            double self;
            if (strncmp(at, acc_names[i], n) == 0 && strchr("\",", at[n]) &&
                sscanf(strchr(at, ','), ",%*[^,],%lf", &self) == 1)
                seen->of[i] = self;
        }
    bench_need(pclose(f) == 0, command);
}

static double acc_sum(const struct acc_shares *s)
{
    double sum = 0;
    for (int i = 0; i < ACC_WORKS; i++)
        sum += s->of[i];
    bench_need(sum > 0, "sampling the four functions");
    return sum;
}

static void acc_judge(struct acc_errors *e, const struct acc_shares *seen,
                      const struct acc_shares *truth)
{
    double seen_sum = acc_sum(seen), truth_sum = acc_sum(truth);
    for (int i = 0; i < ACC_WORKS; i++) {
        double p = truth->of[i] / truth_sum, error = seen->of[i] / seen_sum - p;
        e->squares.of[i] += error * error / (p * (1 - p) / ACC_EXPIRATIONS);
    }
    e->runs++;
}

static void acc_run(const struct acc_mode *m, const char *path, struct acc_shares *truth)
{
    jsprof_options o = { .size = sizeof o, .path = path, .hz = ACC_HZ, .clock = m->clock,
                         .flags = m->flags };
    jsprof *p = NULL;
    jsprof_thread *t = NULL;
    bench_need(jsprof_open(&p, &o) == 0 && jsprof_thread_attach(p, "work", &t) == 0 &&
               jsprof_start(p) == 0, "starting a session");
    timer_t timer = acc_peer_start(m);
    acc_workload(m, t, truth);
    timer_delete(timer);
    bench_need(jsprof_close(p) == 0, "completing the capture");
    jsprof_thread_detach(t);
}

static double acc_ratio(const struct acc_errors *e, int which)
{
    return sqrt(e->squares.of[which] / e->runs);
}

static int acc_worst(const struct acc_errors *e)
{
    int worst = 0;
    for (int i = 1; i < ACC_WORKS; i++)
        if (acc_ratio(e, i) > acc_ratio(e, worst))
            worst = i;
    return worst;
}

/* Beyond the limit is NO only if a sampler at the limit would hardly show it. */
static const char *acc_verdict(const struct acc_mode *m, double ratio, int runs)
{
    if (!m->limit)
        return "-";
    if (ratio <= 1.2)
        return "yes";
    return ratio > 1.2 * (1 + 2 / sqrt(2.0 * runs)) ? "NO" : "noise";
}

static void acc_tell(const struct acc_mode *m, const struct acc_errors *ours,
                     const struct acc_errors *peer)
{
    double worst = acc_ratio(ours, acc_worst(ours));
    printf("row\t%s\t%s\t%.2fx (+-%.0f%%)\t%s %.2fx, same runs\t%s\n", m->budget,
           m->limit ? m->limit : "-", worst, 100 / sqrt(2.0 * ours->runs), m->peer,
           acc_ratio(peer, acc_worst(peer)), acc_verdict(m, worst, ours->runs));
    if (!bench_verbose())
        return;
    for (int i = 0; i < ACC_WORKS; i++)
        printf("row\t  %s\t-\t%.2fx\tfixed period %.2fx\t-\n", acc_names[i], acc_ratio(ours, i),
               acc_ratio(peer, i));
}

static const struct acc_mode acc_modes[] = {
    { "wall", "share error, wall clock, random cycle", "<= 1.2x chance", "fixed 1 ms",
      JSPROF_CLOCK_WALL, 20, 0, JSPROF_TIMER },
    { "cycle", "share error, wall clock, 1 ms cycle", "<= 1.2x chance", "fixed 1 ms",
      JSPROF_CLOCK_WALL, 20, ACC_MS, JSPROF_TIMER },
    { "cpu", "share error, CPU clock, random cycle", NULL, "fixed 1 ms",
      JSPROF_CLOCK_CPU, 12, 0, JSPROF_TIMER },
    { "tick", "share error, CPU clock, 4 ms cycle", NULL, "fixed 1 ms",
      JSPROF_CLOCK_CPU, 12, 4 * ACC_MS, JSPROF_TIMER },
    { "looker", "share error, CPU clock, looker, random cycle", "<= 1.2x chance", "CPU timer",
      JSPROF_CLOCK_CPU, 12, 0, 0 },
    { "looker_cycle", "share error, CPU clock, looker, 1 ms cycle", "<= 1.2x chance",
      "CPU timer", JSPROF_CLOCK_CPU, 12, ACC_MS, 0 },
    { "looker_tick", "share error, CPU clock, looker, 4 ms cycle", "<= 1.2x chance",
      "CPU timer", JSPROF_CLOCK_CPU, 12, 4 * ACC_MS, 0 },
    { "looker_wall", "share error, wall clock, looker, 1 ms cycle", "<= 1.2x chance",
      "fixed 1 ms", JSPROF_CLOCK_WALL, 12, ACC_MS, 0 },
};

static void acc_all_runs(const struct acc_mode *m, const char *tool, const char *directory)
{
    struct acc_errors ours = { 0 }, peer = { 0 };
    char path[4096];
    int runs = bench_rounds(m->runs) < m->runs ? 4 : m->runs;

    snprintf(path, sizeof path, "%s/accuracy.cap", directory);
    while (ours.runs < runs) {
        struct acc_shares truth = { 0 }, seen = { 0 }, fixed = { 0 };
        for (int i = 0; i < ACC_WORKS; i++)
            acc_hits[i] = 0;
        acc_run(m, path, &truth);
        acc_read_report(tool, path, &seen);
        for (int i = 0; i < ACC_WORKS; i++)
            fixed.of[i] = (double)acc_hits[i];
        acc_judge(&ours, &seen, &truth);
        acc_judge(&peer, &fixed, &truth);
    }
    unlink(path);
    acc_tell(m, &ours, &peer);
}

int main(int argc, char **argv)
{
    struct sigaction action = { .sa_sigaction = acc_peer_tick,
                                .sa_flags = SA_SIGINFO | SA_RESTART };
    bench_need(sigaction(SIGUSR2, &action, NULL) == 0, "sigaction");
    acc_random ^= (uint64_t)bench_ns(CLOCK_MONOTONIC);
    bench_beside();
    for (size_t i = 0; argc == 4 && i < sizeof acc_modes / sizeof *acc_modes; i++)
        if (strcmp(argv[1], acc_modes[i].name) == 0) {
            if (acc_modes[i].flags) /* the looker is for a second processor */
                bench_pin();
            acc_all_runs(&acc_modes[i], argv[2], argv[3]);
            return 0;
        }
    fprintf(stderr, "usage: accuracy MODE TOOL DIRECTORY\n");
    return 2;
}
