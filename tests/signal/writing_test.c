/* writing_test.c - captures onto files that are full, slow, closed or gone: the host
 * continues, the loss is counted, its signals and descriptors stay its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <fcntl.h>
#include <sys/resource.h>

/* One that is full soon, also of compact samples. */
static int small_pipe(int ends[2])
{
    int err = pipe2(ends, O_CLOEXEC | O_NONBLOCK);
    return !err && fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096 ? 0 : -1;
}

/* A session on `fd` with one deep stack, so that its bytes come fast. */
static jsprof_function *collector; /* outermost on every stack */

static bool open_deep(struct host *h, int fd, jsprof_thread **me)
{
    jsprof_options options = host_options(10000, JSPROF_CLOCK_WALL);
    *h = (struct host){ .fd = fd };
    options.flags |= JSPROF_USE_FD;
    options.fd = fd;
    options.ring_bytes = 8 << 20;
    if (!CHECK_EQ(jsprof_open(&h->prof, &options), 0))
        return false;
    CHECK_EQ(jsprof_thread_attach(h->prof, "main", me), 0);
    jsprof_enter(*me, collector);
    for (int i = 0; i < 500; i++)
        jsprof_push(*me, "deep", NULL, 0);
    return CHECK_EQ(jsprof_start(h->prof), 0);
}

TEST(full_disk_is_counted_and_reported_and_the_host_goes_on)
{
    struct host h;
    jsprof_thread *me;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) {
        SKIP("needs /dev/full");
        return;
    }
    if (!open_deep(&h, full, &me))
        return;
    host_burn_ms(300);
    CHECK_EQ(jsprof_flush(h.prof), -ENOSPC);
    host_stats(&h);
    CHECK_EQ(jsprof_stop(h.prof), -ENOSPC);
    host_stats(&h);
    CHECK(h.stats.lost_write > 0);
    CHECK_EQ(h.stats.kept, 0);
    CHECK_EQ(h.stats.samples, 0);
    CHECK_EQ(h.stats.write_error, -ENOSPC);
    CHECK_EQ(jsprof_close(h.prof), -ENOSPC);
    close(full);
}

static int close_onto_a_pipe_without_reader(void)
{
    struct host h;
    jsprof_thread *me;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || !open_deep(&h, ends[1], &me))
        return 1;
    host_burn_ms(5);
    close(ends[0]);
    if (jsprof_flush(h.prof) != -EPIPE || jsprof_stop(h.prof) != -EPIPE)
        return 2;
    if (jsprof_thread_detach(me) != 0 || jsprof_close(h.prof) != -EPIPE)
        return 3;
    return 0;
}

static int write_past_the_size_limit(void)
{
    struct rlimit small = { 20000, 20000 };
    struct host h;
    jsprof_thread *me;
    int fd = memfd_create("small", MFD_CLOEXEC);
    setrlimit(RLIMIT_FSIZE, &small);
    if (!open_deep(&h, fd, &me))
        return 1;
    for (int i = 0; i < 100 && jsprof_flush(h.prof) == 0; i++)
        host_burn_ms(10);
    if (jsprof_flush(h.prof) != -EFBIG || jsprof_stop(h.prof) != -EFBIG)
        return 2;
    if (jsprof_close(h.prof) != -EFBIG)
        return 3;
    return lseek(fd, 0, SEEK_END) <= 20000 ? 0 : 4;
}

TEST(close_onto_a_pipe_whose_reader_left_does_not_kill_the_host)
{
    CHECK_EQ(host_in_child(close_onto_a_pipe_without_reader), 0);
}

TEST(close_at_the_file_size_limit_does_not_kill_the_host)
{
    CHECK_EQ(host_in_child(write_past_the_size_limit), 0);
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
    struct host h;
    jsprof_thread *me;
    void *err;
    int ends[2], file = memfd_create("copy", MFD_CLOEXEC);
    if (!CHECK_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0))
        return;
    fcntl(ends[1], F_SETFL, 0); /* only our end must not wait */
    if (!open_deep(&h, ends[1], &me))
        return;
    for (int i = 0; i < 200; i++) {
        host_burn_ms(2);
        copy_some(ends[0], file, 30000);
        host_stats(&h);
    }
    CHECK(h.stats.kept > 0);
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

/* Of samples: more than a small pipe takes, less than the session's buffer. A sample of the deep
 * stack takes more than 2 KiB. In the compact form each needs a name of its own to be of any
 * size. */
static void burn_more_than_a_pipe(jsprof_thread *me)
{
    static char names[300][64];
    for (int i = 0; getenv("HOST_COMPACT") && i < 300; i++) {
        snprintf(names[i], sizeof names[i], "a function with a long name, number %d", i);
        jsprof_push(me, names[i], NULL, 0);
        host_burn_ms(1);
        jsprof_pop(me);
    }
    host_burn_ms(10);
}

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
    struct host h;
    jsprof_thread *me;
    int ends[2], file = memfd_create("copy", MFD_CLOEXEC);
    if (!CHECK_EQ(small_pipe(ends), 0) || !open_deep(&h, ends[1], &me))
        return;
    burn_more_than_a_pipe(me);
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

/* Return whether the file defines the function, also after its samples. */
static bool is_collector(struct host *h)
{
    bool is = false;
    if (!CHECK(host_weight(h, "collector") > 0))
        return false;
    for (uint32_t i = 0; i < h->profile.n_functions; i++)
        is = is || (strcmp(h->profile.functions[i].name, "collector") == 0 &&
                    h->profile.functions[i].kind == JSPROF_KIND_GC);
    return is;
}

/* How many the file says were lost. */
static uint64_t check_given_up(struct host *h)
{
    const struct jsp_profile *p = &h->profile;
    if (!host_load(h) || !CHECK_EQ(p->account.n_threads, 1))
        return 0;
    CHECK_EQ(p->samples, p->account.session.samples);
    CHECK_EQ(p->defects.count[JSP_READ_CUT], 0);
    CHECK_EQ(p->defects.count[JSP_READ_RECORD], 0);
    CHECK_EQ(p->samples, p->account.threads[0].samples);
    CHECK_EQ(p->weight, p->account.threads[0].kept);
    CHECK(!p->samples || is_collector(h)); /* the pipe may be full before one */
    return p->account.threads[0].lost[JSP_LOST_WRITE];
}

/* The reader comes this long after close began. Return false if it came too late. */
static bool given_up_at_close(uint64_t wait_ms)
{
    struct host h;
    jsprof_thread *me;
    void *err;
    int ends[2], file = memfd_create("copy", MFD_CLOEXEC);
    if (!CHECK_EQ(small_pipe(ends), 0) || !open_deep(&h, ends[1], &me))
        return true;
    fcntl(ends[0], F_SETFL, 0);
    burn_more_than_a_pipe(me);
    uint64_t began = host_ns(CLOCK_MONOTONIC), until = began + wait_ms * 1000000;
    pthread_t closer = host_thread(stop_and_close, &h);
    while (host_ns(CLOCK_MONOTONIC) < until)
        host_burn_ms(1);
    bool is_late = host_ns(CLOCK_MONOTONIC) - began > 3500000000;
    copy_all(ends[0], file);
    pthread_join(closer, &err);
    h.fd = file;
    uint64_t lost = check_given_up(&h);
    if (!is_late) {
        CHECK(lost > 0);
        CHECK_EQ((intptr_t)err, -EAGAIN);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
    host_free(&h);
    close(ends[0]);
    return !is_late;
}

/* Close gives the samples up after its two seconds, and the file after two more: a reader
 * that comes back between finds the loss in it. One that the machine held up for longer shows
 * nothing. */
TEST(samples_given_up_at_close_are_lost_in_the_file_too)
{
    if (HOST_LATE) {
        SKIP("needs signals in time, to fill the pipe");
        return;
    }
    if (!given_up_at_close(3000))
        SKIP("the reader came late");
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
    if (getenv("HOST_COMPACT")) {
        SKIP("compact samples do not keep a drain busy");
        return;
    }
    struct host h;
    jsprof_thread *me;
    void *failed, *err;
    int ends[2], file = memfd_create("copy", MFD_CLOEXEC);
    if (!CHECK_EQ(small_pipe(ends), 0) || !open_deep(&h, ends[1], &me))
        return;
    fcntl(ends[0], F_SETFL, 0);
    burn_more_than_a_pipe(me);
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

/* A host that closes all descriptors, as daemons do, and opens its own. */
TEST(file_that_took_over_our_descriptor_gets_none_of_our_bytes)
{
    struct host h;
    jsprof_thread *me;
    int before = dup(0), other = memfd_create("the host's", MFD_CLOEXEC);
    close(before); /* the session's duplicate comes there */
    if (!open_deep(&h, memfd_create("capture", MFD_CLOEXEC), &me))
        return;
    host_burn_ms(5);
    for (int fd = 3; fd < 64; fd++)
        if (fd != other && fd != h.fd)
            dup3(other, fd, O_CLOEXEC);
    CHECK_EQ(jsprof_flush(h.prof), -EBADF);
    CHECK_EQ(jsprof_close(h.prof), -EBADF);
    CHECK_EQ(lseek(other, 0, SEEK_END), 0);
    CHECK(fcntl(before, F_GETFD) >= 0); /* nor was it closed */
    for (int fd = 3; fd < 64; fd++)
        close(fd);
}

TEST(descriptor_in_append_mode_gets_a_whole_capture)
{
    struct host h;
    jsprof_thread *me;
    int file = memfd_create("capture", MFD_CLOEXEC);
    fcntl(file, F_SETFL, O_APPEND);
    if (!open_deep(&h, file, &me))
        return;
    host_burn_ms(20);
    host_finish(&h);
}

int main(void)
{
    if (jsprof_function_new(&collector, "collector", NULL, 0, JSPROF_KIND_GC) != 0)
        return 1;
    RUN(full_disk_is_counted_and_reported_and_the_host_goes_on);
    RUN(close_onto_a_pipe_whose_reader_left_does_not_kill_the_host);
    RUN(close_at_the_file_size_limit_does_not_kill_the_host);
    RUN(counters_add_up_while_a_slow_pipe_takes_the_samples);
    RUN(stop_and_flush_onto_a_pipe_that_is_full_say_that_samples_wait);
    RUN(samples_given_up_at_close_are_lost_in_the_file_too);
    RUN(detach_during_a_stop_that_waits_for_the_file_keeps_the_file_whole);
    RUN(file_that_took_over_our_descriptor_gets_none_of_our_bytes);
    RUN(descriptor_in_append_mode_gets_a_whole_capture);
    jsprof_function_free(collector);
    return DONE();
}
