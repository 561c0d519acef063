/* unit/writer_test.c - src/capture/writer.c, append.c: a bounded buffer in front of a descriptor
 * that takes little, nothing, or is another's.
 *
 * SPDX-License-Identifier: MIT
 */
#include "capture/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "capture/read.h"
#include "capture/wire.h"
#include "test.h"

static struct jsp_writer w;

static bool begin(int fd)
{
    return CHECK_EQ(jsp_writer_open(&w, fd, 4321), 0);
}

/* Begin on a pipe of a page, which no write waits for. */
static bool begin_pipe(int ends[2])
{
    if (!CHECK_EQ(pipe2(ends, O_NONBLOCK), 0) || !begin(ends[1]))
        return false;
    fcntl(ends[1], F_SETPIPE_SZ, 4096);
    return true;
}

/* Samples in the file, or -1 when it is not a capture; its last defect is in *cut. */
static int samples_in(int fd, uint64_t *cut)
{
    struct jsp_read r;
    struct jsp_read_defects defects = { 0 };
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    char path[64], why[JSP_READ_WHY];
    int n = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (jsp_read_open(&r, path, why) != 0)
        return -1;
    jsp_read_start(&c, &r, &defects);
    while (jsp_read_next(&c, &f))
        n += f.type == JSP_WIRE_SAMPLE && f.pid == 4321;
    *cut = defects.count[JSP_READ_CUT];
    for (int i = 0; i < JSP_READ_N_CAUSES; i++)
        if (i != JSP_READ_CUT)
            CHECK_EQ(defects.count[i], 0);
    jsp_read_close(&r);
    return n;
}

static int one_sample(uint32_t n_addrs)
{
    static uint64_t addrs[JSP_WIRE_MAX_ADDRS + 1];
    struct jsp_writer_sample sample = { 5, 6, addrs, n_addrs };
    return jsp_writer_sample(&w, &sample);
}

TEST(date_of_a_capture_is_that_of_the_c_library)
{
    const uint64_t day = 86400, years = 430 * 366;
    uint64_t n_bad = 0;
    for (uint64_t i = 0; i < years; i++) {
        time_t now = (time_t)(i * day + i * 7 % day);
        char ours[JSP_WRITER_DATE], theirs[64];
        struct tm tm;
        strftime(theirs, sizeof theirs, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
        jsp_writer_date(ours, (uint64_t)now);
        if (strcmp(ours, theirs) != 0 && n_bad++ < 3)
            printf("# %s, not %s\n", ours, theirs);
    }
    CHECK_EQ(n_bad, 0);
}

TEST(samples_are_refused_while_there_is_room_for_what_tells_of_losses)
{
    int fd = memfd_create("capture", 0), n = 0;
    uint64_t cut;
    if (!begin(dup(fd)))
        return;
    while (one_sample(100) == 0)
        n++;
    size_t used = w.used;
    CHECK(n > 0);
    CHECK(w.capacity - used >= JSP_WRITER_SPARE);
    CHECK(w.capacity - used < JSP_WRITER_SPARE + 32 + 100 * 8);
    CHECK_EQ(one_sample(100), -ENOBUFS);
    CHECK_EQ(jsp_writer_copy(&w, w.bytes + used - 32 - 100 * 8), -ENOBUFS);
    CHECK_EQ(w.used, used);
    while (jsp_writer_timestamp(&w) == 0)
        ;
    CHECK_EQ(w.capacity - w.used < 24, true);
    CHECK_EQ(jsp_writer_chunk(&w, "x", "y", 1), -ENOBUFS);
    CHECK_EQ(jsp_writer_close(&w), 0);
    CHECK_EQ(samples_in(fd, &cut), n);
    CHECK_EQ(cut, 0);
    close(fd);
}

TEST(longest_frame_fits_and_one_address_more_does_not)
{
    int fd = memfd_create("capture", 0);
    uint64_t cut;
    if (!begin(dup(fd)))
        return;
    size_t used = w.used;
    CHECK_EQ(one_sample(JSP_WIRE_MAX_ADDRS + 1), -ENOBUFS);
    CHECK_EQ(w.used, used);
    CHECK_EQ(one_sample(JSP_WIRE_MAX_ADDRS), 0);
    CHECK_EQ(w.used, used + JSP_WIRE_MAX_FRAME);
    CHECK_EQ(jsp_writer_close(&w), 0);
    CHECK_EQ(samples_in(fd, &cut), 1);
    close(fd);
}

TEST(embedded_file_larger_than_a_frame_becomes_several)
{
    enum { N = 3 * JSP_WIRE_MAX_CHUNK / 2 };
    int fd = memfd_create("capture", 0);
    uint8_t *data = calloc(1, N);
    if (!data || !begin(dup(fd)))
        return;
    uint64_t before = w.appended;
    CHECK_EQ(jsp_writer_chunk(&w, "jsprof/x", data, N), 0);
    CHECK_EQ(w.appended - before, N + 2 * 284 + 8 - (N + 2 * 284) % 8);
    CHECK_EQ(jsp_writer_chunk(&w, "jsprof/x", data, 0), 0); /* nothing is nothing */
    CHECK_EQ(w.appended - before, N + 2 * 284 + 8 - (N + 2 * 284) % 8);
    CHECK_EQ(jsp_writer_close(&w), 0);
    free(data);
    close(fd);
}

/* A file whose size is at its limit takes the part of a full disk. */
TEST(reserved_bytes_are_written_where_nothing_else_is_any_more)
{
    static const char *const none[] = { NULL };
    int fd = memfd_create("capture", MFD_ALLOW_SEALING);
    char bytes[300];
    if (!begin(dup(fd)))
        return;
    CHECK_EQ(jsp_writer_reserve(&w, "jsprof/x", 40), 0);
    uint64_t slot = w.slot;
    CHECK_EQ(jsp_writer_fill(&w, "waits", 5), 0); /* still in the buffer */
    CHECK_EQ(jsp_writer_flush(&w), 0);
    CHECK_EQ(pread(fd, bytes, 40, (off_t)slot), 40);
    CHECK(memcmp(bytes, "waits\n\n", 7) == 0 && bytes[39] == '\n');
    CHECK_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
    one_sample(10);
    CHECK_EQ(jsp_writer_after_drop(&w, none, w.appended), w.appended - w.used);
    CHECK_EQ(jsp_writer_flush(&w), -EPERM);
    CHECK_EQ(jsp_writer_fill(&w, "the end", 7), 0);
    CHECK_EQ(pread(fd, bytes, 40, (off_t)slot), 40);
    CHECK(memcmp(bytes, "the end\n\n", 9) == 0);
    CHECK_EQ(jsp_writer_fill(&w, bytes, 41), -ESPIPE); /* more than there is */
    jsp_writer_discard(&w);
    CHECK_EQ(w.used, 0);
    CHECK_EQ(jsp_writer_close(&w), -EPERM);
    close(fd);
}

TEST(pipe_has_no_place_that_could_be_reserved)
{
    int ends[2];
    if (!begin_pipe(ends))
        return;
    size_t used = w.used;
    CHECK_EQ(jsp_writer_reserve(&w, "jsprof/x", 40), 0);
    CHECK_EQ(w.used, used);
    CHECK_EQ(jsp_writer_fill(&w, "end", 3), -ESPIPE);
    CHECK_EQ(jsp_writer_close(&w), 0);
    close(ends[0]);
}

/* The pipe takes what it has room for: short writes in the middle of frames. */
TEST(pipe_that_takes_little_at_a_time_gets_every_byte_in_order)
{
    static char bytes[1 << 16];
    int ends[2], file = memfd_create("copy", 0), n = 0, refused = 0;
    uint64_t cut;
    if (!begin_pipe(ends))
        return;
    for (int i = 0; i < 4000; i++) {
        n += one_sample(200) == 0;
        refused += jsp_writer_flush(&w) == -EAGAIN;
        ssize_t got = read(ends[0], bytes, (size_t)(1 + i * 37 % 500));
        CHECK(got <= 0 || write(file, bytes, (size_t)got) == got);
    }
    CHECK(refused > 0);
    CHECK(w.used > 0);
    CHECK_EQ(w.error, 0); /* slow is no error: nothing was lost by it */
    while (w.used) {
        ssize_t got = read(ends[0], bytes, sizeof bytes);
        if (!CHECK(got > 0) || !CHECK(write(file, bytes, (size_t)got) == got))
            return;
        jsp_writer_flush(&w);
    }
    CHECK_EQ(jsp_writer_close(&w), 0);
    for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;)
        CHECK(write(file, bytes, (size_t)got) == got);
    CHECK_EQ(samples_in(file, &cut), n);
    CHECK_EQ(cut, 0);
    close(ends[0]);
    close(file);
}

/* A frame that the file has the beginning of is ended, the others are not begun. */
TEST(what_is_dropped_leaves_whole_frames_only)
{
    static char bytes[1 << 16];
    static const char *const but[] = { "too", "kept", NULL };
    int ends[2], file = memfd_create("copy", 0), n = 0;
    uint64_t cut = 1;
    if (!begin_pipe(ends))
        return;
    while (n < 100 && one_sample(200) == 0)
        n++;
    CHECK_EQ(jsp_writer_chunk(&w, "kept", "abc", 3), 0);
    w.slot = w.appended; /* as if this one was reserved */
    CHECK_EQ(jsp_writer_chunk(&w, "gone", "abc", 3), 0);
    CHECK_EQ(jsp_writer_chunk(&w, "too", "abc", 3), 0);
    CHECK_EQ(jsp_writer_flush(&w), -EAGAIN);
    ssize_t got = read(ends[0], bytes, 1001); /* room for a write, whole pages or not */
    CHECK(write(file, bytes, (size_t)got) == got);
    CHECK_EQ(jsp_writer_waiting(&w, JSP_WIRE_SAMPLE) > 0, true);
    for (size_t at = w.begun, gone = 0, len; at < w.used; at += len) { /* frames before each one */
        const struct jsp_wire_frame *f = (const void *)(w.bytes + at);
        const uint64_t written = w.appended - w.used, to = written + at;
        CHECK_EQ(jsp_writer_after_drop(&w, but, to), to - gone);
        len = f->len;
        bool is_kept = f->type == JSP_WIRE_FILE_CHUNK &&
                       strcmp(((const struct jsp_wire_chunk *)(const void *)f)->path, "gone") != 0;
        gone += is_kept ? 0 : len;
    }
    const uint64_t written = w.appended - w.used;
    jsp_writer_drop(&w, but);
    CHECK_EQ(w.appended - w.used, written);
    CHECK_EQ(w.slot, 0);
    w.slot = written - 1;
    jsp_writer_drop(&w, but);
    CHECK_EQ(w.slot, written - 1);
    CHECK(w.used < 2000);
    CHECK_EQ(jsp_writer_waiting(&w, JSP_WIRE_SAMPLE), 0);
    CHECK_EQ(jsp_writer_waiting(&w, JSP_WIRE_FILE_CHUNK), 2);
    while (w.used && (got = read(ends[0], bytes, sizeof bytes)) > 0) {
        CHECK(write(file, bytes, (size_t)got) == got);
        jsp_writer_flush(&w);
    }
    CHECK_EQ(jsp_writer_close(&w), 0);
    while ((got = read(ends[0], bytes, sizeof bytes)) > 0)
        CHECK(write(file, bytes, (size_t)got) == got);
    CHECK(samples_in(file, &cut) < n);
    CHECK_EQ(cut, 0);
    close(ends[0]);
    close(file);
}

TEST(pipe_nobody_reads_is_given_up_after_some_patience)
{
    int ends[2];
    if (!begin_pipe(ends))
        return;
    for (int i = 0; i < 100; i++)
        one_sample(200);
    CHECK_EQ(jsp_writer_close(&w), -EAGAIN);
    close(ends[0]);
}

static _Atomic int rings;

static void ring(int signo)
{
    (void)signo;
    atomic_fetch_add_explicit(&rings, 1, memory_order_relaxed);
}

/* Signals every 20 ms, and the reader comes after ten of them. */
static void *read_late(void *arg)
{
    static uint8_t bytes[1 << 16];
    const int *fd = arg;
    while (atomic_load_explicit(&rings, memory_order_relaxed) < 10)
        sched_yield();
    while (read(*fd, bytes, sizeof bytes) > 0)
        ;
    return NULL;
}

TEST(alarms_of_the_host_do_not_end_the_patience_with_a_pipe)
{
    struct itimerval every = { { 0, 20000 }, { 0, 20000 } }, never = { 0 };
    sigset_t alarms;
    pthread_t reader;
    int ends[2];
    if (!CHECK_EQ(pipe(ends), 0) || !begin(ends[1]))
        return;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 100; i++)
        one_sample(200);
    signal(SIGALRM, ring);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* the reader's */
    CHECK_EQ(pthread_create(&reader, NULL, read_late, &ends[0]), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    CHECK_EQ(jsp_writer_close(&w), 0);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    atomic_store_explicit(&rings, 10, memory_order_relaxed); /* or it would wait for ever */
    pthread_join(reader, NULL);
    close(ends[0]);
}

TEST(embedded_file_onto_a_pipe_that_is_full_is_waited_for)
{
    static uint8_t bytes[2 * JSP_WRITER_BYTES];
    pthread_t reader;
    int ends[2];
    if (!begin_pipe(ends))
        return;
    fcntl(ends[0], F_SETFL, 0);
    CHECK_EQ(pthread_create(&reader, NULL, read_late, &ends[0]), 0);
    CHECK_EQ(jsp_writer_file(&w, "file", bytes, sizeof bytes), 0);
    CHECK_EQ(jsp_writer_close(&w), 0);
    pthread_join(reader, NULL);
    close(ends[0]);
}

TEST(full_disk_keeps_what_waits_and_the_shape_of_the_file)
{
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0) {
        SKIP("needs /dev/full");
        return;
    }
    if (!begin(fd))
        return;
    CHECK_EQ(one_sample(3), 0);
    size_t used = w.used;
    CHECK_EQ(jsp_writer_flush(&w), -ENOSPC);
    CHECK_EQ(w.used, used);
    CHECK_EQ(w.error, -ENOSPC);
    CHECK_EQ(jsp_writer_close(&w), -ENOSPC);
}

/* The limit may be in the middle of a frame. What waits is written when the limit is lifted. */
TEST(limit_of_the_file_is_kept_to_the_byte_until_it_is_lifted)
{
    int fd = memfd_create("capture", 0), n = 0;
    uint64_t cut;
    if (!begin(dup(fd)))
        return;
    w.limit = 5000;
    for (; n < 20; n++)
        CHECK_EQ(one_sample(100), 0);
    CHECK_EQ(jsp_writer_flush(&w), -EFBIG);
    CHECK_EQ(lseek(fd, 0, SEEK_END), 5000);
    CHECK_EQ(w.error, -EFBIG);
    CHECK_EQ(one_sample(100), 0);
    CHECK_EQ(jsp_writer_flush(&w), -EFBIG);
    CHECK_EQ(lseek(fd, 0, SEEK_END), 5000);
    w.limit = 0;
    CHECK_EQ(jsp_writer_flush(&w), 0);
    CHECK_EQ(samples_in(fd, &cut), n + 1);
    CHECK_EQ(cut, 0);
    jsp_writer_abandon(&w);
    close(fd);
}

TEST(pipe_whose_reader_left_is_an_errno)
{
    int ends[2];
    signal(SIGPIPE, SIG_IGN); /* who writes from a host's thread sees to that */
    if (!CHECK_EQ(pipe(ends), 0) || !begin(ends[1]))
        return;
    close(ends[0]);
    CHECK_EQ(jsp_writer_flush(&w), -EPIPE);
    CHECK_EQ(jsp_writer_close(&w), -EPIPE);
    signal(SIGPIPE, SIG_DFL);
}

TEST(descriptor_that_is_another_file_now_gets_nothing)
{
    int fd = memfd_create("capture", 0), other = memfd_create("other", 0);
    if (!begin(fd))
        return;
    CHECK_EQ(one_sample(3), 0);
    dup2(other, fd);
    CHECK_EQ(jsp_writer_flush(&w), -EBADF);
    CHECK_EQ(jsp_writer_close(&w), -EBADF);
    CHECK_EQ(lseek(other, 0, SEEK_END), 0);
    CHECK(fcntl(fd, F_GETFD) >= 0); /* it is not ours to close */
    close(fd);
    close(other);
}

TEST(closed_descriptor_is_refused_at_open_and_at_flush)
{
    int fd = memfd_create("capture", 0);
    if (!begin(fd))
        return;
    close(fd);
    CHECK_EQ(jsp_writer_flush(&w), -EBADF);
    CHECK_EQ(jsp_writer_close(&w), -EBADF);
    CHECK_EQ(jsp_writer_open(&w, fd, 1), -EBADF);
}

/* The end time goes where the header is: not to the file's start, not to its end. */
TEST(end_time_is_set_in_a_capture_that_begins_in_the_middle_of_a_file)
{
    static const char before[] = "before..";
    struct jsp_wire_header head;
    char kept[8];
    int fd = memfd_create("capture", 0);
    CHECK_EQ(write(fd, before, 8), 8);
    if (!begin(dup(fd)))
        return;
    CHECK_EQ(jsp_writer_close(&w), 0);
    CHECK_EQ(pread(fd, kept, 8, 0), 8);
    CHECK_EQ(memcmp(kept, before, 8), 0);
    CHECK_EQ(pread(fd, &head, sizeof head, 8), sizeof head);
    CHECK_EQ(head.magic, JSP_WIRE_MAGIC);
    CHECK(head.end_time >= head.time && head.time > 0);
    CHECK_EQ(lseek(fd, 0, SEEK_END), 8 + 256);
    close(fd);
}

TEST(file_to_append_to_is_written_until_another_program_appends_too)
{
    int fd = memfd_create("capture", 0);
    CHECK_EQ(fcntl(fd, F_SETFL, O_APPEND), 0);
    if (!begin(dup(fd)))
        return;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(one_sample(3), 0);
        CHECK_EQ(jsp_writer_flush(&w), 0);
    }
    CHECK_EQ(write(fd, "other", 5), 5);
    off_t end = lseek(fd, 0, SEEK_END);
    CHECK_EQ(one_sample(3), 0);
    CHECK(jsp_writer_flush(&w) < 0);
    jsp_writer_close(&w);
    CHECK_EQ(lseek(fd, 0, SEEK_END), end);
    close(fd);
}

TEST(closed_writer_takes_nothing_and_says_so)
{
    int fd = memfd_create("capture", MFD_CLOEXEC);
    if (!begin(fd))
        return;
    CHECK_EQ(jsp_writer_reserve(&w, JSP_WIRE_FILE_LOSSES, JSP_WRITER_SLOT), 0);
    jsp_writer_abandon(&w);
    CHECK_EQ(jsp_writer_timestamp(&w), -ENOBUFS);
    CHECK_EQ(jsp_writer_chunk(&w, JSP_WIRE_FILE_LOSSES, "x", 1), -ENOBUFS);
    CHECK_EQ(jsp_writer_fill(&w, "x", 1), -ESPIPE);
    CHECK_EQ(jsp_writer_flush(&w), -EBADF);
    CHECK_EQ(jsp_writer_flush_patiently(&w), -EBADF);
    CHECK_EQ(jsp_writer_close(&w), -EBADF);
    CHECK_EQ(fcntl(fd, F_GETFD), -1);
}

TEST(writer_to_nowhere_takes_all_without_a_descriptor)
{
    if (!CHECK_EQ(jsp_writer_open_nowhere(&w, 4321), 0))
        return;
    for (int i = 0; i < 3 * JSP_WRITER_BYTES / 1000; i++) {
        char bytes[1000] = { 0 };
        if (jsp_writer_chunk(&w, "file", bytes, sizeof bytes) < 0) {
            CHECK_EQ(jsp_writer_flush(&w), 0);
            CHECK_EQ(w.used, 0);
            CHECK_EQ(jsp_writer_chunk(&w, "file", bytes, sizeof bytes), 0);
        }
    }
    CHECK(w.appended > 3 * JSP_WRITER_BYTES / 1000 * UINT64_C(1000));
    CHECK_EQ(jsp_writer_reserve(&w, JSP_WIRE_FILE_LOSSES, JSP_WRITER_SLOT), 0);
    CHECK_EQ(jsp_writer_fill(&w, "x", 1), -ESPIPE);
    CHECK_EQ(jsp_writer_flush_patiently(&w), 0);
    CHECK_EQ(jsp_writer_close(&w), 0);
    CHECK_EQ(jsp_writer_flush(&w), -EBADF);
}

TEST_MAIN()
