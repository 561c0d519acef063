/* sched_test.c - src/session/sched.c: what the capture has of the scheduler is what the kernel
 * counts.
 *
 * SPDX-License-Identifier: MIT
 */
#include <sys/resource.h>

#include "../deny.h"
#include "analyze/events.h"
#include "host.h"

enum { SCHED_NAPS = 200, SCHED_BURN_MS = 40, SCHED_MOVES = 40 };

static int sched_clock = JSPROF_CLOCK_CPU;

static jsprof_options sched_options(void)
{
    jsprof_options options = host_options(100, sched_clock);
    options.flags |= JSPROF_SCHED;
    return options;
}

static bool sched_is(struct jsp_read_text text, const char *name)
{
    return text.len == strlen(name) && memcmp(text.at, name, text.len) == 0;
}

/* Two threads on one processor stop each other. */
static _Atomic uint32_t sched_end;

static void *sched_spin(void *arg)
{
    sched_setaffinity(0, sizeof(cpu_set_t), arg);
    while (!host_counted(&sched_end))
        continue;
    return NULL;
}

struct sched_truth {
    uint64_t begin_ns, end_ns;
    long slept, stopped;         /* of the main thread, in this time */
    long least[2], most[2];      /* of the process: they lie between */
};

/* Go from processor to processor. */
static void sched_move(const cpu_set_t *all)
{
    cpu_set_t one;
    for (size_t i = 0, n = 0; n < SCHED_MOVES && CPU_COUNT(all) > 1; i = (i + 1) % CPU_SETSIZE)
        if (CPU_ISSET(i, all)) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
            n++;
        }
}

static void sched_program(struct sched_truth *truth)
{
    cpu_set_t all, one;
    struct rusage before, after;
    sched_getaffinity(0, sizeof all, &all);
    sched_move(&all);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    host_recount(&sched_end);
    pthread_t spinner = host_thread(sched_spin, &one);
    sched_setaffinity(0, sizeof one, &one);
    getrusage(RUSAGE_THREAD, &before);
    truth->begin_ns = host_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < SCHED_NAPS; i++)
        nanosleep(&(struct timespec){ 0, 200000 }, NULL);
    host_burn_ms(SCHED_BURN_MS);
    truth->end_ns = host_ns(CLOCK_MONOTONIC);
    getrusage(RUSAGE_THREAD, &after);
    host_count(&sched_end);
    sched_setaffinity(0, sizeof all, &all);
    pthread_join(spinner, NULL);
    truth->slept = after.ru_nvcsw - before.ru_nvcsw;
    truth->stopped = after.ru_nivcsw - before.ru_nivcsw;
}

static struct jsp_events sched_read(struct host *h)
{
    struct jsp_events e = { .n_marks = 0 };
    CHECK_EQ(jsp_events_read(&e, &h->profile, (struct jsp_events_of){ 0 }), 0);
    return e;
}

static void sched_marks(const struct jsp_events *e, const struct sched_truth *truth)
{
    long slept = 0, stopped = 0;
    for (uint32_t i = 0; i < e->n_marks; i++) {
        uint64_t begin = (uint64_t)e->marks[i].time;
        if (begin < truth->begin_ns || begin > truth->end_ns)
            continue;
        CHECK(sched_is(e->marks[i].group, "scheduler"));
        slept += sched_is(e->marks[i].name, "slept");
        stopped += sched_is(e->marks[i].name, "stopped");
    }
    printf("# %ld times slept of %ld, %ld times stopped of %ld\n", slept, truth->slept, stopped,
           truth->stopped);
    CHECK_EQ(slept, truth->slept);
    /* it may be stopped between the two clocks */
    CHECK(stopped <= truth->stopped && stopped + 2 >= truth->stopped);
}

/* Return the last value of the counter of this name, -1 if it has none. */
static long sched_counter(const struct jsp_events *e, const char *name)
{
    long last = -1;
    for (uint32_t i = 0; i < e->n_values; i++)
        if (sched_is(e->counters[e->values[i].counter].name, name))
            last = (long)e->values[i].value;
    return last;
}

static bool sched_record(struct host *h, struct sched_truth *truth)
{
    jsprof_thread *me;
    struct rusage r[4];
    if (!CHECK_EQ(host_open_with(h, sched_options()), 0) ||
        !CHECK_EQ(jsprof_thread_attach(h->prof, "main", &me), 0))
        return false;
    getrusage(RUSAGE_SELF, &r[0]);
    if (!CHECK_EQ(jsprof_start(h->prof), 0))
        return false;
    getrusage(RUSAGE_SELF, &r[1]);
    sched_program(truth);
    getrusage(RUSAGE_SELF, &r[2]);
    if (!host_close(h))
        return false;
    getrusage(RUSAGE_SELF, &r[3]);
    truth->least[0] = r[2].ru_nvcsw - r[1].ru_nvcsw;
    truth->least[1] = r[2].ru_nivcsw - r[1].ru_nivcsw;
    truth->most[0] = r[3].ru_nvcsw - r[0].ru_nvcsw;
    truth->most[1] = r[3].ru_nivcsw - r[0].ru_nivcsw;
    return true;
}

static void sched_counters(const struct jsp_events *e, const struct sched_truth *truth)
{
    static const char *const names[2] = { "voluntary switches", "involuntary switches" };
    for (int i = 0; i < 2; i++) {
        long n = sched_counter(e, names[i]);
        printf("# %ld %s, %ld to %ld\n", n, names[i], truth->least[i], truth->most[i]);
        CHECK(n >= truth->least[i] && n <= truth->most[i]);
    }
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    printf("# %ld migrations\n", sched_counter(e, "migrations"));
    /* the first move may be none */
    CHECK(CPU_COUNT(&all) < 2 || access("/proc/self/sched", R_OK) != 0 ||
          sched_counter(e, "migrations") >= SCHED_MOVES - 1);
}

TEST(each_switch_of_a_thread_is_a_mark)
{
    struct host h = { 0 };
    struct sched_truth truth = { 0 };
    if (!sched_record(&h, &truth))
        return;
    if (strncmp(h.profile.sched, "counters only", 13) == 0) {
        SKIP("needs perf_event_open");
    } else {
        struct jsp_events e = sched_read(&h);
        sched_marks(&e, &truth);
        sched_counters(&e, &truth);
        CHECK(sched_counter(&e, "waiting for a processor") > 1000);
        jsp_events_free(&e);
    }
    host_free(&h);
}

static int sched_denied(void)
{
    struct host h = { 0 };
    struct sched_truth truth = { 0 };
    if (!deny(&(const int){ SYS_perf_event_open }, 1, EACCES))
        return 77;
    if (!sched_record(&h, &truth))
        return 1;
    struct jsp_events e = sched_read(&h);
    CHECK_STR(h.profile.sched, sched_clock == JSPROF_CLOCK_WALL
                                   ? "counters, and states of samples (perf_event_open: error 13)"
                                   : "counters only (perf_event_open: error 13)");
    CHECK_EQ(e.n_marks, 0);
    sched_counters(&e, &truth);
    if (sched_clock == JSPROF_CLOCK_WALL)
        CHECK(h.profile.by_state[JSP_STATE_ASLEEP] && h.profile.by_state[JSP_STATE_WAITING]);
    jsp_events_free(&e);
    host_free(&h);
    return test_bad != 0;
}

TEST(where_the_kernel_refuses_there_are_counters)
{
    int status = host_in_child(sched_denied);
    if (status == 77)
        SKIP("needs a kernel with seccomp filters");
    else
        CHECK_EQ(status, 0);
}

/* The states of samples are there in place of marks. */
TEST(where_the_kernel_refuses_the_looker_has_states)
{
    sched_clock = JSPROF_CLOCK_WALL;
    int status = host_in_child(sched_denied);
    sched_clock = JSPROF_CLOCK_CPU;
    if (status == 77)
        SKIP("needs a kernel with seccomp filters");
    else
        CHECK_EQ(status, 0);
}

TEST(who_did_not_ask_has_none)
{
    struct host h = { 0 };
    jsprof_thread *me;
    if (!host_begin_with(&h, host_options(100, JSPROF_CLOCK_CPU), &me))
        return;
    host_burn_ms(50);
    if (host_close(&h)) {
        struct jsp_events e = sched_read(&h);
        CHECK_EQ(e.n_marks, 0);
        CHECK_EQ(e.n_counters, 0);
        CHECK_STR(h.profile.sched, "");
        jsp_events_free(&e);
    }
    host_free(&h);
}

TEST_MAIN()
