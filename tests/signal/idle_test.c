/* idle_test.c - a process that does nothing is left alone: the library's threads sleep, and wake up
 * for what happens then.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <dirent.h>
#include <stdatomic.h>

enum {
    IDLE_FIRST_S = 8, /* longer than it takes the looker on the wall clock */
    IDLE_S = 2,
    IDLE_TRIES = 6,
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

/* Return it if both threads sleep through IDLE_S seconds in which no thread runs. This itself is a
 * thread that nobody looks at. A tick that meets it wakes the looker. */
static void *is_left_alone_at_last(void *arg)
{
    for (int i = 0; i < IDLE_TRIES; i++) {
        doze(IDLE_FIRST_S);
        uint64_t before = naps();
        doze(IDLE_S);
        uint64_t woken = naps() - before;
        if (!woken)
            return arg;
        printf("# %llu wakes\n", (unsigned long long)woken);
    }
    return NULL;
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

/* Return true if the file grows without a flush that was asked for. */
static bool file_grows(const struct host *h, uint64_t from)
{
    for (int i = 0; i < 100 && file_bytes(h) <= from; i++)
        nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
    return file_bytes(h) > from;
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
    CHECK(file_grows(&h, bytes));
    bytes = file_bytes(&h);
    jsprof_push(me, "again", NULL, 0);
    host_burn_ms(100);
    jsprof_pop(me);
    CHECK(file_grows(&h, bytes));
    if (host_close(&h)) {
        host_check(&h);
        CHECK(host_weight(&h, "again") >= (HOST_LATE ? 1 : 50));
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

int main(void)
{
    RUN(idle_process_wakes_no_thread_on_the_cpu_clock);
    RUN(idle_process_wakes_no_thread_on_the_wall_clock);
    RUN(flush_reads_what_a_thread_without_samples_has_counted);
    return DONE();
}
