/* spare_test.c - src/session/spare.c: a thread gets the record of one that has ended, and finds
 * nothing of it there; few records are kept, and none while the process is idle.
 *
 * SPDX-License-Identifier: MIT
 */
#include <malloc.h>

#include "host.h"

static struct host h;
static _Atomic uint32_t wrong;

static void expect(bool is)
{
    if (!is)
        host_count(&wrong);
}

/* -- What the thread before has left ------------------------------------------- */

enum { LEFT_FRAMES = 3, LEFT_BURN_MS = 30, LEFT_SAMPLES = 5 };

static jsprof_thread *left_by; /* constant while the next thread runs */

static uint32_t left_walk(void *arg, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    (void)arg, (void)ucontext;
    if (max)
        *out = (jsprof_frame){ .label = "walked" };
    return max ? 1 : 0;
}

/* Leave everything open that a host can open, without a sample of it. */
static void *left_first(void *unused)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(h.prof, "first", &me) != 0)
        return unused;
    left_by = me;
    jsprof_push(me, "before", NULL, 0);
    host_burn_ms(LEFT_BURN_MS); /* so that its caches were used */
    jsprof_thread_pause(me);
    for (int i = 0; i < LEFT_FRAMES; i++)
        jsprof_push(me, "left", NULL, 0);
    expect(jsprof_thread_set_walker(me, left_walk, NULL) == 0);
    expect(jsprof_label_set(me, "label", "left") == 0);
    jsprof_turn_begin(me);
    jsprof_task_begin(me, jsprof_task_new(me, "task", "left", 0));
    jsprof_wait_begin(me, "left");
    return NULL;
}

static void *left_second(void *unused)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(h.prof, "second", &me) != 0)
        return unused;
    expect(me == left_by);
    expect(jsprof_task_running(me) == 0);
    jsprof_push(me, "second", NULL, 0);
    host_sampled(&h, LEFT_SAMPLES);
    jsprof_pop(me);
    expect(jsprof_thread_detach(me) == 0);
    return NULL;
}

/* Return the number of samples that the thread has in common with the one before. */
static uint64_t left_mixed(uint64_t *seconds)
{
    uint64_t mixed = 0;
    *seconds = 0;
    for (uint32_t i = 0; i < h.profile.n_stacks; i++) {
        if (!host_stack_has(&h, i, "second"))
            continue;
        *seconds += h.profile.stacks[i].samples;
        if (h.profile.stacks[i].labels || host_stack_has(&h, i, "left") ||
            host_stack_has(&h, i, "walked") || host_stack_has(&h, i, "before"))
            mixed += h.profile.stacks[i].samples;
    }
    return mixed;
}

/* Return how many samples the second thread lost because it was paused. */
static uint64_t left_paused(void)
{
    const struct jsp_account *account = &h.profile.account;
    uint64_t n = 0;
    for (uint32_t i = 0; i < account->n_threads; i++)
        if (strcmp(account->threads[i].name, "second") == 0)
            n += account->threads[i].lost[JSP_LOST_PAUSED];
    return n;
}

static void left_at(int clock)
{
    uint64_t seconds = 0;
    if (!host_open(&h, 1000, clock) || !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    pthread_join(host_thread(left_first, NULL), NULL);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    pthread_join(host_thread(left_second, NULL), NULL);
    CHECK_EQ(host_counted(&wrong), 0);
    if (host_close(&h)) {
        CHECK_EQ(h.profile.account.n_threads, 2);
        CHECK_EQ(left_mixed(&seconds), 0);
        CHECK(seconds > 0 || HOST_LATE);
        CHECK_EQ(h.profile.by_state[JSP_STATE_HOST], 0);
        CHECK_EQ(left_paused(), 0);
    }
}

TEST_OF(thread_finds_nothing_of_the_one_before_in_its_record_on_the_cpu_clock,
        left_at(JSPROF_CLOCK_CPU))
TEST_OF(thread_finds_nothing_of_the_one_before_in_its_record_on_the_wall_clock,
        left_at(JSPROF_CLOCK_WALL))

/* -- How many are kept ----------------------------------------------------------- */

enum { KEPT_THREADS = 100, KEPT_MOST = 64, KEPT_MIB = 8, KEPT_STACK = 1 << 18,
       KEPT_WAITS = 1200, KEPT_WAIT_US = 50000, KEPT_OTHER_MIB = 128 };

static pthread_barrier_t kept_barrier;

/* Return the size of the address space in MiB. */
static uint64_t kept_mib(void)
{
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%llu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE) >> 20;
}

static void *kept_thread(void *unused)
{
    jsprof_thread *me;
    expect(jsprof_thread_attach(h.prof, "many", &me) == 0);
    pthread_barrier_wait(&kept_barrier);
    expect(jsprof_thread_detach(me) == 0);
    return unused;
}

TEST(few_records_are_kept_and_none_by_an_idle_process)
{
    static pthread_t threads[KEPT_THREADS];
    pthread_attr_t attr;
    jsprof_options options = host_options(1000, JSPROF_CLOCK_CPU);
    options.ring_bytes = KEPT_MIB << 19; /* a record has two rings */
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
    if (!CHECK_EQ(host_open_with(&h, options), 0) || !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    pthread_barrier_init(&kept_barrier, NULL, KEPT_THREADS);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, HOST_SANITIZED ? 1 << 21 : KEPT_STACK);
    uint64_t before = kept_mib();
    for (int i = 0; i < KEPT_THREADS; i++)
        if (!CHECK_EQ(pthread_create(&threads[i], &attr, kept_thread, NULL), 0))
            exit(1); /* the others would wait for ever */
    for (int i = 0; i < KEPT_THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    uint64_t after = kept_mib() - before;
    printf("# %llu MiB more after %d threads\n", (unsigned long long)after, KEPT_THREADS);
    CHECK(after < (KEPT_MOST + KEPT_THREADS) / 2 * KEPT_MIB);
    for (int i = 0; i < KEPT_WAITS && kept_mib() - before >= KEPT_OTHER_MIB; i++)
        usleep(KEPT_WAIT_US);
    after = kept_mib() - before;
    printf("# %llu MiB more when all was quiet\n", (unsigned long long)after);
    CHECK(after < KEPT_OTHER_MIB);
    CHECK_EQ(host_counted(&wrong), 0);
    host_finish(&h);
}

TEST_MAIN()
