/* looker_faults_test.c - src/session/{looker_wall,sleeper,task}.c: threads, stacks and descriptors
 * come and go while the looker looks. Whatever happens, each expiration is kept or has a cause of
 * loss.
 *
 * LONG=1: for 10 s each instead of 0.4 s, and with 5,000 threads instead of 300.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <sys/resource.h>

#include "looker.h"

enum { FAULTS_PAGE = 4096 };

/* Return the time for which threads were attached, in periods of 1 ms. */
static uint64_t faults_attached_ms(const struct host *h, int clock)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < h->profile.account.n_threads; i++)
        ns += h->profile.account.threads[i].clock_ns[clock];
    return ns / 1000000;
}

/* -- Threads that come and go ------------------------------------------------ */

enum { LIVES = 3, LIVES_MAKERS = 4 };

static _Atomic uint32_t lives, lives_end;

/* Every third one ends without a word to the session, with its stack. */
static void *lives_one(void *arg)
{
    jsprof_thread *me = NULL;
    uint32_t kind = host_counted(&lives) % LIVES;
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

/* Let threads come and go, without a session if that is NULL. Return how many did in a second. */
static uint32_t lives_pass(jsprof *session)
{
    pthread_t makers[LIVES_MAKERS];
    uint64_t begin = host_ns(CLOCK_MONOTONIC);
    host_recount(&lives);
    host_recount(&lives_end);
    for (int i = 0; i < LIVES_MAKERS; i++)
        makers[i] = host_thread(lives_make, session);
    do /* longer on a machine that is busy */
        faults_sleep_us((long)faults_ms() * 1000);
    while (host_counted(&lives) <= 20);
    host_count(&lives_end);
    for (int i = 0; i < LIVES_MAKERS; i++)
        pthread_join(makers[i], NULL);
    uint64_t ms = (host_ns(CLOCK_MONOTONIC) - begin) / 1000000;
    return (uint32_t)(host_counted(&lives) * UINT64_C(1000) / ms);
}

static void lives_at(int clock)
{
    struct host h;
    if (!faults_begin(&h, clock, 1000))
        return;
    uint32_t plain = lives_pass(NULL), rate = lives_pass(h.prof);
    printf("# %u threads, %u a second, %u without a session\n", host_counted(&lives), rate, plain);
    if (host_close(&h)) {
        uint64_t ms = faults_attached_ms(&h, clock);
        host_check(&h);
        CHECK_EQ(h.profile.account.n_threads, host_counted(&lives) + 1);
        printf("# %llu expirations in %llu ms\n", (unsigned long long)h.stats.expirations,
               (unsigned long long)ms);
        /* a thread that ended without a word has no clock any more */
        CHECK(h.stats.expirations <= ms + 20 + ms / 10 + (uint64_t)host_counted(&lives));
    }
    host_free(&h);
}

TEST(threads_that_come_and_go_on_the_wall_clock)
{
    lives_at(JSPROF_CLOCK_WALL);
}

TEST(threads_that_come_and_go_on_the_cpu_clock)
{
    lives_at(JSPROF_CLOCK_CPU);
}

/* -- Stacks that are not there ----------------------------------------------- */

enum { HOLE_BYTES = 8 * FAULTS_PAGE, HOLE_NAP_US = 300 };

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

/* Take pages above the napping frame away, and bring them back. */
static uint32_t hole_toggle(size_t n)
{
    uint32_t n_toggles = 0;
    uint64_t until = host_ns(CLOCK_MONOTONIC) + faults_ms() * 1000000;
    while (host_ns(CLOCK_MONOTONIC) < until || n_toggles <= 20) {
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
    struct host h;
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
        host_check(&h);
        CHECK(faults_walked(&h));
        CHECK(host_weight(&h, "hole_nap") > 0);
    }
    host_free(&h);
}

/* -- Stacks that end --------------------------------------------------------- */

/* The thread sanitizer's own part of a thread takes 900 KiB of it. */
enum { OWN_BYTES = HOST_SANITIZED ? 1 << 21 : 1 << 16, OWN_NAPS = 3 };

static _Atomic uint32_t own_end;

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
    while (!host_counted(&own_end)) {
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
    struct host h;
    pthread_t makers[LIVES_MAKERS];
    if (!faults_begin(&h, JSPROF_CLOCK_WALL, 10000))
        return;
    host_recount(&lives);
    host_recount(&own_end);
    for (int i = 0; i < LIVES_MAKERS; i++)
        makers[i] = host_thread(own_make, h.prof);
    do
        faults_sleep_us((long)faults_ms() * 1000);
    while (host_counted(&lives) <= 10);
    host_count(&own_end);
    for (int i = 0; i < LIVES_MAKERS; i++)
        pthread_join(makers[i], NULL);
    printf("# %u threads\n", host_counted(&lives));
    if (host_close(&h)) {
        host_check(&h);
        CHECK(faults_walked(&h));
        CHECK(host_weight(&h, "own_nap") > 0);
    }
    host_free(&h);
}

/* -- Threads that rest ------------------------------------------------------- */

enum { REST_THREADS = 100, REST_MS = 300, REST_BURN_MS = 8 };

static pthread_mutex_t rest_turn = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void rest_burn(void)
{
    host_burn_ms(REST_BURN_MS);
    __asm__ volatile("" ::: "memory");
}

static void *rest_thread(void *session)
{
    jsprof_thread *me;
    if (jsprof_thread_attach(session, "rests", &me) != 0)
        return NULL;
    faults_sleep_us(REST_MS * 1000);
    pthread_mutex_lock(&rest_turn);
    rest_burn();
    pthread_mutex_unlock(&rest_turn);
    jsprof_thread_detach(me);
    return session;
}

/* Most looks leave out most of them. */
static void rest_at(int clock)
{
    struct host h;
    pthread_t threads[REST_THREADS];
    if (!faults_begin(&h, clock, 1000))
        return;
    for (int i = 0; i < REST_THREADS; i++)
        threads[i] = host_thread(rest_thread, h.prof);
    for (int i = 0; i < REST_THREADS; i++)
        pthread_join(threads[i], NULL);
    if (host_close(&h)) {
        uint64_t ms = faults_attached_ms(&h, clock);
        host_check(&h);
        printf("# %llu expirations in %llu ms, %llu in rest_burn\n",
               (unsigned long long)h.stats.expirations, (unsigned long long)ms,
               (unsigned long long)host_weight(&h, "rest_burn"));
        /* what is less than a period goes from thread to thread */
        CHECK(h.stats.expirations + 10 + ms / 100 > ms);
        CHECK(h.stats.expirations < ms + 100 + ms / 100);
        CHECK(host_weight(&h, "rest_burn") > 0);
    }
    host_free(&h);
}

TEST(threads_that_rest_have_their_time_on_the_wall_clock)
{
    rest_at(JSPROF_CLOCK_WALL);
}

TEST(threads_that_rest_have_their_time_on_the_cpu_clock)
{
    rest_at(JSPROF_CLOCK_CPU);
}

/* -- More threads than descriptors -------------------------------------------- */

enum { MANY_FILES = 256, MANY_THREADS = 300, MANY_THREADS_LONG = 5000, MANY_STACK = OWN_BYTES };

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

/* Those without a descriptor are looked at as the others are: no sleep ends early. */
TEST(more_threads_than_descriptors)
{
    static pthread_t threads[MANY_THREADS_LONG];
    struct host h;
    struct rlimit old, low;
    uint32_t most = faults_ms() > 1000 ? MANY_THREADS_LONG : MANY_THREADS;
    jsprof_options options = faults_options(JSPROF_CLOCK_WALL, 100);
    options.ring_bytes = 1 << 14;
    if (!CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0))
        return;
    low = (struct rlimit){ MANY_FILES, old.rlim_max };
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    if (!host_begin_with(&h, options, &(jsprof_thread *){ NULL }))
        return;
    uint32_t n = many_start(threads, most, h.prof);
    while (host_counted(&many_ready) < n)
        faults_sleep_us(1000);
    faults_sleep_us((long)faults_ms() * 1000);
    int n_open = 0; /* most are the host's still */
    for (int fd = 0; fd < MANY_FILES; fd++)
        n_open += fcntl(fd, F_GETFD) >= 0;
    CHECK(n_open >= MANY_FILES / 4 && n_open < MANY_FILES / 2);
    host_count(&many_end);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK_EQ(n, most);
    if (host_close(&h)) {
        host_check(&h);
        printf("# %u threads, %u sleeps cut short, %s\n", n, host_counted(&many_cut),
               h.profile.looks);
        CHECK(faults_walked(&h) > n);
        CHECK(host_counted(&many_cut) < n / 4);
    }
    host_free(&h);
}

/* -- A thread that executes another program ----------------------------------- */

enum { EXEC_THREADS = 8, EXEC_CHILDREN = 30, EXEC_CHILDREN_LONG = 200, EXEC_SPIN_US = 3000 };

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
    uint64_t until = host_ns(CLOCK_MONOTONIC) + EXEC_SPIN_US * 1000;
    while (host_ns(CLOCK_MONOTONIC) < until)
        continue;
    execl("/proc/self/exe", "looker_faults_test", "executed", (char *)NULL);
    _exit(2);
}

static int exec_under_the_look(void)
{
    struct host h;
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
    int n = faults_ms() > 1000 ? EXEC_CHILDREN_LONG : EXEC_CHILDREN;
    for (int i = 0; i < n; i++)
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
    RUN(threads_that_rest_have_their_time_on_the_wall_clock);
    RUN(threads_that_rest_have_their_time_on_the_cpu_clock);
    RUN(more_threads_than_descriptors);
    return DONE();
}
