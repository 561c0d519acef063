/* looks.c - what the looker costs a busy thread, beside the timers and the floor in the same run.
 *
 * SPDX-License-Identifier: MIT
 *
 * One busy thread under 30 native and 30 linked frames, both clocks.
 *
 * A turn without a profiler, one with the looker, one with timers and one with an empty handler
 * follow one another, in changing order. jsprof_start and jsprof_stop lie outside of the turn;
 * "open" measures them.
 */
#include <signal.h>
#include <sys/prctl.h>

#include "looks.h"

/* -- One busy thread ------------------------------------------------------------ */

enum { LOOKS_FRAMES = 30, LOOKS_TURN_NS = 200000000, LOOKS_TURNS = 60 };

/* Work in a native and a linked frame for each level. */
__attribute__((noinline)) static void looks_under(jsprof_thread *t, jsprof_function *f, int levels,
                                                  uint64_t rounds)
{
    jsprof_link link;
    jsprof_link_enter(t, &link, f);
    if (levels > 1)
        looks_under(t, f, levels - 1, rounds);
    else
        looks_work(rounds);
    jsprof_link_leave(t, &link);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

struct looks_busy {
    struct looks_session of[LOOKS_N_SESSIONS];
    jsprof_function *function;
    uint64_t rounds, period_ns;
    struct bench_series own[LOOKS_N_BY], all[LOOKS_N_BY], looker, bare, weight[LOOKS_N_BY], rate,
                        handler;
};

struct looks_turn {
    double own, all, wall;
    double looker; /* CPU time of the thread that sends the signals */
};

/* The floor: another thread sends as many signals, at random points of each period, into a handler
 * that does nothing. */
struct looks_empty {
    pthread_t to, thread;
    uint64_t period_ns;
    atomic_bool ends;
};

static void looks_empty_handler(int sig)
{
    (void)sig;
}

static void *looks_empty_thread(void *arg)
{
    struct looks_empty *e = arg;
    uint64_t cell = (uint64_t)bench_ns(CLOCK_MONOTONIC), random = cell | 1;
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (; !atomic_load(&e->ends); cell += e->period_ns) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t at = cell + (random >> 32) % e->period_ns;
        struct timespec until = { (time_t)(at / 1000000000u), (long)(at % 1000000000u) };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        pthread_kill(e->to, SIGUSR2);
    }
    return NULL;
}

static void looks_empty_begin(struct looks_empty *e, uint64_t period_ns)
{
    struct sigaction action = { .sa_handler = looks_empty_handler, .sa_flags = SA_RESTART };
    sigaction(SIGUSR2, &action, NULL);
    *e = (struct looks_empty){ .to = pthread_self(), .period_ns = period_ns };
    bench_need(pthread_create(&e->thread, NULL, looks_empty_thread, e) == 0, "pthread_create");
}

static double looks_empty_ns(const struct looks_empty *e)
{
    clockid_t clock;
    bench_need(pthread_getcpuclockid(e->thread, &clock) == 0, "pthread_getcpuclockid");
    return bench_ns(clock);
}

static void looks_empty_end(struct looks_empty *e)
{
    atomic_store(&e->ends, true);
    pthread_join(e->thread, NULL);
}

static struct looks_turn looks_busy_work(const struct looks_busy *b, jsprof_thread *t)
{
    struct looks_turn r = { .looker = looks_cpu_of("jsprof-looker") };
    r.all = bench_ns(CLOCK_PROCESS_CPUTIME_ID);
    r.own = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    r.wall = bench_ns(CLOCK_MONOTONIC);
    looks_under(t, b->function, LOOKS_FRAMES, b->rounds);
    r.wall = bench_ns(CLOCK_MONOTONIC) - r.wall;
    r.own = bench_ns(CLOCK_THREAD_CPUTIME_ID) - r.own;
    r.all = bench_ns(CLOCK_PROCESS_CPUTIME_ID) - r.all;
    r.looker = looks_cpu_of("jsprof-looker") - r.looker;
    return r;
}

static struct looks_turn looks_busy_sampled(struct looks_busy *b, enum looks_by by)
{
    jsprof *session = b->of[by].session;
    jsprof_stats before = looks_stats(session);
    bench_need(jsprof_start(session) == 0, "jsprof_start");
    struct looks_turn r = looks_busy_work(b, b->of[by].me);
    bench_need(jsprof_stop(session) == 0, "jsprof_stop");
    jsprof_stats after = looks_stats(session);
    double samples = (double)(after.samples - before.samples);
    bench_need(samples > 0, "sampling");
    bench_add(&b->weight[by], (double)(after.expirations - before.expirations) / samples);
    if (by == LOOKS_LOOKER) {
        bench_add(&b->rate, samples / (r.own / 1e9));
        bench_add(&b->handler, (double)(after.handler_ns - before.handler_ns) / r.own * 100);
    }
    return r;
}

static struct looks_turn looks_busy_turn(struct looks_busy *b, enum looks_by by)
{
    struct looks_empty empty;
    if (by == LOOKS_LOOKER || by == LOOKS_TIMER)
        return looks_busy_sampled(b, by);
    if (by == LOOKS_EMPTY)
        looks_empty_begin(&empty, b->period_ns);
    double bare = by == LOOKS_EMPTY ? looks_empty_ns(&empty) : 0;
    struct looks_turn r = looks_busy_work(b, b->of[LOOKS_LOOKER].me);
    if (by == LOOKS_EMPTY) {
        r.looker = looks_empty_ns(&empty) - bare;
        looks_empty_end(&empty);
    }
    return r;
}

static void looks_busy_turns(struct looks_busy *b)
{
    for (int i = bench_rounds(LOOKS_TURNS); i > 0; i--) {
        struct looks_turn r[LOOKS_N_BY];
        for (int k = 0; k < LOOKS_N_BY; k++) {
            enum looks_by by = (enum looks_by)((k + i) % LOOKS_N_BY);
            r[by] = looks_busy_turn(b, by);
        }
        for (int by = LOOKS_LOOKER; by < LOOKS_N_BY; by++) {
            bench_add(&b->own[by], (r[by].own / r[LOOKS_NONE].own - 1) * 100);
            bench_add(&b->all[by], (r[by].all / r[LOOKS_NONE].all - 1) * 100);
        }
        bench_add(&b->looker, r[LOOKS_LOOKER].looker / r[LOOKS_LOOKER].wall * 100);
        bench_add(&b->bare, r[LOOKS_EMPTY].looker / r[LOOKS_EMPTY].wall * 100);
    }
}

/* The floor of a thread that many signals interrupt, where the limit was set. */
#define LOOKS_FLOOR 0.45

static void looks_busy_print(const struct looks_busy *b, const char *clock, uint32_t hz)
{
    static double full_wakes; /* at 1000 Hz, which comes first */
    char text[80], beside[80];
    bool is_full = hz == LOOKS_HZ;
    snprintf(text, sizeof text, "1 busy thread, %s %u Hz: own thread", clock, hz);
    snprintf(beside, sizeof beside, "CPU time over no profiler's; timers %+.2f%%",
             bench_median(&b->own[LOOKS_TIMER]));
    looks_scaled(text, is_full ? "<= +0.8%" : NULL, 0.8, bench_median(&b->own[LOOKS_EMPTY]),
                 LOOKS_FLOOR, beside, &b->own[LOOKS_LOOKER]);
    looks_row("  the floor: an empty handler", NULL, 0, "%", "as many signals of another thread",
              &b->own[LOOKS_EMPTY]);
    looks_row("  of it inside our handler", NULL, 0, "%", "handler_ns / CPU time", &b->handler);
    snprintf(beside, sizeof beside, "timers %+.2f%%, an empty handler %+.2f%%",
             bench_median(&b->all[LOOKS_TIMER]), bench_median(&b->all[LOOKS_EMPTY]));
    looks_row("  the whole process", NULL, 0, "%", beside, &b->all[LOOKS_LOOKER]);
    double wakes = bench_median(&b->bare);
    full_wakes = is_full ? wakes : full_wakes;
    looks_scaled("  the looker, of the other processor", is_full ? "<= 4%" : "<= 0.4%",
                 is_full ? 4 : 0.4, wakes, is_full ? wakes : full_wakes / 10, "-", &b->looker);
    looks_row("  the floor: a thread that only signals", NULL, 0, "%", "it sleeps as often",
              &b->bare);
    snprintf(beside, sizeof beside, "timers %.2fx; %.0f samples a second of CPU time",
             bench_median(&b->weight[LOOKS_TIMER]), bench_median(&b->rate));
    looks_row("  expirations a sample", "<= 1.05x", 1.05, "x", beside, &b->weight[LOOKS_LOOKER]);
}

static void looks_busy(int clock, const char *name, uint32_t hz)
{
    static struct looks_busy b;
    memset(&b, 0, sizeof b);
    b.period_ns = 1000000000u / hz;
    bench_need(jsprof_function_new(&b.function, "busy", NULL, 0, JSPROF_KIND_VM) == 0,
               "jsprof_function_new");
    for (int by = LOOKS_LOOKER; by < LOOKS_N_SESSIONS; by++)
        b.of[by] = looks_open(clock, hz, (enum looks_by)by);
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    enum { TRIAL = 20000000 };
    looks_work(TRIAL);
    b.rounds = (uint64_t)(TRIAL * (LOOKS_TURN_NS / (bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin)));
    looks_busy_turns(&b);
    looks_busy_print(&b, name, hz);
    for (int by = LOOKS_LOOKER; by < LOOKS_N_SESSIONS; by++)
        looks_close(b.of[by]);
    jsprof_function_free(b.function);
}

int main(void)
{
    looks_busy(JSPROF_CLOCK_WALL, "wall", LOOKS_HZ);
    looks_busy(JSPROF_CLOCK_CPU, "CPU", LOOKS_HZ);
    looks_busy(JSPROF_CLOCK_CPU, "CPU", LOOKS_HZ / 10);
    return 0;
}
