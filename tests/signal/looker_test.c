/* looker_test.c - src/session/looker.c: one thread of the library samples all others, in place
 * of their timers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "host.h"
#include "session/thread.h"

static jsprof_options looker_options(uint32_t hz)
{
    jsprof_options options = host_options(hz, JSPROF_CLOCK_CPU);
    options.flags |= JSPROF_LOOKER;
    return options;
}

/* -- Rates ------------------------------------------------------------------ */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Both counts differ by the period at each end, and the clock is read outside of the session. */
static void rate_is_periods(const struct host *h, uint64_t began_ns)
{
    uint64_t ms = (host_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) / 1000000;
    printf("# %llu expirations in %llu ms\n", (unsigned long long)h->stats.expirations,
           (unsigned long long)ms);
    CHECK(distance(h->stats.expirations, ms) <= 4);
}

enum { RATE_SAMPLES = 200 };

TEST(busy_thread_has_as_many_expirations_as_periods)
{
    struct host h;
    jsprof_thread *me;
    jsprof_stats stats = { .size = sizeof stats };
    if (!host_begin_with(&h, looker_options(1000), &me))
        return;
    uint64_t began = host_ns(CLOCK_THREAD_CPUTIME_ID);
    jsprof_push(me, "work", NULL, 0);
    while (stats.samples < RATE_SAMPLES) {
        host_burn_ms(1);
        CHECK_EQ(jsprof_stats_get(h.prof, &stats), 0);
    }
    jsprof_pop(me);
    jsprof_stop(h.prof);
    uint64_t ended = host_ns(CLOCK_THREAD_CPUTIME_ID);
    if (host_close(&h)) {
        host_check(&h);
        CHECK_STR(h.profile.source, "looker");
        rate_is_periods(&h, began + host_ns(CLOCK_THREAD_CPUTIME_ID) - ended);
        CHECK(host_samples(&h, "work") >= RATE_SAMPLES / 2); /* of it is almost all the time */
    }
    host_free(&h);
}

enum { NAPS = 600, NAPS_CUT = NAPS / 15 };

/* The thread runs for about a third of the time, in turns shorter than a period. A signal that is
 * sent just before a sleep cuts it short, and the handler makes that call again where it can. So
 * 0 or 1 of 6000 sleeps were cut short on a busy machine, 2 to 19 without either precaution, and
 * 1000 where each point sends a signal. If each is cut with a chance of 1 in 6000, 40 of 600 are
 * with one of less than 1e-80; with the 100 that each point would cut, fewer are with 1e-10. */
TEST(thread_that_often_sleeps_has_its_time_and_is_not_interrupted)
{
    struct host h;
    jsprof_thread *me;
    uint32_t n_cut = 0;
    if (!host_begin_with(&h, looker_options(1000), &me))
        return;
    uint64_t began = host_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < NAPS; i++) {
        uint64_t until = host_ns(CLOCK_THREAD_CPUTIME_ID) + 300000;
        while (host_ns(CLOCK_THREAD_CPUTIME_ID) < until)
            continue;
        n_cut += nanosleep(&(struct timespec){ 0, 600000 }, NULL) < 0;
    }
    jsprof_stop(h.prof);
    uint64_t ended = host_ns(CLOCK_THREAD_CPUTIME_ID);
    if (host_close(&h)) {
        host_check(&h);
        rate_is_periods(&h, began + host_ns(CLOCK_THREAD_CPUTIME_ID) - ended);
        printf("# %u of %d sleeps cut short\n", n_cut, NAPS);
        CHECK(n_cut <= NAPS_CUT);
    }
    host_free(&h);
}

/* -- Many threads ----------------------------------------------------------- */

enum { SHORT_MAKERS = 2, SHORT_THREADS = 600 };

static void *short_life(void *arg)
{
    struct host *h = arg;
    jsprof_thread *me;
    if (jsprof_thread_attach(h->prof, "short", &me) != 0)
        return NULL;
    uint64_t until = host_ns(CLOCK_THREAD_CPUTIME_ID) + 300000;
    while (host_ns(CLOCK_THREAD_CPUTIME_ID) < until)
        continue;
    jsprof_thread_detach(me);
    return h;
}

static _Atomic uint32_t short_lives;

static void *short_maker(void *arg)
{
    for (int i = 0; i < SHORT_THREADS; i++) {
        void *lived;
        pthread_join(host_thread(short_life, arg), &lived);
        if (lived)
            host_count(&short_lives);
    }
    return NULL;
}

TEST(threads_that_end_under_the_look_are_accounted_for)
{
    struct host h;
    pthread_t makers[SHORT_MAKERS];
    if (!host_begin_with(&h, looker_options(1000), &(jsprof_thread *){ NULL }))
        return;
    for (int i = 0; i < SHORT_MAKERS; i++)
        makers[i] = host_thread(short_maker, &h);
    for (int i = 0; i < SHORT_MAKERS; i++)
        pthread_join(makers[i], NULL);
    CHECK_EQ(host_counted(&short_lives), SHORT_MAKERS * SHORT_THREADS);
    if (host_close(&h)) {
        uint64_t ns = 0;
        host_check(&h);
        for (uint32_t i = 0; i < h.profile.account.n_threads; i++)
            ns += h.profile.account.threads[i].clock_ns[JSP_CLOCK_CPU];
        printf("# %llu expirations in %llu ms\n", (unsigned long long)h.stats.expirations,
               (unsigned long long)ns / 1000000);
        CHECK(distance(h.stats.expirations, ns / 1000000) <= 10 + ns / 20000000);
    }
    host_free(&h);
}

enum { BUDGET_FILES = 40, BUDGET_THREADS = 20, BUDGET_SAMPLES = 5 };

static _Atomic uint32_t budget_attached;

/* Work until all threads are there and this one has samples, above the budget or not. */
static void *budget_worker(void *arg)
{
    struct host *h = arg;
    jsprof_thread *me;
    if (jsprof_thread_attach(h->prof, "worker", &me) != 0)
        return NULL;
    host_count(&budget_attached);
    while (host_counted(&budget_attached) < BUDGET_THREADS)
        sched_yield();
    for (uint32_t n = 0; n < BUDGET_SAMPLES; n++) {
        const struct jsp_ring *ring = &((struct jsp_thread *)(void *)me)->sampled.ring;
        uint64_t tail = jsp_ring_tail(ring);
        while (jsp_ring_tail(ring) == tail)
            host_burn_ms(1);
    }
    jsprof_thread_detach(me);
    return h;
}

/* The looker keeps ten files open. A thread at which it does not look never ends here. */
TEST(threads_above_the_budget_of_descriptors_are_looked_at_too)
{
    struct host h;
    struct rlimit old, low;
    pthread_t threads[BUDGET_THREADS];
    if (!CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0) ||
        !host_begin_with(&h, looker_options(1000), &(jsprof_thread *){ 0 }))
        return;
    jsprof_stop(h.prof);
    low = (struct rlimit){ BUDGET_FILES, old.rlim_max };
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    CHECK_EQ(jsprof_start(h.prof), 0);
    host_recount(&budget_attached);
    for (int i = 0; i < BUDGET_THREADS; i++)
        threads[i] = host_thread(budget_worker, &h);
    for (int i = 0; i < BUDGET_THREADS; i++) {
        void *worked;
        pthread_join(threads[i], &worked);
        CHECK(worked);
    }
    setrlimit(RLIMIT_NOFILE, &old);
    if (host_close(&h))
        host_check(&h);
    host_free(&h);
}

/* -- Several sessions ------------------------------------------------------- */

enum { SESSIONS = 3, SESSIONS_MS = 1000 };

/* Each has a looker of its own, and the kernel keeps one pending signal of a number. Where
 * each signal served only its own session, one lost 18 to 76 of 100 expirations so. */
TEST(sessions_of_one_thread_do_not_take_each_others_signals)
{
    struct host h[SESSIONS];
    for (int i = 0; i < SESSIONS; i++)
        if (!host_begin_with(&h[i], looker_options(1000), &(jsprof_thread *){ NULL }))
            return;
    host_burn_ms(SESSIONS_MS);
    for (int i = 0; i < SESSIONS; i++) {
        if (host_close(&h[i])) {
            host_check(&h[i]);
            CHECK(h[i].stats.expirations > SESSIONS_MS / 2);
            printf("# %llu of %llu blocked\n", (unsigned long long)h[i].stats.lost_blocked,
                   (unsigned long long)h[i].stats.expirations);
            /* the thread sanitizer blocks all signals while it calls a handler */
            CHECK(HOST_LATE || h[i].stats.lost_blocked <= h[i].stats.expirations / 20);
        }
        host_free(&h[i]);
    }
}

/* -- Signals that wait ------------------------------------------------------- */

enum { WAITING_MS = 1200 };

/* Each would be a queued signal of the user's limit, which timers and other programs share. */
TEST(blocked_real_time_signal_is_queued_once)
{
    struct host h;
    sigset_t ours;
    jsprof_options options = looker_options(1000);
    options.signo = SIGRTMIN + 3;
    if (!host_begin_with(&h, options, &(jsprof_thread *){ NULL }))
        return;
    sigemptyset(&ours);
    sigaddset(&ours, options.signo);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    host_burn_ms(WAITING_MS);
    int n = 0;
    while (n < 100 && sigtimedwait(&ours, NULL, &(struct timespec){ 0, 0 }) == options.signo)
        n++;
    CHECK_EQ(n, 1);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    if (host_close(&h))
        host_check(&h);
    host_free(&h);
}

/* -- Descriptors that the host closes ---------------------------------------- */

/* Return the descriptor of the looker for the only thread, or -1. */
static int closed_find(void)
{
    char path[32], to[64];
    for (int fd = 3; fd < 64; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        if (strstr(to, "/syscall"))
            return fd;
    }
    return -1;
}

TEST(descriptor_that_the_host_took_over_stays_open)
{
    struct host h;
    if (!host_begin_with(&h, looker_options(1000), &(jsprof_thread *){ NULL }))
        return;
    int fd, other = open("/dev/null", O_RDONLY | O_CLOEXEC);
    while ((fd = closed_find()) < 0) /* the looker opens it late */
        host_burn_ms(1);
    if (CHECK(fd >= 0) && CHECK_EQ(dup2(other, fd), fd)) {
        pid_t child = fork();
        if (!child)
            _exit(fcntl(fd, F_GETFD) < 0);
        CHECK_EQ(host_child_status(child), 0);
        jsprof_stop(h.prof);
        CHECK(fcntl(fd, F_GETFD) >= 0);
        close(fd);
    }
    close(other);
    if (host_close(&h))
        host_check(&h);
    host_free(&h);
}

/* -- Where the looker does not serve ---------------------------------------- */

static void source_is(jsprof_options options, const char *source)
{
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, options, &me))
        return;
    host_burn_ms(20);
    if (host_close(&h)) {
        host_check(&h);
        CHECK_STR(h.profile.source, source);
    }
    host_free(&h);
}

TEST(capture_names_the_source_and_why_it_is_not_the_looker)
{
    jsprof_options wall = looker_options(1000), alone = wall, timers = wall;
    wall.clock = JSPROF_CLOCK_WALL;
    alone.flags |= JSPROF_NO_THREAD;
    wall.flags = 0; /* the default */
    timers.flags = JSPROF_TIMER;
    source_is(looker_options(1000), "looker");
    source_is(wall, "looker");
    source_is(alone, "timer (no_thread was asked for)");
    source_is(timers, "timer");
}

int main(void)
{
    RUN(busy_thread_has_as_many_expirations_as_periods);
    RUN(thread_that_often_sleeps_has_its_time_and_is_not_interrupted);
    RUN(threads_that_end_under_the_look_are_accounted_for);
    RUN(threads_above_the_budget_of_descriptors_are_looked_at_too);
    RUN(sessions_of_one_thread_do_not_take_each_others_signals);
    RUN(blocked_real_time_signal_is_queued_once);
    RUN(descriptor_that_the_host_took_over_stays_open);
    RUN(capture_names_the_source_and_why_it_is_not_the_looker);
    return DONE();
}
