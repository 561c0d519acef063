/* truth_test.c - the states of samples are what the kernel itself counts: a thread polls, waits for
 * a futex, waits for a processor beside a spinner, and runs, while both processors are busy.
 *
 * LONG=1: two runs of 20 s, each share within 1 point; otherwise one of 3 s, within 2. A run is
 * made again where other programs make the looker late: then it guesses in which call one slept.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>

#include "looker.h"

enum {
    TRUTH_POLL_MS = 8, TRUTH_FUTEX_NS = 5000000, TRUTH_RUN_NS = 3000000,
    TRUTH_TRIES = 3, TRUTH_SPINNERS = 2, TRUTH_WAIT_PRIVATE = 0 | 128,
};

enum truth_part { TRUTH_IN_POLL, TRUTH_IN_FUTEX, TRUTH_WAITING, TRUTH_RUNNING,
                  TRUTH_OTHER, TRUTH_N };

static const char *const truth_names[TRUTH_N] = { "poll", "futex", "waiting", "running",
                                             "other" };

static _Atomic uint32_t truth_end;

/* What the kernel counts of this thread; the rest of the time it sleeps. */
struct truth_at {
    uint64_t now, ran, waited;
};

static int truth_file;

static struct truth_at truth_now(void)
{
    char text[96] = "";
    unsigned long long ran = 0, waited = 0;
    struct truth_at at = { .now = host_ns(CLOCK_MONOTONIC) };
    CHECK(pread(truth_file, text, sizeof text - 1, 0) > 0);
    CHECK_EQ(sscanf(text, "%llu %llu", &ran, &waited), 2);
    at.ran = host_ns(CLOCK_THREAD_CPUTIME_ID);
    at.waited = waited;
    return at;
}

static void truth_add(uint64_t sum[TRUTH_N], enum truth_part asleep, const struct truth_at *from,
                      const struct truth_at *to)
{
    uint64_t all = to->now - from->now, ran = to->ran - from->ran;
    uint64_t waited = to->waited - from->waited;
    sum[TRUTH_RUNNING] += ran;
    sum[TRUTH_WAITING] += waited;
    if (asleep != TRUTH_RUNNING)
        sum[asleep] += all > ran + waited ? all - ran - waited : 0;
}

static void truth_cycle(uint64_t sum[TRUTH_N])
{
    static uint32_t word;
    const struct timespec most = { 0, TRUTH_FUTEX_NS };
    struct truth_at at[4];
    at[0] = truth_now();
    poll(NULL, 0, TRUTH_POLL_MS);
    at[1] = truth_now();
    syscall(SYS_futex, &word, TRUTH_WAIT_PRIVATE, 0, &most, NULL, 0);
    at[2] = truth_now();
    while (host_ns(CLOCK_THREAD_CPUTIME_ID) < at[2].ran + TRUTH_RUN_NS)
        continue;
    at[3] = truth_now();
    truth_add(sum, TRUTH_IN_POLL, &at[0], &at[1]);
    truth_add(sum, TRUTH_IN_FUTEX, &at[1], &at[2]);
    truth_add(sum, TRUTH_RUNNING, &at[2], &at[3]);
}

/* The two spinners and the thread keep to two processors, and the thread to one of them. */
static cpu_set_t truth_cpus[TRUTH_SPINNERS];

static bool truth_find_cpus(void)
{
    cpu_set_t all;
    int n = 0;
    sched_getaffinity(0, sizeof all, &all);
    for (size_t i = 0; i < CPU_SETSIZE && n < TRUTH_SPINNERS; i++)
        if (CPU_ISSET(i, &all)) {
            CPU_ZERO(&truth_cpus[n]);
            CPU_SET(i, &truth_cpus[n++]);
        }
    return n == TRUTH_SPINNERS;
}

static void *truth_spin(void *cpu)
{
    CHECK_EQ(sched_setaffinity(0, sizeof(cpu_set_t), cpu), 0);
    while (!host_counted(&truth_end))
        continue;
    return NULL;
}

static void truth_seen(const struct host *h, uint64_t seen[TRUTH_N])
{
    const struct jsp_profile *p = &h->profile;
    for (uint32_t i = 0; i < p->n_stacks; i++) {
        const struct jsp_profile_state *s = jsp_profile_state(p, i);
        enum truth_part part = TRUTH_OTHER;
        if (s->state == JSP_STATE_WAITING)
            part = TRUTH_WAITING;
        else if (s->state == JSP_STATE_RUNNING)
            part = TRUTH_RUNNING;
        else if (jsp_read_is(s->detail, truth_names[TRUTH_IN_POLL]))
            part = TRUTH_IN_POLL;
        else if (jsp_read_is(s->detail, truth_names[TRUTH_IN_FUTEX]))
            part = TRUTH_IN_FUTEX;
        seen[part] += p->stacks[i].weight;
    }
}

static bool truth_is_near(const uint64_t truth[TRUTH_N], const struct host *h, int most)
{
    uint64_t seen[TRUTH_N] = { 0 }, all = 0;
    bool is_near = true;
    truth_seen(h, seen);
    for (int i = 0; i < TRUTH_N; i++)
        all += truth[i];
    for (int i = 0; i < TRUTH_N; i++) {
        double is = (double)truth[i] * 100 / (double)all;
        double was = (double)seen[i] * 100 / (double)h->profile.weight;
        printf("# %s: %.2f %% of samples, %.2f %% of the time\n", truth_names[i], was, is);
        is_near = is_near && was - is < most && is - was < most;
    }
    return is_near;
}

static bool truth_run(uint64_t ms, int most)
{
    struct host h;
    jsprof_thread *me;
    pthread_t spinners[TRUTH_SPINNERS];
    cpu_set_t all;
    uint64_t truth[TRUTH_N] = { 0 };
    bool is_near = false;
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 1000), &me))
        return false;
    sched_getaffinity(0, sizeof all, &all);
    host_recount(&truth_end);
    for (int i = 0; i < TRUTH_SPINNERS; i++)
        spinners[i] = host_thread(truth_spin, &truth_cpus[i]);
    sched_setaffinity(0, sizeof truth_cpus[0], &truth_cpus[0]);
    uint64_t until = host_ns(CLOCK_MONOTONIC) + ms * 1000000;
    while (host_ns(CLOCK_MONOTONIC) < until)
        truth_cycle(truth);
    host_count(&truth_end);
    sched_setaffinity(0, sizeof all, &all);
    for (int i = 0; i < TRUTH_SPINNERS; i++)
        pthread_join(spinners[i], NULL);
    if (host_close(&h)) {
        host_check(&h);
        is_near = truth_is_near(truth, &h, most);
        printf("# %s\n", h.profile.looks);
    }
    host_free(&h);
    return is_near;
}

TEST(states_have_the_shares_that_the_kernel_counts)
{
    bool is_long = faults_ms() > 1000;
    truth_file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (truth_file < 0 || !truth_find_cpus()) {
        SKIP("needs two processors and the kernel's counts of run queues");
        return;
    }
    for (int i = is_long ? 2 : 1; i > 0; i--) {
        bool is_near = false;
        for (int tries = TRUTH_TRIES; tries > 0 && !is_near; tries--)
            is_near = truth_run(is_long ? 20000 : 3000, is_long ? 1 : 2);
        CHECK(is_near);
    }
    close(truth_file);
}

int main(void)
{
    RUN(states_have_the_shares_that_the_kernel_counts);
    return DONE();
}
