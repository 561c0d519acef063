/* turns_test.c - src/session/{looker,looked,looker_wall}.c: a function in which the scheduler
 * often ends a thread's turn has its time, and no more, beside another program on the processor.
 *
 * Such a function asks for a CPU clock, for example: the kernel then finds that the turn is over.
 * Where the looker took each thread that waits beside it for one that it has interrupted, 31 to
 * 34 % of the samples on both clocks were in calls that took 1.7 % of the time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "looker.h"

enum { TURNS_MS = 1000, TURNS_WORK = 40000, TURNS_ASKS = 20000, TURNS_TRIES = 3 };

static _Atomic uint32_t turns_end;

static void *turns_spin(void *unused)
{
    (void)unused;
    while (!host_counted(&turns_end))
        continue;
    return NULL;
}

__attribute__((noinline)) static uint64_t turns_ask(void)
{
    return host_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Return how long a call takes on average, in ns. */
static double turns_price(void)
{
    uint64_t from = host_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < TURNS_ASKS; i++)
        turns_ask();
    return (double)(host_ns(CLOCK_THREAD_CPUTIME_ID) - from) / TURNS_ASKS;
}

/* Work and ask in turns. Return how often it asked. */
static uint32_t turns_work(jsprof_thread *me)
{
    uint64_t until = host_ns(CLOCK_THREAD_CPUTIME_ID) + TURNS_MS * 1000000u;
    uint32_t n = 0;
    jsprof_push(me, "work", NULL, 0);
    for (bool goes_on = true; goes_on; n++) {
        for (volatile int i = 0; i < TURNS_WORK; i = i + 1)
            continue;
        jsprof_push(me, "ask", NULL, 0);
        turns_ask();
        jsprof_pop(me);
        goes_on = n % 64 || host_ns(CLOCK_THREAD_CPUTIME_ID) < until;
    }
    jsprof_pop(me);
    return n;
}

/* Return how many samples met the thread in this function while it ran. */
static double turns_samples(struct host *h, const char *name)
{
    uint64_t samples = 0;
    for (uint32_t s = 0; s < h->profile.n_stacks; s++)
        if (jsp_profile_state(&h->profile, s)->state != JSP_STATE_WAITING &&
            host_stack_has(h, s, name))
            samples += h->profile.stacks[s].samples;
    return (double)samples;
}

static bool turns_try(int clock)
{
    struct host h;
    jsprof_thread *me;
    bool is_near = false;
    double price = turns_price();
    if (!host_begin_with(&h, faults_options(clock, 1000), &me))
        return false;
    host_recount(&turns_end);
    pthread_t spinner = host_thread(turns_spin, NULL);
    uint32_t n = turns_work(me);
    host_count(&turns_end);
    pthread_join(spinner, NULL);
    if (host_close(&h)) {
        host_check(&h);
        double truth = n * price / (TURNS_MS * 1e4), all = turns_samples(&h, "work");
        double share = 100 * turns_samples(&h, "ask") / all;
        printf("# %.1f %% of %.0f samples in %u calls, which took %.1f %%\n", share, all, n, truth);
        CHECK(all > 0);
        is_near = share < 2 * truth + 6;
    }
    host_free(&h);
    return is_near;
}

static void turns_at(int clock)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    bool is_near = false;
    for (int tries = TURNS_TRIES; tries > 0 && !is_near; tries--)
        is_near = turns_try(clock);
    CHECK(is_near);
    sched_setaffinity(0, sizeof all, &all);
}

TEST(function_in_which_turns_end_has_its_time_on_the_cpu_clock)
{
    turns_at(JSPROF_CLOCK_CPU);
}

TEST(function_in_which_turns_end_has_its_time_on_the_wall_clock)
{
    turns_at(JSPROF_CLOCK_WALL);
}

int main(void)
{
    RUN(function_in_which_turns_end_has_its_time_on_the_cpu_clock);
    RUN(function_in_which_turns_end_has_its_time_on_the_wall_clock);
    return DONE();
}
