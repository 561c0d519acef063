/* idle_test.c - a process that does nothing is left alone: the library's threads sleep, and wake up
 * for what happens then.
 *
 * SPDX-License-Identifier: MIT
 */
#include "seen.h"

#include <dirent.h>
#include <stdatomic.h>

#include "../deny.h"

enum {
    IDLE_S = 2, /* in which a looker that is awake has 2,000 wakes */
    IDLE_SAMPLES = 20,
};

/* Return how often the threads of this name have gone to sleep, and their number in *n. */
static uint64_t naps_of(const char *name, int *n)
{
    uint64_t sum = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; tasks && (e = readdir(tasks)) != NULL;) {
        char path[300], line[128];
        unsigned long long naps;
        bool is_it = false;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", e->d_name);
        FILE *f = fopen(path, "r");
        while (f && fgets(line, sizeof line, f)) {
            if (sscanf(line, "Name: %127s", path) == 1)
                is_it = strcmp(path, name) == 0;
            if (is_it && sscanf(line, "voluntary_ctxt_switches: %llu", &naps) == 1) {
                sum += naps;
                ++*n;
            }
        }
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return sum;
}

static uint64_t naps(void)
{
    int n = 0;
    uint64_t sum = naps_of("jsprof-drain", &n) + naps_of("jsprof-looker", &n);
    CHECK_EQ(n, 2);
    return sum;
}

static void doze(long s)
{
    struct timespec left = { s, 0 };
    while (nanosleep(&left, &left) < 0)
        continue;
}

/* Wait until both threads sleep through IDLE_S seconds in which no thread runs. This itself is a
 * thread that nobody looks at. A tick that meets it wakes the looker. */
static void *is_left_alone_at_last(void *arg)
{
    for (uint64_t before = naps(), now;; before = now) {
        doze(IDLE_S);
        now = naps();
        if (now == before)
            return arg;
        printf("# %llu wakes\n", (unsigned long long)(now - before));
    }
}

static bool is_left_alone(void)
{
    void *result = NULL;
    pthread_join(host_thread(is_left_alone_at_last, &result), &result);
    return result;
}

static uint64_t file_bytes(const struct host *h)
{
    return (uint64_t)lseek(h->fd, 0, SEEK_END);
}

/* Wait until the file has grown without a flush that was asked for. */
static void file_grows(const struct host *h, uint64_t from)
{
    while (file_bytes(h) <= from)
        nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
}

static void *mark_elsewhere(void *h)
{
    CHECK_EQ(jsprof_mark(((struct host *)h)->prof, 0, "idle", "elsewhere", ""), 0);
    return h;
}

static void idle_on(int clock)
{
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, host_options(1000, clock), &me))
        return;
    host_burn_ms(50);
    CHECK(is_left_alone());
    uint64_t bytes = file_bytes(&h);
    pthread_join(host_thread(mark_elsewhere, &h), NULL); /* a thread that nobody looks at */
    file_grows(&h, bytes);
    bytes = file_bytes(&h);
    jsprof_push(me, "again", NULL, 0);
    seen_burn(me, IDLE_SAMPLES);
    jsprof_pop(me);
    file_grows(&h, bytes);
    if (host_close(&h)) {
        host_check(&h);
        CHECK(host_samples(&h, "again") >= IDLE_SAMPLES - 1);
    }
    host_free(&h);
}

TEST(idle_process_wakes_no_thread_on_the_cpu_clock)
{
    idle_on(JSPROF_CLOCK_CPU);
}

TEST(idle_process_wakes_no_thread_on_the_wall_clock)
{
    idle_on(JSPROF_CLOCK_WALL);
}

/* It was seen failing on a flush that leaves out a thread whose handler has not run. */
TEST(flush_reads_what_a_thread_without_samples_has_counted)
{
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, host_options(1, JSPROF_CLOCK_CPU), &me))
        return;
    doze(1); /* passes of the drain without news */
    jsprof_pop(me);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    host_stats(&h);
    CHECK_EQ(h.stats.underflows, 1);
    if (host_close(&h))
        host_check(&h);
    host_free(&h);
}

static void doze_ms(long ms)
{
    struct timespec left = { 0, ms * 1000000 };
    while (nanosleep(&left, &left) < 0)
        continue;
}

/* The looker sleeps when the thread wakes up with its signal blocked. */
TEST(time_without_the_signal_after_a_sleep_is_counted_as_blocked)
{
    struct host h;
    jsprof_thread *me;
    sigset_t all, before;
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me))
        return;
    doze_ms(200);
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
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me))
        return;
    jsprof_thread_pause(me);
    for (int i = 0; i < 10; i++) {
        doze_ms(100);
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

enum { DENIED_SKIP = 77, DENIED_SPINS, DENIED_UNSAMPLED };

static void *denied_burn(void *unused)
{
    host_burn_ms(30);
    return unused;
}

/* While the looker sleeps deeply, timers can no longer be set, or deleted. A tick meets a thread at
 * which nobody looks: the looker does not spin. It stays awake, and no tick comes after the end. */
static int denied_timers(void)
{
    static const int calls[] = { SYS_timer_settime, SYS_timer_delete };
    struct host h;
    jsprof_thread *me;
    if (!host_begin_with(&h, host_options(1000, JSPROF_CLOCK_CPU), &me))
        return 1;
    doze_ms(200);
    if (!deny_in_all(calls, 2, EPERM))
        return DENIED_SKIP;
    pthread_join(host_thread(denied_burn, NULL), NULL);
    uint64_t before = host_ns(CLOCK_PROCESS_CPUTIME_ID);
    doze_ms(400);
    if (host_ns(CLOCK_PROCESS_CPUTIME_ID) - before > 200000000)
        return DENIED_SPINS;
    host_burn_ms(50);
    bool is_read = host_close(&h);
    host_burn_ms(20);
    return is_read && h.stats.expirations > 20 ? 0 : DENIED_UNSAMPLED;
}

TEST(sandbox_without_timers_lets_the_looker_look_and_sleep)
{
    int status = host_in_child(denied_timers);
    if (status == DENIED_SKIP)
        SKIP("no seccomp filters");
    else
        CHECK_EQ(status, 0);
}

int main(void)
{
    RUN(idle_process_wakes_no_thread_on_the_cpu_clock);
    RUN(idle_process_wakes_no_thread_on_the_wall_clock);
    RUN(flush_reads_what_a_thread_without_samples_has_counted);
    RUN(time_without_the_signal_after_a_sleep_is_counted_as_blocked);
    RUN(time_of_a_paused_thread_after_sleeps_is_counted_as_paused);
    RUN(sandbox_without_timers_lets_the_looker_look_and_sleep);
    return DONE();
}
