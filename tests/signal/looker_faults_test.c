/* looker_faults_test.c - src/session/{looker_wall,sleeper,task}.c: threads, stacks and descriptors
 * come and go while the looker looks. Whatever happens, each expiration is kept or has a cause of
 * loss. How many expirations a thread has is for tests/sim/account_test.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "looker.h"

static struct host h;

enum { FAULTS_PAGE = 4096 };

/* -- Threads that come and go ------------------------------------------------ */

enum { LIVES_KINDS = 3, LIVES = 400, LIVES_MAKERS = 4 };

static _Atomic uint32_t lives, lives_end;

/* Every third one ends without a word to the session, with its stack. */
static void *lives_one(void *arg)
{
    jsprof_thread *me = NULL;
    uint32_t kind = host_counted(&lives) % LIVES_KINDS;
    if (arg && jsprof_thread_attach(arg, "short", &me) != 0)
        return NULL;
    host_count(&lives);
    if (kind == 0)
        faults_sleep_us(20);
    if (kind != 1)
        jsprof_thread_detach(me);
    return NULL;
}

static void *lives_make(void *arg)
{
    while (!host_counted(&lives_end))
        pthread_join(host_thread(lives_one, arg), NULL);
    return NULL;
}

/* Let makers do this until there were so many lives. */
static void lives_pass(void *(*maker)(void *), jsprof *session, uint32_t n)
{
    pthread_t makers[LIVES_MAKERS];
    host_recount(&lives);
    host_recount(&lives_end);
    for (int i = 0; i < LIVES_MAKERS; i++)
        makers[i] = host_thread(maker, session);
    while (host_counted(&lives) < n)
        faults_sleep_us(1000);
    host_count(&lives_end);
    for (int i = 0; i < LIVES_MAKERS; i++)
        pthread_join(makers[i], NULL);
}

static void lives_at(int clock)
{
    if (!faults_begin(&h, clock, 1000))
        return;
    lives_pass(lives_make, h.prof, LIVES);
    if (host_close(&h))
        CHECK_EQ(h.profile.account.n_threads, host_counted(&lives) + 1);
}

TEST_OF(threads_that_come_and_go_on_the_wall_clock, lives_at(JSPROF_CLOCK_WALL))
TEST_OF(threads_that_come_and_go_on_the_cpu_clock, lives_at(JSPROF_CLOCK_CPU))

/* -- Stacks that are not there ----------------------------------------------- */

enum { HOLE_BYTES = 8 * FAULTS_PAGE, HOLE_NAP_US = 300, HOLE_WALKS = 300 };

static struct {
    char *_Atomic from; /* NULL: the thread is not there yet */
    _Atomic uint32_t end;
} hole;

static char *hole_from(void)
{
    return atomic_load_explicit(&hole.from, memory_order_acquire);
}


/* Nap beyond a hole in the stack, which another thread opens and closes. */
__attribute__((noinline)) static void hole_nap(char *room)
{
    char *from = (char *)(((uintptr_t)room + FAULTS_PAGE) & ~(uintptr_t)(FAULTS_PAGE - 1));
    atomic_store_explicit(&hole.from, from, memory_order_release);
    while (!host_counted(&hole.end))
        faults_sleep_us(HOLE_NAP_US);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void hole_frame(void)
{
    char room[HOLE_BYTES];
    memset(room, 1, sizeof room);
    hole_nap(room);
    __asm__ volatile("" ::"r"(room) : "memory");
}

__attribute__((noinline)) static void *hole_thread(void *session)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(session, "hole", &me) == 0) {
        hole_frame();
        jsprof_thread_detach(me);
    }
    return NULL;
}

/* Take pages above the napping frame away, and bring them back, until the session has samples. */
static uint32_t hole_toggle(size_t n)
{
    uint32_t n_toggles = 0;
    uint64_t until = host_taken(&h) + HOLE_WALKS;
    while (host_taken(&h) < until || n_toggles <= 20) {
        if (mprotect(hole_from(), n, PROT_NONE) != 0 ||
            mprotect(hole_from(), n, PROT_READ | PROT_WRITE) != 0)
            break;
        n_toggles++;
        faults_sleep_us(n_toggles % 2 ? 1 : 50);
    }
    return n_toggles;
}

/* A walk needs none of these pages, but what copies the stack at once meets them. */
TEST(stack_has_a_hole_that_comes_and_goes)
{
    if (!faults_begin(&h, JSPROF_CLOCK_WALL, 5000))
        return;
    host_recount(&hole.end);
    pthread_t thread = host_thread(hole_thread, h.prof);
    while (!hole_from())
        faults_sleep_us(100);
    uint32_t n = hole_toggle(HOLE_BYTES - 2 * FAULTS_PAGE);
    host_count(&hole.end);
    pthread_join(thread, NULL);
    printf("# %u times away\n", n);
    CHECK(n > 20);
    if (host_close(&h)) {
        CHECK(faults_looks(&h, "walked") > 0);
        CHECK(host_weight(&h, "hole_nap") > 0);
    }
}

/* -- Stacks that end --------------------------------------------------------- */

/* The thread sanitizer's own part of a thread takes 900 KiB of it. */
enum { OWN_BYTES = HOST_SANITIZED ? 1 << 21 : 1 << 16, OWN_NAPS = 3, OWN_LIVES = 400 };

static void *own_nap(void *session)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(session, "own", &me) != 0)
        return NULL;
    for (int i = 0; i < OWN_NAPS; i++)
        faults_sleep_us(100);
    return session; /* and the session still has it */
}

/* Run threads on stacks of ours, and unmap each as soon as its thread has ended. */
static void *own_make(void *session)
{
    while (!host_counted(&lives_end)) {
        pthread_attr_t attr;
        pthread_t thread;
        void *stack = mmap(NULL, OWN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                           -1, 0);
        pthread_attr_init(&attr);
        pthread_attr_setstack(&attr, stack, OWN_BYTES);
        if (pthread_create(&thread, &attr, own_nap, session) == 0) {
            pthread_join(thread, NULL);
            host_count(&lives);
        }
        munmap(stack, OWN_BYTES);
        pthread_attr_destroy(&attr);
    }
    return NULL;
}

TEST(stacks_are_unmapped_as_their_threads_end)
{
    if (!faults_begin(&h, JSPROF_CLOCK_WALL, 10000))
        return;
    lives_pass(own_make, h.prof, OWN_LIVES);
    if (host_close(&h)) {
        CHECK(faults_looks(&h, "walked") > 0);
        CHECK(host_weight(&h, "own_nap") > 0);
    }
}

/* -- More threads than descriptors -------------------------------------------- */

enum { MANY_FILES = 256, MANY_THREADS = 300, MANY_SAMPLES = 3000, MANY_STACK = OWN_BYTES };

static _Atomic uint32_t many_ready, many_cut, many_end;

static void *many_thread(void *session)
{
    jsprof_thread *me;
    struct timespec nap = { 0, 50000000 };
    int err = jsprof_thread_attach(session, "one of many", &me);
    if (!err)
        host_count(&many_ready);
    while (!host_counted(&many_end))
        if (nanosleep(&nap, NULL) < 0)
            host_count(&many_cut);
    if (!err)
        jsprof_thread_detach(me);
    return NULL;
}

static uint32_t many_start(pthread_t *threads, uint32_t most, jsprof *session)
{
    uint32_t n = 0;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, MANY_STACK);
    while (n < most && pthread_create(&threads[n], &attr, many_thread, session) == 0)
        n++;
    pthread_attr_destroy(&attr);
    return n;
}

/* Those without a descriptor are looked at as the others are: no sleep ends early. Chance: of 3,000
 * looks 225 of 300 would cut one each; if 1 of 500 does, 75 do in fewer than 1 of 10^30 runs. */
TEST(more_threads_than_descriptors)
{
    static pthread_t threads[MANY_THREADS];
    struct rlimit old, low;
    jsprof_options options = faults_options(JSPROF_CLOCK_WALL, 100);
    options.ring_bytes = 1 << 14;
    if (!CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0))
        return;
    low = (struct rlimit){ MANY_FILES, old.rlim_max };
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    if (!host_begin_with(&h, options, &(jsprof_thread *){ NULL }))
        return;
    uint32_t n = many_start(threads, MANY_THREADS, h.prof);
    while (host_counted(&many_ready) < n)
        faults_sleep_us(1000);
    while (host_taken(&h) < MANY_SAMPLES)
        faults_sleep_us(10000);
    int n_open = 0; /* most are the host's still */
    for (int fd = 0; fd < MANY_FILES; fd++)
        n_open += fcntl(fd, F_GETFD) >= 0;
    CHECK(n_open >= MANY_FILES / 4 && n_open < MANY_FILES / 2);
    host_count(&many_end);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK_EQ(n, MANY_THREADS);
    if (host_close(&h)) {
        printf("# %u threads, %u sleeps cut short, %s\n", n, host_counted(&many_cut),
               h.profile.looks);
        CHECK(faults_looks(&h, "walked") > 0);
        CHECK(host_counted(&many_cut) < n / 4);
    }
}

/* -- A thread that executes another program ----------------------------------- */

enum { EXEC_THREADS = 8, EXEC_CHILDREN = 20, EXEC_LOOKS = 20 };

static void *exec_sleeps(void *session)
{
    jsprof_thread *own;
    if (jsprof_thread_attach(session, "sleeps", &own) != 0)
        _exit(3);
    for (;;)
        faults_sleep_us(200);
    return NULL;
}

static void *exec_runs(void *session)
{
    jsprof_thread *own;
    if (jsprof_thread_attach(session, "runs", &own) != 0)
        _exit(3);
    jsprof_stats stats = { .size = sizeof stats };
    while (stats.samples < EXEC_LOOKS && jsprof_stats_get(session, &stats) == 0)
        continue;
    execl("/proc/self/exe", "looker_faults_test", "executed", (char *)NULL);
    _exit(2);
}

static int exec_under_the_look(void)
{
    jsprof_thread *me;
    alarm(120);
    if (!host_begin_with(&h, faults_options(JSPROF_CLOCK_WALL, 10000), &me))
        return 1;
    for (int i = 0; i < EXEC_THREADS; i++)
        host_thread(exec_sleeps, h.prof);
    host_thread(exec_runs, h.prof);
    for (;;)
        faults_sleep_us(200);
}

/* The other threads vanish under the looks. No signal of the looker ends the new program. */
TEST(thread_executes_another_program_under_the_looks)
{
    for (int i = 0; i < EXEC_CHILDREN; i++)
        if (!CHECK_EQ(host_in_child(exec_under_the_look), 0))
            return;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) /* exec_runs has begun it */
        return 0;
    RUN(thread_executes_another_program_under_the_looks);
    RUN(threads_that_come_and_go_on_the_wall_clock);
    RUN(threads_that_come_and_go_on_the_cpu_clock);
    RUN(stack_has_a_hole_that_comes_and_goes);
    RUN(stacks_are_unmapped_as_their_threads_end);
    RUN(more_threads_than_descriptors);
    return DONE();
}
