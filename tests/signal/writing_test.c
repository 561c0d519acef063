/* writing_test.c - captures onto pipes that are full or slow: the host continues, and what waits or
 * is lost is counted. Other files are for tests/unit/writer_test.c and tests/fault/unwritten.sh.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <fcntl.h>

/* One that is full soon. */
static int small_pipe(int ends[2])
{
    int err = pipe2(ends, O_CLOEXEC | O_NONBLOCK);
    return !err && fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096 ? 0 : -1;
}

/* A session on `fd` with one deep stack, so that its bytes come fast. */
static bool open_deep(struct host *h, int fd, jsprof_thread **me)
{
    jsprof_options options = host_options(10000, JSPROF_CLOCK_WALL);
    *h = (struct host){ .fd = fd };
    host_choose(&options, "timer");
    options.flags |= JSPROF_USE_FD;
    options.fd = fd;
    options.ring_bytes = 8 << 20;
    if (!CHECK_EQ(jsprof_open(&h->prof, &options), 0))
        return false;
    CHECK_EQ(jsprof_thread_attach(h->prof, "main", me), 0);
    for (int i = 0; i < 500; i++)
        jsprof_push(*me, "deep", NULL, 0);
    return CHECK_EQ(jsprof_start(h->prof), 0);
}

/* At most `max` bytes from the pipe into the memory file. */
static ssize_t copy_some(int from, int to, size_t max)
{
    static char bytes[1 << 16];
    ssize_t n = read(from, bytes, max < sizeof bytes ? max : sizeof bytes);
    for (ssize_t done = 0; n > 0 && done < n;) {
        ssize_t now = write(to, bytes + done, (size_t)(n - done));
        done += now > 0 ? now : 0;
    }
    return n;
}

static void *stop_and_close(void *arg)
{
    struct host *h = arg;
    int err = jsprof_close(h->prof);
    close(h->fd);
    return (void *)(intptr_t)err;
}

TEST(counters_add_up_while_a_slow_pipe_takes_the_samples)
{
    struct host h = { 0 };
    jsprof_thread *me;
    void *err;
    int ends[2], file = memfd_create("copy", MFD_CLOEXEC);
    if (!CHECK_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0))
        return;
    fcntl(ends[1], F_SETFL, 0); /* only our end must not wait */
    if (!open_deep(&h, ends[1], &me))
        return;
    while (h.stats.kept < 300) {
        host_burn_ms(2);
        copy_some(ends[0], file, 30000);
        host_stats(&h);
    }
    fcntl(ends[0], F_SETFL, 0);
    pthread_t closer = host_thread(stop_and_close, &h);
    while (copy_some(ends[0], file, 1 << 16) > 0)
        ;
    pthread_join(closer, &err);
    /* stop waits for two seconds, in which the reader may have no processor */
    CHECK(err == NULL || (intptr_t)err == -EAGAIN);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    h.fd = file;
    if (host_load(&h)) {
        CHECK_EQ(h.profile.account.n_threads, 1);
        host_check_thread(&h, h.profile.account.threads[0].tid);
        CHECK_STR(h.profile.account.session.state, "final");
    }
    host_free(&h);
    close(ends[0]);
}

static uint64_t samples_in(int file)
{
    struct host h = { .fd = file };
    uint64_t samples = host_load(&h) ? h.profile.samples : 0;
    jsp_profile_free(&h.profile);
    jsp_read_close(&h.read);
    return samples;
}

/* CPU time in ms, with 10 samples in each, of more than 2 KiB each. The timers take them at once:
 * two seconds after the pipe is full, the samples that wait for it are given up. */
enum { MORE_THAN_A_PIPE = 10 };

static void copy_all(int from, int to)
{
    while (copy_some(from, to, 1 << 16) > 0)
        ;
}

/* All that was sampled is in the file when stop or flush says so. */
TEST(stop_and_flush_onto_a_pipe_that_is_full_say_that_samples_wait)
{
    if (HOST_LATE) {
        SKIP("needs signals in time, to fill the pipe");
        return;
    }
    struct host h = { 0 };
    jsprof_thread *me;
    int ends[2], file = memfd_create("copy", MFD_CLOEXEC);
    if (!CHECK_EQ(small_pipe(ends), 0) || !open_deep(&h, ends[1], &me))
        return;
    host_burn_ms(MORE_THAN_A_PIPE);
    CHECK_EQ(jsprof_stop(h.prof), -EAGAIN);
    CHECK_EQ(jsprof_flush(h.prof), -EAGAIN);
    /* each flush ends with an account, which may be longer than the small pipe */
    copy_all(ends[0], file);
    CHECK(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= 1 << 20);
    for (int i = 0; i < 2; i++) { /* the second one has no drain */
        int err = -EAGAIN;
        for (int flushes = 0; err == -EAGAIN && flushes < 10; flushes++) {
            copy_all(ends[0], file);
            err = jsprof_flush(h.prof);
        }
        CHECK_EQ(err, 0);
        copy_all(ends[0], file);
    }
    host_stats(&h);
    CHECK(h.stats.samples > 0);
    CHECK_EQ(samples_in(file), h.stats.samples);
    CHECK_EQ(jsprof_close(h.prof), 0);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    close(h.fd);
    close(ends[0]);
    close(file);
}

static void *copy_to_the_end(void *ends)
{
    copy_all(((const int *)ends)[0], ((const int *)ends)[1]);
    return NULL;
}

static void *only_stop(void *arg)
{
    struct host *h = arg;
    return (void *)(intptr_t)jsprof_stop(h->prof);
}

static bool attached;

static void *attach_and_detach(void *arg)
{
    struct host *h = arg;
    for (int i = 0; i < 100; i++) {
        jsprof_thread *me = NULL;
        if (jsprof_thread_attach(h->prof, "brief", &me) != 0 ||
            jsprof_thread_detach(me) != 0)
            return arg;
    }
    __atomic_store_n(&attached, true, __ATOMIC_RELEASE);
    return NULL;
}

/* The drain is inside its last write and the session already counts as stopped. */
TEST(detach_during_a_stop_that_waits_for_the_file_keeps_the_file_whole)
{
    struct host h = { 0 };
    jsprof_thread *me;
    void *failed, *err;
    int ends[2], file = memfd_create("copy", MFD_CLOEXEC);
    if (!CHECK_EQ(small_pipe(ends), 0) || !open_deep(&h, ends[1], &me))
        return;
    fcntl(ends[0], F_SETFL, 0);
    host_burn_ms(MORE_THAN_A_PIPE);
    pthread_t stopper = host_thread(only_stop, &h);
    jsprof_stats stats = { .size = sizeof stats };
    for (uint64_t before = 1; before != stats.expirations;) { /* until it is disarmed */
        before = stats.expirations;
        host_burn_ms(20);
        jsprof_stats_get(h.prof, &stats);
    }
    pthread_t attacher = host_thread(attach_and_detach, &h);
    while (!__atomic_load_n(&attached, __ATOMIC_ACQUIRE) &&
           copy_some(ends[0], file, 1024) > 0) /* else stop's patience ends */
        host_burn_ms(20);
    pthread_join(attacher, &failed);
    CHECK(!failed);
    pthread_t copier = host_thread(copy_to_the_end, (int[2]){ ends[0], file });
    pthread_join(stopper, &err);
    CHECK(err == NULL || (intptr_t)err == -EAGAIN); /* the copier may have no processor for long */
    int closed = jsprof_close(h.prof);
    CHECK(closed == 0 || closed == -EAGAIN);
    close(ends[1]);
    pthread_join(copier, NULL);
    h.fd = file;
    if (host_load(&h)) {
        CHECK_EQ(h.profile.account.n_threads, 101);
        host_check_thread(&h, h.profile.account.threads[0].tid);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
    close(ends[0]);
}

TEST(descriptor_in_append_mode_gets_a_whole_capture)
{
    struct host h = { 0 };
    jsprof_thread *me;
    int file = memfd_create("capture", MFD_CLOEXEC);
    fcntl(file, F_SETFL, O_APPEND);
    if (!open_deep(&h, file, &me))
        return;
    host_sampled(&h, 20);
    host_finish(&h);
}

TEST_MAIN()
