/* sleepers.c - what the looker costs where most threads sleep, beside the timers in the same run.
 *
 * SPDX-License-Identifier: MIT
 *
 * 1,000 attached threads on the wall clock, of which ten run, or none. That an idle process has no
 * wake is for tests/sim/account_test.c.
 */
#include <sys/mman.h>

#include "looks.h"

/* -- Many threads --------------------------------------------------------------- */

enum { LOOKS_THREADS = 1000, LOOKS_RUNNING = 10, LOOKS_MANY_HZ = 100, LOOKS_MANY_MS = 3000,
       LOOKS_MANY_FIRST_MS = 1000, LOOKS_SETTLED_MS = 20000, LOOKS_PAIRS = 5,
       LOOKS_GROUPS = 32, /* as the looker's: a look meets one of them */
       LOOKS_STACK = 1 << 16 };

struct looks_many {
    struct looks_session s;
    int fd; /* of the capture */
    atomic_int ready, n_running; /* threads of which so many run */
    atomic_bool end;
    int pipe[2];
    bool reads;     /* see looks_bare */
    double bare_ns;
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

static void looks_many_begin(struct looks_many *m, enum looks_by by, int n_running,
                             int first_ms)
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
    looks_pass(first_ms, false);
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

struct looks_many_found {
    struct looks_spent part; /* percent of a processor */
    double looker_ns, looks; /* of the whole run */
    double clock_ns;         /* one reading of a sleeper's CPU clock ... */
    double rare_ns;          /* ... and of one that was not read for some time */
    double bare;             /* percent of a processor; see looks_bare */
};

/* One reading in a row of them. */
static double looks_clock_ns(const struct looks_many *m)
{
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < LOOKS_THREADS; i++)
        looks_cpu_ns(m->tids[i]);
    return (bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / LOOKS_THREADS;
}

/* The floor: a thread that wakes up as often, and asks the kernel what a look must at least, if it
 * is to: the CPU clocks of a group of sleepers and of those that run, and whether these wait. */
static void *looks_bare(void *many)
{
    struct looks_many *m = many;
    int n = atomic_load(&m->n_running), fd[LOOKS_RUNNING];
    char text[256];
    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof text, "/proc/self/task/%d/syscall", (int)m->tids[i]);
        fd[i] = open(text, O_RDONLY | O_CLOEXEC);
    }
    double begin = bench_ns(CLOCK_THREAD_CPUTIME_ID), at = bench_ns(CLOCK_MONOTONIC);
    for (int turn = 0; turn < LOOKS_MANY_MS * LOOKS_MANY_HZ / 1000; turn++) {
        at += 1e9 / LOOKS_MANY_HZ;
        struct timespec until = { (time_t)(at / 1e9), (long)((uint64_t)at % 1000000000u) };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        for (int i = n + turn % LOOKS_GROUPS; m->reads && i < LOOKS_THREADS; i += LOOKS_GROUPS)
            looks_cpu_ns(m->tids[i]);
        for (int i = 0; i < n; i++)
            bench_need(looks_cpu_ns(m->tids[i]) > 0 && pread(fd[i], text, sizeof text, 0) > 0,
                       "asking the kernel about a thread");
    }
    m->bare_ns = bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    for (int i = 0; i < n; i++)
        close(fd[i]);
    return NULL;
}

static double looks_bare_ns(struct looks_many *m, bool reads)
{
    pthread_t thread;
    m->reads = reads;
    bench_need(pthread_create(&thread, NULL, looks_bare, m) == 0, "pthread_create");
    if (!atomic_load(&m->n_running))
        looks_pass(LOOKS_MANY_MS, true); /* as in the run: the processor does not sleep */
    pthread_join(thread, NULL);
    return m->bare_ns;
}

static struct looks_many_found looks_many_run(enum looks_by by, int n_running, int first_ms,
                                              int ms)
{
    static struct looks_many m;
    looks_many_begin(&m, by, n_running, first_ms);
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
    bench_need(jsprof_stop(m.s.session) == 0, "jsprof_stop");
    if (by == LOOKS_LOOKER && n_running)
        found.bare = looks_bare_ns(&m, true) / (LOOKS_MANY_MS * 1e6) * 100;
    if (!n_running)
        found.rare_ns = (looks_bare_ns(&m, true) - looks_bare_ns(&m, false)) /
                        (LOOKS_MANY_MS * LOOKS_MANY_HZ / 1000.0 * LOOKS_THREADS / LOOKS_GROUPS);
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

/* The floor where the limit was set. */
#define LOOKS_MANY_FLOOR 0.55

static void looks_many(void)
{
    char beside[120];
    struct looks_many_found found = looks_many_run(LOOKS_TIMER, LOOKS_RUNNING,
                                                    LOOKS_MANY_FIRST_MS, LOOKS_MANY_MS);
    double timers = looks_sum_of(&found.part);
    found = looks_many_run(LOOKS_LOOKER, LOOKS_RUNNING, LOOKS_MANY_FIRST_MS, LOOKS_MANY_MS);
    double early = looks_sum_of(&found.part);
    found = looks_many_run(LOOKS_LOOKER, LOOKS_RUNNING, LOOKS_SETTLED_MS, LOOKS_MANY_MS);
    snprintf(beside, sizeof beside, "of a processor; timers %.1f%%", timers);
    struct bench_series all = { .n = 0 };
    bench_add(&all, looks_sum_of(&found.part));
    looks_scaled("1,000 threads, 10 running, wall 100 Hz", "<= 2%", 2, found.bare,
                 LOOKS_MANY_FLOOR, beside, &all);
    looks_one("  of it the looker", NULL, 0, "%", "-", found.part.looker);
    looks_one("  of it the drain", NULL, 0, "%", "-", found.part.drain);
    looks_one("  of it in handlers", NULL, 0, "%", "-", found.part.handlers);
    looks_one("  the floor: bare wakes and questions", NULL, 0, "%", "no samples", found.bare);
    looks_one("  all of it, 1 s after the start", NULL, 0, "%", "the others: 20 s after it", early);
    struct bench_series look = { .n = 0 }, clock = { .n = 0 }, rare = { .n = 0 };
    double wakes = looks_wakes_ns(LOOKS_MANY_MS);
    for (int i = 0; i < LOOKS_PAIRS; i++) {
        struct looks_many_found brief = looks_many_run(LOOKS_LOOKER, 0, LOOKS_MANY_FIRST_MS,
                                                       LOOKS_MANY_MS);
        found = looks_many_run(LOOKS_LOOKER, 0, LOOKS_MANY_FIRST_MS, 2 * LOOKS_MANY_MS);
        bench_add(&look, (found.looker_ns - brief.looker_ns - wakes) / (found.looks - brief.looks));
        bench_add(&clock, found.clock_ns);
        bench_add(&rare, found.rare_ns);
    }
    snprintf(beside, sizeof beside, "a wake is %.1f us more",
             wakes / (LOOKS_MANY_MS * LOOKS_MANY_HZ / 1000) / 1000);
    looks_row("1,000 threads, 1 running: a look", "<= 1000 ns", 1000, " ns", beside, &look);
    snprintf(beside, sizeof beside, "a thread reads the clocks as rarely; in a row %.0f ns",
             bench_median(&clock));
    looks_row("  the floor: its CPU clock", NULL, 0, " ns", beside, &rare);
}

int main(void)
{
    looks_many();
    return 0;
}
