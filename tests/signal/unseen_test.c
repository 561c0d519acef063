/* unseen_test.c - time that passes while the signal can not come is a loss with a name: no
 * function is charged with it, and expirations are as many as the thread's own clock says,
 * which is read here and not by the library.
 *
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "host.h"

enum { HZ = 1000, PERIOD = 1000000000 / HZ };

static const int clocks[] = { JSPROF_CLOCK_CPU, JSPROF_CLOCK_WALL };
enum { N_CLOCKS = sizeof clocks / sizeof *clocks };

/* One history of a thread, between two readings of its clock inside of it and two around. */
struct history {
    struct host h;
    jsprof_thread *me;
    int clock;
    uint64_t left_ns; /* when it detached; 0: it did not */
    uint64_t inside_ns, around_ns;
};

static uint64_t clock_ns(int clock)
{
    return host_ns(clock ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID);
}

static bool history_begin(struct history *y, int clock, uint32_t flags)
{
    jsprof_options options = host_options(HZ, clock);
    options.flags |= flags;
    *y = (struct history){ .clock = clock, .around_ns = clock_ns(clock) };
    if (!host_begin_with(&y->h, options, &y->me))
        return false;
    y->inside_ns = clock_ns(clock);
    return true;
}

/* As many expirations as periods went by: not fewer than inside, not more than around. */
static bool history_adds_up(const struct history *y)
{
    uint64_t n = y->h.stats.expirations;
    bool good = n + 2 >= y->inside_ns / PERIOD && n <= y->around_ns / PERIOD + 2;
    if (!good)
        printf("# clock %d: %llu expirations, %llu to %llu ms\n", y->clock,
               (unsigned long long)n, (unsigned long long)y->inside_ns / 1000000,
               (unsigned long long)y->around_ns / 1000000);
    return good;
}

static bool history_end(struct history *y)
{
    y->inside_ns = (y->left_ns ? y->left_ns : clock_ns(y->clock)) - y->inside_ns;
    bool good = host_close(&y->h);
    y->around_ns = clock_ns(y->clock) - y->around_ns;
    if (good) {
        host_check(&y->h);
        CHECK(history_adds_up(y));
        printf("# clock %d: %llu expirations, %llu kept, %llu blocked, %llu undelivered\n",
               y->clock, (unsigned long long)y->h.stats.expirations,
               (unsigned long long)y->h.stats.kept,
               (unsigned long long)y->h.stats.lost_blocked,
               (unsigned long long)y->h.stats.lost_undelivered);
    }
    return good;
}

/* Turn for so long on this clock; every step asks the kernel for nothing else. */
static void turn_us(int clock, uint64_t us)
{
    for (uint64_t until = clock_ns(clock) + 1000 * us; clock_ns(clock) < until;)
        continue;
}

TEST(thread_that_blocks_the_signal_loses_all_its_time_under_that_name)
{
    for (int i = 0; i < N_CLOCKS; i++)
        for (uint32_t alone = 0; alone < 2; alone++) {
            struct history y;
            host_mask(SIG_BLOCK, SIGPROF);
            if (history_begin(&y, clocks[i], alone ? JSPROF_NO_THREAD : 0)) {
                turn_us(clocks[i], 200000);
                if (alone) {
                    y.left_ns = clock_ns(y.clock);
                    CHECK_EQ(jsprof_thread_detach(y.me), 0);
                }
                if (history_end(&y)) {
                    CHECK_EQ(y.h.stats.kept, 0);
                    CHECK(y.h.stats.lost_blocked * 10 >= y.h.stats.expirations * 9);
                }
                host_free(&y.h);
            }
            host_mask(SIG_UNBLOCK, SIGPROF);
        }
}

enum { HANDLER_MS = 60, HANDLERS = 5 };

static void slow_handler(int signo)
{
    (void)signo;
    turn_us(JSPROF_CLOCK_CPU, HANDLER_MS * 1000);
}

/* No system call unblocks then, but the return from the handler. */
TEST(time_in_a_handler_that_blocks_the_signal_does_not_go_to_who_was_interrupted)
{
    struct sigaction slow = { .sa_handler = slow_handler }, before;
    sigfillset(&slow.sa_mask);
    sigaction(SIGUSR1, &slow, &before);
    for (int i = 0; i < N_CLOCKS; i++) {
        struct history y;
        if (!history_begin(&y, clocks[i], 0))
            continue;
        jsprof_push(y.me, "work", NULL, 0);
        for (int j = 0; j < HANDLERS; j++) {
            host_burn_ms(20);
            raise(SIGUSR1);
            turn_us(JSPROF_CLOCK_CPU, 1000); /* until it was delivered */
        }
        jsprof_pop(y.me);
        if (history_end(&y) && !HOST_LATE)
            CHECK(y.h.stats.lost_blocked * PERIOD / 1000000 * 2 > HANDLERS * HANDLER_MS);
        host_free(&y.h);
    }
    sigaction(SIGUSR1, &before, NULL);
}

static void taker(int signo)
{
    (void)signo;
}

/* Until so much more was sampled: the drain notices in its own time that no signal comes. */
static void turn_until_kept(const struct history *y, uint64_t more)
{
    jsprof_stats stats = { .size = sizeof stats };
    jsprof_stats_get(y->h.prof, &stats);
    more += stats.kept;
    for (int i = 0; i < 400 && stats.kept < more; i++) {
        turn_us(y->clock, 50000);
        jsprof_stats_get(y->h.prof, &stats);
    }
}

/* Another one has the signal for `ms`, and then work is done. */
static void taken_for(int clock, void (*handler)(int), uint64_t ms, bool gives_back)
{
    struct sigaction ours, other = { .sa_handler = handler };
    struct history y;
    if (!history_begin(&y, clock, 0))
        return;
    sigaction(SIGPROF, &other, &ours);
    turn_us(clock, 1000 * ms);
    if (gives_back) {
        sigaction(SIGPROF, &ours, NULL);
        jsprof_push(y.me, "work", NULL, 0);
        turn_until_kept(&y, 120);
        jsprof_pop(y.me);
    }
    if (history_end(&y)) {
        CHECK(y.h.stats.lost_blocked * PERIOD * 2 >= ms * 1000000 || HOST_LATE);
        CHECK((host_weight(&y.h, "work") > 100) == gives_back || HOST_LATE);
    }
    host_free(&y.h);
    signal(SIGPROF, SIG_DFL);
}

TEST(time_in_which_another_handler_had_the_signal_is_lost_under_that_name)
{
    for (int i = 0; i < N_CLOCKS; i++) {
        taken_for(clocks[i], taker, 300, true);
        taken_for(clocks[i], taker, 300, false);
    }
}

TEST(time_in_which_the_signal_was_ignored_is_lost_under_that_name)
{
    for (int i = 0; i < N_CLOCKS; i++) {
        taken_for(clocks[i], SIG_IGN, 300, true);
        taken_for(clocks[i], SIG_IGN, 300, false);
    }
}

TEST(thread_that_sleeps_with_the_signal_blocked_is_not_charged_for_the_sleep)
{
    struct history y;
    if (!history_begin(&y, JSPROF_CLOCK_WALL, 0))
        return;
    host_mask(SIG_BLOCK, SIGPROF);
    nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
    host_mask(SIG_UNBLOCK, SIGPROF);
    host_burn_ms(50);
    if (history_end(&y) && !HOST_LATE) { /* the looker needs no signal to see the sleep */
        uint64_t seen = !getenv("HOST_TIMER") ? y.h.stats.kept : 0;
        CHECK(y.h.stats.lost_blocked + seen >= 200); /* of 300 */
    }
    host_free(&y.h);
}

/* The looker sleeps when the thread wakes up with its signal blocked. */
TEST(time_without_the_signal_after_a_sleep_is_counted_as_blocked)
{
    struct host h;
    jsprof_thread *me;
    sigset_t all, before;
    if (!host_begin_with(&h, host_options(HZ, JSPROF_CLOCK_CPU), &me))
        return;
    usleep(200000);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    host_burn_ms(200);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (host_close(&h)) {
        host_check(&h);
        printf("# %llu of %llu blocked\n", (unsigned long long)h.stats.lost_blocked,
               (unsigned long long)h.stats.expirations);
        CHECK(h.stats.lost_blocked > 100);
        CHECK(h.stats.lost_blocked + 60 > h.stats.expirations);
    }
    host_free(&h);
}

/* A tick that meets a paused thread gives no sample. */
TEST(time_of_a_paused_thread_after_sleeps_is_counted_as_paused)
{
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, host_options(HZ, JSPROF_CLOCK_CPU), &me))
        return;
    jsprof_thread_pause(me);
    for (int i = 0; i < 10; i++) {
        usleep(100000);
        host_burn_ms(8);
    }
    if (host_close(&h)) {
        host_check(&h);
        printf("# %llu of %llu paused, %llu samples\n", (unsigned long long)h.stats.lost_paused,
               (unsigned long long)h.stats.expirations, (unsigned long long)h.stats.samples);
        CHECK(h.stats.lost_paused > 30);
        CHECK(h.stats.kept < 10); /* before it paused */
    }
    host_free(&h);
}

static _Atomic uint32_t spinners_end;

static void *spin(void *unused)
{
    while (!host_counted(&spinners_end))
        continue;
    return unused;
}

/* A late signal that was not blocked counts its time: others had the processor, the kernel was
 * busy for the thread, or it slept. */
TEST(busy_machine_and_long_system_calls_are_not_taken_for_a_blocked_signal)
{
    enum { SPINNERS = 3, BYTES = 1 << 26, TIMES = 4 };
    for (int i = 0; i < N_CLOCKS; i++) {
        struct history y;
        pthread_t spinners[SPINNERS];
        host_recount(&spinners_end);
        for (int j = 0; j < SPINNERS; j++)
            spinners[j] = host_thread(spin, NULL);
        if (history_begin(&y, clocks[i], 0)) {
            int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
            for (int j = 0; j < 80; j++) {
                host_burn_ms(1);
                nanosleep(&(struct timespec){ 0, 300000 }, NULL);
            }
            for (int j = 0; j < TIMES; j++) {
                void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
                if (CHECK(at != MAP_FAILED)) {
                    CHECK(zero < 0 || read(zero, at, BYTES) > 0);
                    munmap(at, BYTES);
                }
            }
            host_burn_ms(50);
            close(zero);
            if (history_end(&y))
                CHECK(y.h.stats.lost_blocked == 0 || HOST_LATE);
            host_free(&y.h);
        }
        host_count(&spinners_end);
        for (int j = 0; j < SPINNERS; j++)
            pthread_join(spinners[j], NULL);
    }
}

/* Most of them end before a tick: what was due until then is counted all the same. The chance
 * of each is its own, so of 1000 times the sum is off by 16 at most times. */
TEST(short_attachments_have_as_many_expirations_as_their_time)
{
    enum { TIMES = 1000, CHANCE = 100 };
    for (int i = 0; i < N_CLOCKS; i++) {
        struct history y = { .clock = clocks[i] };
        if (!CHECK_EQ(host_open_with(&y.h, host_options(HZ, y.clock)), 0))
            return;
        CHECK_EQ(jsprof_start(y.h.prof), 0);
        for (int j = 0; j < TIMES; j++) {
            uint64_t around = clock_ns(y.clock);
            CHECK_EQ(jsprof_thread_attach(y.h.prof, "short", &y.me), 0);
            uint64_t inside = clock_ns(y.clock);
            turn_us(y.clock, 500);
            y.inside_ns += clock_ns(y.clock) - inside;
            CHECK_EQ(jsprof_thread_detach(y.me), 0);
            y.around_ns += clock_ns(y.clock) - around;
        }
        if (host_close(&y.h)) {
            uint64_t n = y.h.stats.expirations;
            host_check(&y.h);
            printf("# clock %d: %llu expirations in %llu to %llu ms\n", y.clock,
                   (unsigned long long)n, (unsigned long long)y.inside_ns / 1000000,
                   (unsigned long long)y.around_ns / 1000000);
            CHECK(n + CHANCE >= y.inside_ns / PERIOD);
            CHECK(n <= y.around_ns / PERIOD + CHANCE);
            CHECK(y.h.stats.lost_blocked == 0 || HOST_LATE);
        }
        host_free(&y.h);
    }
}

TEST(full_disk_takes_no_expiration_away)
{
    for (int i = 0; i < N_CLOCKS; i++) {
        struct history y = { .clock = clocks[i] };
        jsprof_options options = host_options(HZ, y.clock);
        int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        if (full < 0) {
            SKIP("needs /dev/full");
            return;
        }
        options.flags |= JSPROF_USE_FD;
        options.fd = full;
        y.around_ns = clock_ns(y.clock);
        CHECK_EQ(jsprof_open(&y.h.prof, &options), 0);
        CHECK_EQ(jsprof_thread_attach(y.h.prof, "main", &y.me), 0);
        CHECK_EQ(jsprof_start(y.h.prof), 0);
        y.inside_ns = clock_ns(y.clock);
        for (y.h.stats.size = sizeof y.h.stats; !y.h.stats.lost_write;) {
            turn_us(y.clock, 50000); /* until a sample has met the disk */
            CHECK_EQ(jsprof_stats_get(y.h.prof, &y.h.stats), 0);
        }
        host_mask(SIG_BLOCK, SIGPROF);
        turn_us(y.clock, 100000);
        host_mask(SIG_UNBLOCK, SIGPROF);
        y.inside_ns = clock_ns(y.clock) - y.inside_ns;
        CHECK(jsprof_stop(y.h.prof) < 0);
        y.around_ns = clock_ns(y.clock) - y.around_ns;
        host_stats(&y.h);
        CHECK(history_adds_up(&y));
        CHECK(y.h.stats.lost_write > 0);
        CHECK(y.h.stats.lost_blocked >= 50 || HOST_LATE);
        jsprof_close(y.h.prof);
        close(full);
    }
}

/* The child stores its clock in shared memory, and blocks the signal for good. */
static void child_turns(const struct host *h, int clock, _Atomic uint64_t *ran_ns)
{
    jsprof_options options = host_options(HZ, clock);
    jsprof *prof;
    jsprof_thread *me;
    options.flags |= JSPROF_USE_FD;
    options.fd = h->fd;
    uint64_t began = clock_ns(clock);
    if (jsprof_open(&prof, &options) || jsprof_thread_attach(prof, "main", &me) ||
        jsprof_start(prof))
        _exit(1);
    turn_us(clock, 100000);
    host_mask(SIG_BLOCK, SIGPROF);
    for (;;)
        atomic_store_explicit(ran_ns, clock_ns(clock) - began, memory_order_relaxed);
}

/* Is there an account already, with the first 0.3 s and more? */
static bool has_account(const struct host *h)
{
    static struct jsp_read r;
    static struct jsp_profile p;
    char path[64], why[JSP_READ_WHY];
    bool has = false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", h->fd);
    if (jsp_read_open(&r, path, why) != 0)
        return false;
    if (jsp_profile_load(&p, &r, NULL) == 0) {
        has = p.account.n_threads == 1 && p.account.threads[0].expirations >= 300;
        jsp_profile_free(&p);
    }
    jsp_read_close(&r);
    return has;
}

/* What the file of a killed program says is of its last flush; its parent kills it once there
 * were some. */
TEST(killed_program_left_an_account_that_its_clock_confirms)
{
    for (int i = 0; i < N_CLOCKS; i++) {
        struct host h = { .fd = memfd_create("capture", MFD_CLOEXEC) };
        _Atomic uint64_t *ran_ns = mmap(NULL, sizeof *ran_ns, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        uint64_t ran, began = host_ns(CLOCK_MONOTONIC);
        pid_t child = fork();
        if (child == 0)
            child_turns(&h, clocks[i], ran_ns);
        do {
            nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
            ran = atomic_load_explicit(ran_ns, memory_order_relaxed);
        } while ((ran < 1200000000 || !has_account(&h)) &&
                 host_ns(CLOCK_MONOTONIC) - began < 60000000000u);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        ran = atomic_load_explicit(ran_ns, memory_order_relaxed);
        if (clocks[i] == JSPROF_CLOCK_WALL) /* it may not have run at the end */
            ran = host_ns(CLOCK_MONOTONIC) - began;
        if (host_load(&h) && CHECK_EQ(h.profile.account.n_threads, 1)) {
            const struct jsp_account_thread *t = &h.profile.account.threads[0];
            printf("# %llu ms: %llu expirations, %llu blocked\n",
                   (unsigned long long)ran / 1000000, (unsigned long long)t->expirations,
                   (unsigned long long)t->lost[JSP_LOST_BLOCKED]);
            CHECK_EQ(t->expirations, t->kept + jsp_account_lost(t));
            CHECK(t->expirations >= 300 && t->expirations <= ran / PERIOD + 50);
            CHECK(t->lost[JSP_LOST_BLOCKED] * 2 > t->expirations);
        }
        host_free(&h);
        munmap((void *)ran_ns, sizeof *ran_ns);
    }
}

int main(void)
{
    RUN(thread_that_blocks_the_signal_loses_all_its_time_under_that_name);
    RUN(time_in_a_handler_that_blocks_the_signal_does_not_go_to_who_was_interrupted);
    RUN(time_in_which_another_handler_had_the_signal_is_lost_under_that_name);
    RUN(time_in_which_the_signal_was_ignored_is_lost_under_that_name);
    RUN(thread_that_sleeps_with_the_signal_blocked_is_not_charged_for_the_sleep);
    RUN(time_without_the_signal_after_a_sleep_is_counted_as_blocked);
    RUN(time_of_a_paused_thread_after_sleeps_is_counted_as_paused);
    RUN(busy_machine_and_long_system_calls_are_not_taken_for_a_blocked_signal);
    RUN(short_attachments_have_as_many_expirations_as_their_time);
    RUN(full_disk_takes_no_expiration_away);
    RUN(killed_program_left_an_account_that_its_clock_confirms);
    return DONE();
}
