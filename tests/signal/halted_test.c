/* halted_test.c - src/session/{looker,looker_wall}.c: the time for which a process was stopped, by
 * Ctrl-Z for example, is no wait for a processor, and no time at which it ran.
 *
 * SPDX-License-Identifier: MIT
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "looker.h"

enum { HALTED_MS = 1500, HALTED_WORK_MS = 300, HALTED_HZ = 1000 };

static _Atomic uint32_t halted_end;
static uint64_t *halted_ns; /* shared: for how long the other process stopped this one */

static void *halted_spin(void *unused)
{
    (void)unused;
    while (!host_counted(&halted_end))
        continue;
    return NULL;
}

__attribute__((noinline)) static void halted_work(void)
{
    uint64_t until = host_ns(CLOCK_THREAD_CPUTIME_ID) + HALTED_WORK_MS * UINT64_C(1000000);
    while (host_ns(CLOCK_MONOTONIC) && host_ns(CLOCK_THREAD_CPUTIME_ID) < until)
        for (volatile int i = 0; i < 20000; i = i + 1)
            continue;
}

/* Let another process stop this one. */
static void halted_stop(void)
{
    pid_t pid = getpid(), child = fork();
    if (child == 0) {
        usleep(100000);
        uint64_t from = host_ns(CLOCK_MONOTONIC);
        kill(pid, SIGSTOP);
        usleep(HALTED_MS * 1000);
        kill(pid, SIGCONT);
        *halted_ns = host_ns(CLOCK_MONOTONIC) - from;
        _exit(0);
    }
    CHECK(child > 0);
}

static uint64_t halted_weight(struct host *h, uint8_t state)
{
    uint64_t n = 0;
    for (uint32_t s = 0; s < h->profile.n_stacks; s++)
        if (jsp_profile_state(&h->profile, s)->state == state && host_stack_has(h, s, "work"))
            n += h->profile.stacks[s].weight;
    return n;
}

/* `spinners`: beside the thread on its processor. */
static void halted_beside(int spinners)
{
    struct host h;
    jsprof_thread *me;
    pthread_t spinner[2];
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (spinners)
        sched_setaffinity(0, sizeof one, &one);
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, HALTED_HZ), &me))
        return;
    host_recount(&halted_end);
    for (int i = 0; i < spinners; i++)
        spinner[i] = host_thread(halted_spin, NULL);
    jsprof_push(me, "work", NULL, 0);
    halted_stop();
    halted_work();
    jsprof_pop(me);
    host_count(&halted_end);
    for (int i = 0; i < spinners; i++)
        pthread_join(spinner[i], NULL);
    wait(NULL);
    sched_setaffinity(0, sizeof all, &all);
    if (host_close(&h)) {
        host_check(&h);
        uint64_t stopped = halted_weight(&h, JSP_STATE_STOPPED);
        uint64_t waiting = halted_weight(&h, JSP_STATE_WAITING);
        uint64_t running = halted_weight(&h, JSP_STATE_RUNNING);
        printf("# %d beside: %" PRIu64 " ms running, %" PRIu64 " waiting, %" PRIu64 " stopped\n",
               spinners, running, waiting, stopped);
        uint64_t truth = *halted_ns / 1000000;
        CHECK(truth >= HALTED_MS);
        CHECK(stopped > truth - truth / 10 && stopped < truth + truth / 10);
        CHECK_EQ(host_weight(&h, JSP_STATE_STOPPED_FRAME), stopped);
        /* as long as the spinners ran meanwhile, and half as much again beside other programs */
        CHECK(waiting < (uint64_t)(HALTED_WORK_MS * spinners * 3 / 2 + HALTED_MS / 5));
    }
    host_free(&h);
}

TEST(time_of_a_stopped_process_is_no_wait)
{
    halted_beside(0);
}

TEST(time_of_a_stopped_process_is_no_wait_beside_others)
{
    halted_beside(2);
}

int main(void)
{
    halted_ns = mmap(NULL, sizeof *halted_ns, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(halted_ns != MAP_FAILED))
        return 1;
    RUN(time_of_a_stopped_process_is_no_wait);
    RUN(time_of_a_stopped_process_is_no_wait_beside_others);
    return DONE();
}
