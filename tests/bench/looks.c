/* looks.c - what the looker costs: the host's own thread, the other processor, many threads, and a
 * process that does nothing; each beside the timers of today in the same run.
 *
 * SPDX-License-Identifier: MIT
 *
 *     looks busy      one busy thread under 30 native and 30 linked frames, both clocks
 *     looks many      1,000 attached threads on the wall clock
 *     looks idle      all threads sleep
 *     looks starved   samples of a busy thread where the looker must wait: under taskset,
 *                     beside other programs (BESIDE=8), under a quota
 *
 * A turn without a profiler, one with the looker and one with timers follow one another, in
 * changing order. jsprof_start and jsprof_stop lie outside of the turn; "open" measures them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jsprof.h>

#include "bench.h"

/* -- Sessions, and the threads of ours ----------------------------------------- */

enum looks_by { LOOKS_NONE, LOOKS_LOOKER, LOOKS_TIMER, LOOKS_N_BY };
enum { LOOKS_OWN = 4 }; /* threads of the library */

struct looks_session {
    jsprof *session;
    jsprof_thread *me;
};

static struct looks_session looks_open_to(int fd, int clock, uint32_t hz, enum looks_by by)
{
    struct looks_session s;
    jsprof_options o = { .size = sizeof o, .hz = hz, .clock = clock, .ring_bytes = 1 << 16,
                         .flags = JSPROF_USE_FD };
    o.flags |= by == LOOKS_TIMER ? JSPROF_TIMER : 0u;
    o.fd = fd;
    bench_need(jsprof_open(&s.session, &o) == 0 &&
               jsprof_thread_attach(s.session, "bench", &s.me) == 0, "opening a session");
    return s;
}

static struct looks_session looks_open(int clock, uint32_t hz, enum looks_by by)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct looks_session s = looks_open_to(fd, clock, hz, by);
    close(fd);
    return s;
}

static void looks_close(struct looks_session s)
{
    bench_need(jsprof_close(s.session) == 0, "jsprof_close");
    jsprof_thread_detach(s.me);
}

static jsprof_stats looks_stats(jsprof *session)
{
    jsprof_stats stats = { .size = sizeof stats };
    bench_need(jsprof_stats_get(session, &stats) == 0, "jsprof_stats_get");
    return stats;
}

/* Find the threads of this name. Return how many there are. */
static int looks_find(const char *name, pid_t tids[LOOKS_OWN])
{
    char path[300], text[32];
    int n = 0;
    DIR *tasks = opendir("/proc/self/task");
    bench_need(tasks != NULL, "opening /proc/self/task");
    for (struct dirent *e; (e = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", e->d_name);
        FILE *f = fopen(path, "r");
        if (f && fgets(text, sizeof text, f) && strncmp(text, name, strlen(name)) == 0 &&
            n < LOOKS_OWN)
            tids[n++] = (pid_t)atoi(e->d_name);
        if (f)
            fclose(f);
    }
    closedir(tasks);
    return n;
}

static double looks_cpu_ns(pid_t tid)
{
    return bench_ns((clockid_t)(~(unsigned)tid << 3 | 6));
}

/* CPU time of the threads of this name. */
static double looks_cpu_of(const char *name)
{
    pid_t tids[LOOKS_OWN];
    double ns = 0;
    for (int i = looks_find(name, tids); i > 0; i--)
        ns += looks_cpu_ns(tids[i - 1]);
    return ns;
}

static void looks_row(const char *what, const char *limit_text, double limit, const char *unit,
                      const char *beside, const struct bench_series *s)
{
    bench_print(&(struct bench_row){ what, limit_text, limit, unit, beside }, s);
}

static void looks_one(const char *what, const char *limit_text, double limit, const char *unit,
                      const char *beside, double value)
{
    struct bench_series s = { .n = 0 };
    bench_add(&s, value);
    looks_row(what, limit_text, limit, unit, beside, &s);
}

/* -- One busy thread ------------------------------------------------------------ */

enum { LOOKS_FRAMES = 30, LOOKS_TURN_NS = 200000000, LOOKS_TURNS = 60, LOOKS_HZ = 1000 };

static volatile uint64_t looks_sum;

__attribute__((noinline)) static void looks_work(uint64_t rounds)
{
    uint64_t x = looks_sum | 1;
    for (uint64_t i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    looks_sum = x;
}

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
    struct looks_session of[LOOKS_N_BY];
    jsprof_function *function;
    uint64_t rounds;
    struct bench_series own[LOOKS_N_BY], all[LOOKS_N_BY], looker, weight[LOOKS_N_BY], rate;
};

struct looks_turn {
    double own, all, wall, looker;
};

static struct looks_turn looks_busy_turn(struct looks_busy *b, enum looks_by by)
{
    struct looks_turn r;
    jsprof *session = b->of[by].session;
    jsprof_stats before, after;
    if (session) {
        before = looks_stats(session);
        bench_need(jsprof_start(session) == 0, "jsprof_start");
    }
    r.looker = by == LOOKS_LOOKER ? looks_cpu_of("jsprof-looker") : 0;
    r.all = bench_ns(CLOCK_PROCESS_CPUTIME_ID);
    r.own = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    r.wall = bench_ns(CLOCK_MONOTONIC);
    looks_under(b->of[by].me, b->function, LOOKS_FRAMES, b->rounds);
    r.wall = bench_ns(CLOCK_MONOTONIC) - r.wall;
    r.own = bench_ns(CLOCK_THREAD_CPUTIME_ID) - r.own;
    r.all = bench_ns(CLOCK_PROCESS_CPUTIME_ID) - r.all;
    if (by == LOOKS_LOOKER)
        r.looker = looks_cpu_of("jsprof-looker") - r.looker;
    if (session) {
        bench_need(jsprof_stop(session) == 0, "jsprof_stop");
        after = looks_stats(session);
        double samples = (double)(after.samples - before.samples);
        bench_need(samples > 0, "sampling");
        bench_add(&b->weight[by], (double)(after.expirations - before.expirations) / samples);
        if (by == LOOKS_LOOKER)
            bench_add(&b->rate, samples / (r.own / 1e9));
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
    }
}

static void looks_busy_print(const struct looks_busy *b, const char *clock, uint32_t hz)
{
    char text[80], beside[80];
    bool is_full = hz == LOOKS_HZ;
    snprintf(text, sizeof text, "1 busy thread, %s %u Hz: own thread", clock, hz);
    snprintf(beside, sizeof beside, "CPU time over no profiler's; timers %+.2f%%",
             bench_median(&b->own[LOOKS_TIMER]));
    looks_row(text, is_full ? "<= +0.8%" : NULL, 0.8, "%", beside, &b->own[LOOKS_LOOKER]);
    snprintf(beside, sizeof beside, "timers %+.2f%%", bench_median(&b->all[LOOKS_TIMER]));
    looks_row("  the whole process", NULL, 0, "%", beside, &b->all[LOOKS_LOOKER]);
    looks_row("  the looker, of the other processor", is_full ? "<= 4%" : "<= 0.4%",
              is_full ? 4 : 0.4, "%", "-", &b->looker);
    snprintf(beside, sizeof beside, "timers %.2fx; %.0f samples a second of CPU time",
             bench_median(&b->weight[LOOKS_TIMER]), bench_median(&b->rate));
    looks_row("  expirations a sample", "<= 1.05x", 1.05, "x", beside, &b->weight[LOOKS_LOOKER]);
}

static void looks_busy(int clock, const char *name, uint32_t hz)
{
    static struct looks_busy b;
    memset(&b, 0, sizeof b);
    bench_need(jsprof_function_new(&b.function, "busy", NULL, 0, JSPROF_KIND_VM) == 0,
               "jsprof_function_new");
    for (int by = LOOKS_LOOKER; by < LOOKS_N_BY; by++)
        b.of[by] = looks_open(clock, hz, (enum looks_by)by);
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    enum { TRIAL = 20000000 };
    looks_work(TRIAL);
    b.rounds = (uint64_t)(TRIAL * (LOOKS_TURN_NS / (bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin)));
    looks_busy_turns(&b);
    looks_busy_print(&b, name, hz);
    for (int by = LOOKS_LOOKER; by < LOOKS_N_BY; by++)
        looks_close(b.of[by]);
    jsprof_function_free(b.function);
}

/* -- Many threads --------------------------------------------------------------- */

enum { LOOKS_THREADS = 1000, LOOKS_RUNNING = 10, LOOKS_MANY_HZ = 100, LOOKS_MANY_MS = 3000,
       LOOKS_MANY_FIRST_MS = 1000,
       LOOKS_STACK = 1 << 16 };

struct looks_many {
    struct looks_session s;
    int fd; /* of the capture */
    atomic_int ready, n_running; /* threads of which so many run */
    atomic_bool end;
    int pipe[2];
    pid_t tids[LOOKS_THREADS];
    pthread_t threads[LOOKS_THREADS];
};

static void *looks_many_thread(void *arg)
{
    struct looks_many *m = arg;
    jsprof_thread *t;
    bench_need(jsprof_thread_attach(m->s.session, "many", &t) == 0, "jsprof_thread_attach");
    int number = atomic_fetch_add(&m->ready, 1);
    m->tids[number] = gettid();
    struct pollfd end = { m->pipe[0], POLLIN, 0 };
    if (number < atomic_load(&m->n_running))
        while (!atomic_load(&m->end))
            looks_work(1000);
    else
        while (poll(&end, 1, -1) <= 0)
            continue;
    jsprof_thread_detach(t);
    return NULL;
}

static void looks_many_begin(struct looks_many *m, enum looks_by by, int n_running)
{
    pthread_attr_t attr;
    memset(m, 0, sizeof *m);
    m->fd = memfd_create("capture", MFD_CLOEXEC);
    m->s = looks_open_to(m->fd, JSPROF_CLOCK_WALL, LOOKS_MANY_HZ, by);
    atomic_store(&m->n_running, n_running);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, LOOKS_STACK);
    bench_need(pipe(m->pipe) == 0, "pipe");
    for (int i = 0; i < LOOKS_THREADS; i++)
        bench_need(pthread_create(&m->threads[i], &attr, looks_many_thread, m) == 0,
                   "pthread_create");
    pthread_attr_destroy(&attr);
    while (atomic_load(&m->ready) < LOOKS_THREADS)
        poll(NULL, 0, 1);
    bench_need(jsprof_start(m->s.session) == 0, "jsprof_start");
    poll(NULL, 0, LOOKS_MANY_FIRST_MS);
}

static void looks_many_end(struct looks_many *m)
{
    atomic_store(&m->end, true);
    bench_need(write(m->pipe[1], "", 1) == 1, "write");
    for (int i = 0; i < LOOKS_THREADS; i++)
        pthread_join(m->threads[i], NULL);
    close(m->pipe[0]);
    close(m->pipe[1]);
    looks_close(m->s);
}

/* Return the number of looks that the capture reports: "N still, N walked, ...". */
static double looks_count(int fd)
{
    static const char name[] = "jsprof.looks";
    size_t size = (size_t)lseek(fd, 0, SEEK_END);
    char *text = malloc(size + 1);
    bench_need(text && pread(fd, text, size, 0) == (ssize_t)size, "reading the capture");
    text[size] = 0;
    char *at = memmem(text, size, name, sizeof name - 1);
    bench_need(at != NULL, "finding the looks");
    at += sizeof name - 1;
    while (at < text + size && !*at) /* to the value */
        at++;
    double sum = 0;
    for (int i = 0; i < 10; i++) { /* what follows are no looks */
        sum += strtod(at, &at);
        at = strchr(at, ',') ? strchr(at, ',') + 1 : at;
    }
    free(text);
    return sum;
}

/* What the library takes from the processors, in ns of CPU time. */
struct looks_spent {
    double looker, drain, handlers;
    double sleepers; /* what the threads run that sleep by themselves */
};

static struct looks_spent looks_many_spent(const struct looks_many *m, enum looks_by by)
{
    struct looks_spent s = { looks_cpu_of("jsprof-looker"), looks_cpu_of("jsprof-drain"), 0, 0 };
    if (by == LOOKS_LOOKER) /* the sleepers run no handlers */
        s.handlers = (double)looks_stats(m->s.session).handler_ns;
    for (int i = atomic_load(&m->n_running); i < LOOKS_THREADS; i++)
        s.sleepers += looks_cpu_ns(m->tids[i]);
    return s;
}

/* Wait, or work, for so long. */
static void looks_pass(int ms, bool works)
{
    double end = bench_ns(CLOCK_MONOTONIC) + ms * 1e6;
    while (bench_ns(CLOCK_MONOTONIC) < end)
        if (works)
            looks_work(1000);
        else
            poll(NULL, 0, 100);
}

struct looks_many_found {
    struct looks_spent part; /* percent of a processor */
    double looker_ns, looks; /* of the whole run */
    double clock_ns;         /* one reading of a sleeper's CPU clock */
};

static double looks_clock_ns(const struct looks_many *m)
{
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < LOOKS_THREADS; i++)
        looks_cpu_ns(m->tids[i]);
    return (bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / LOOKS_THREADS;
}

static struct looks_many_found looks_many_run(enum looks_by by, int n_running, int ms)
{
    static struct looks_many m;
    looks_many_begin(&m, by, n_running);
    double begin = bench_ns(CLOCK_MONOTONIC);
    struct looks_spent before = looks_many_spent(&m, by);
    looks_pass(ms, !n_running);
    struct looks_spent after = looks_many_spent(&m, by);
    double percent = 100 / (bench_ns(CLOCK_MONOTONIC) - begin);
    struct looks_many_found found = { .part = {
        (after.looker - before.looker) * percent, (after.drain - before.drain) * percent,
        (after.handlers - before.handlers) * percent, (after.sleepers - before.sleepers) * percent,
    } };
    found.clock_ns = looks_clock_ns(&m);
    found.looker_ns = by == LOOKS_LOOKER ? looks_cpu_of("jsprof-looker") : 0;
    looks_many_end(&m);
    found.looks = by == LOOKS_LOOKER ? looks_count(m.fd) : 1;
    close(m.fd);
    return found;
}

/* Return the looker's CPU time in so many ms with one thread, which runs: it is its wakes. */
static double looks_wakes_ns(int ms)
{
    struct looks_session s = looks_open(JSPROF_CLOCK_WALL, LOOKS_MANY_HZ, LOOKS_LOOKER);
    bench_need(jsprof_start(s.session) == 0, "jsprof_start");
    double before = looks_cpu_of("jsprof-looker");
    looks_pass(ms, true);
    double ns = looks_cpu_of("jsprof-looker") - before;
    looks_close(s);
    return ns;
}

static double looks_sum_of(const struct looks_spent *s)
{
    return s->looker + s->drain + s->handlers + s->sleepers;
}

static void looks_many(void)
{
    char beside[120];
    struct looks_many_found found = looks_many_run(LOOKS_TIMER, LOOKS_RUNNING, LOOKS_MANY_MS);
    double timers = looks_sum_of(&found.part);
    found = looks_many_run(LOOKS_LOOKER, LOOKS_RUNNING, LOOKS_MANY_MS);
    snprintf(beside, sizeof beside, "of a processor; timers %.1f%%", timers);
    looks_one("1,000 threads, 10 running, wall 100 Hz", "<= 2%", 2, "%", beside,
              looks_sum_of(&found.part));
    looks_one("  of it the looker", NULL, 0, "%", "-", found.part.looker);
    looks_one("  of it the drain", NULL, 0, "%", "-", found.part.drain);
    looks_one("  of it in handlers", NULL, 0, "%", "-", found.part.handlers);
    struct looks_many_found brief = looks_many_run(LOOKS_LOOKER, 0, LOOKS_MANY_MS);
    found = looks_many_run(LOOKS_LOOKER, 0, 2 * LOOKS_MANY_MS);
    double wakes = looks_wakes_ns(LOOKS_MANY_MS);
    snprintf(beside, sizeof beside, "reading its CPU clock alone %.0f ns; a wake is %.1f us more",
             found.clock_ns, wakes / (LOOKS_MANY_MS * LOOKS_MANY_HZ / 1000) / 1000);
    looks_one("1,000 threads, 1 running: a look", "<= 1000 ns", 1000, " ns", beside,
              (found.looker_ns - brief.looker_ns - wakes) / (found.looks - brief.looks));
}

/* -- Nothing runs ---------------------------------------------------------------- */

enum { LOOKS_SETTLE_MS = 10000, LOOKS_IDLE_MS = 10000 };

static double looks_naps(pid_t tid)
{
    char path[64], line[128];
    unsigned long long naps = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        sscanf(line, "voluntary_ctxt_switches: %llu", &naps);
    bench_need(f && naps, "reading how often a thread has slept");
    fclose(f);
    return (double)naps;
}

/* The threads of the library, and how often they woke up in the time measured. */
struct looks_idle {
    pid_t looker[LOOKS_OWN], drain[LOOKS_OWN];
    int n_looker, n_drain;
    double looker_woke, drain_woke;
};

static double looks_naps_of(const pid_t *tids, int n)
{
    double naps = 0;
    while (n-- > 0)
        naps += looks_naps(tids[n]);
    return naps;
}

/* Not in the thread that the session has: reading these numbers would be a reason to wake up. */
static void *looks_idle_thread(void *arg)
{
    struct looks_idle *i = arg;
    i->n_looker = looks_find("jsprof-looker", i->looker);
    i->n_drain = looks_find("jsprof-drain", i->drain);
    bench_need(i->n_drain > 0, "finding the drain");
    poll(NULL, 0, LOOKS_SETTLE_MS);
    double looker = looks_naps_of(i->looker, i->n_looker);
    double drain = looks_naps_of(i->drain, i->n_drain);
    poll(NULL, 0, LOOKS_IDLE_MS);
    i->looker_woke = looks_naps_of(i->looker, i->n_looker) - looker;
    i->drain_woke = looks_naps_of(i->drain, i->n_drain) - drain;
    return NULL;
}

static void looks_idle(int clock, const char *name, enum looks_by by)
{
    char text[80];
    struct looks_idle found;
    pthread_t thread;
    struct looks_session s = looks_open(clock, LOOKS_HZ, by);
    bench_need(jsprof_start(s.session) == 0, "jsprof_start");
    bench_need(pthread_create(&thread, NULL, looks_idle_thread, &found) == 0, "pthread_create");
    pthread_join(thread, NULL);
    snprintf(text, sizeof text, "idle for 10 s, %s: wakes of the looker", name);
    if (by == LOOKS_LOOKER)
        looks_one(text, "0", 0, "", "in the 10 s after that", found.looker_woke);
    looks_one(by == LOOKS_LOOKER ? "  of the drain" : "  of the drain, with timers",
              by == LOOKS_LOOKER ? "0" : NULL, 0, "", "-", found.drain_woke);
    looks_close(s);
}

/* -- Where the looker must wait for a processor ---------------------------------- */

enum { LOOKS_STARVED_NS = 600000000 }; /* CPU time of a turn */

static double looks_starved_turn(int clock)
{
    struct looks_session s = looks_open(clock, LOOKS_HZ, LOOKS_LOOKER);
    bench_need(jsprof_start(s.session) == 0, "jsprof_start");
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID), ran;
    do
        looks_work(1000);
    while ((ran = bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin) < LOOKS_STARVED_NS);
    bench_need(jsprof_stop(s.session) == 0, "jsprof_stop");
    double samples = (double)looks_stats(s.session).samples;
    looks_close(s);
    return samples / (ran / 1e9);
}

static void looks_starved(int clock, const char *name)
{
    enum { TURNS = 4 };
    char text[80];
    struct bench_series rate = { .n = 0 };
    for (int i = 0; i < TURNS; i++)
        bench_add(&rate, looks_starved_turn(clock));
    snprintf(text, sizeof text, "samples a second of CPU time, %s", name);
    looks_row(text, NULL, 0, "", "1000 asked for", &rate);
}

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "";
    if (strcmp(mode, "busy") == 0) {
        looks_busy(JSPROF_CLOCK_WALL, "wall", LOOKS_HZ);
        looks_busy(JSPROF_CLOCK_CPU, "CPU", LOOKS_HZ);
        looks_busy(JSPROF_CLOCK_CPU, "CPU", LOOKS_HZ / 10);
    } else if (strcmp(mode, "many") == 0) {
        looks_many();
    } else if (strcmp(mode, "idle") == 0) {
        looks_idle(JSPROF_CLOCK_WALL, "wall", LOOKS_LOOKER);
        looks_idle(JSPROF_CLOCK_CPU, "CPU", LOOKS_LOOKER);
        looks_idle(JSPROF_CLOCK_CPU, "CPU", LOOKS_TIMER);
    } else if (strcmp(mode, "starved") == 0) {
        bench_beside();
        looks_starved(JSPROF_CLOCK_CPU, "CPU");
        looks_starved(JSPROF_CLOCK_WALL, "wall");
    } else {
        return fprintf(stderr, "usage: looks busy|many|idle|starved\n"), 2;
    }
    return 0;
}
