/* capture/writer.c - see writer.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "image/descriptor.h"
#include "sigsafe/room.h"
#include "wire.h"

enum { WRITER_MONTHS = 8000 * 12 }; /* the last year is 9970 */

static int64_t writer_now(void)
{
    return (int64_t)jsp_now_ns(CLOCK_MONOTONIC);
}

/* Return the number of days in a month, which is counted from January 1970. */
static unsigned writer_days(unsigned month)
{
    static const unsigned char lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    unsigned year = 1970 + month / 12;
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return lengths[month % 12] + (month % 12 == 1 && is_leap ? 1u : 0u);
}

void jsp_writer_date(char text[JSP_WRITER_DATE], uint64_t seconds)
{
    uint64_t day = seconds / 86400;
    unsigned month = 0, second = (unsigned)(seconds % 86400);
    for (; day >= writer_days(month) && month < WRITER_MONTHS; month++)
        day -= writer_days(month);
    snprintf(text, JSP_WRITER_DATE, "%04u-%02u-%02uT%02u:%02u:%02uZ", 1970 + month / 12,
             month % 12 + 1, (unsigned)day + 1, second / 3600, second / 60 % 60, second % 60);
}

static void writer_begin(struct jsp_writer *w)
{
    struct jsp_wire_header head = {
        .magic = JSP_WIRE_MAGIC, /* the reader learns the byte order from these two */
        .version = JSP_WIRE_VERSION,
        .little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
        .time = writer_now(),
    };
    jsp_writer_date(head.capture_time, (uint64_t)time(NULL));
    memcpy(w->bytes, &head, sizeof head);
    w->used = sizeof head;
    w->begun = sizeof head;
    w->appended = sizeof head;
}

/* Return the current offset. A pipe has none, and in append mode pwrite would not write
 * there. */
static int64_t writer_base(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 || flags & O_APPEND ? -1 : lseek(fd, 0, SEEK_CUR);
}

/* Replace `fd` by the same pipe or terminal with flags of our own. O_NONBLOCK set with
 * fcntl would also affect the host, whose descriptor shares the flags. */
static bool writer_reopen(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = jsp_descriptor_open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (own < 0)
        return false;
    bool good = dup3(own, fd, O_CLOEXEC) == fd;
    close(own);
    return good;
}

/* Choose a way to write that does not wait for a reader: a waiting thread could not be
 * stopped. */
static enum jsp_writer_way writer_way(int fd, const struct stat *st)
{
    int flags = fcntl(fd, F_GETFL);
    if (S_ISSOCK(st->st_mode))
        return JSP_WRITER_SOCKET;
    if (!S_ISFIFO(st->st_mode) && !(S_ISCHR(st->st_mode) && isatty(fd)))
        return JSP_WRITER_PLAIN;
    bool waits = flags < 0 || !(flags & O_NONBLOCK);
    return waits && !writer_reopen(fd) ? JSP_WRITER_CAREFUL : JSP_WRITER_PLAIN;
}

int jsp_writer_open(struct jsp_writer *w, int fd, int32_t pid)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -errno;
    uint8_t *bytes = malloc(JSP_WRITER_BYTES);
    if (!bytes)
        return -ENOMEM;
    *w = (struct jsp_writer){ .fd = fd, .dev = st.st_dev, .ino = st.st_ino, .pid = pid,
                              .base = writer_base(fd), .size = st.st_size,
                              .is_file = S_ISREG(st.st_mode), .has_name = st.st_nlink > 0,
                              .way = writer_way(fd, &st),
                              .bytes = bytes,
                              .capacity = JSP_WRITER_BYTES };
    writer_begin(w);
    return 0;
}

int jsp_writer_open_nowhere(struct jsp_writer *w, int32_t pid)
{
    uint8_t *bytes = malloc(JSP_WRITER_BYTES);
    if (!bytes)
        return -ENOMEM;
    *w = (struct jsp_writer){ .fd = -1, .pid = pid, .base = -1, .way = JSP_WRITER_NOWHERE,
                              .bytes = bytes, .capacity = JSP_WRITER_BYTES };
    writer_begin(w);
    return 0;
}

static bool writer_is_ours(const struct jsp_writer *w)
{
    struct stat st;
    return fstat(w->fd, &st) == 0 && st.st_dev == w->dev && st.st_ino == w->ino;
}

/* Return true if our bytes are still the file's end or, in a file that was longer, before
 * our offset. Otherwise the next ones would follow a hole, or overwrite another program's
 * bytes. */
static bool writer_is_whole(const struct jsp_writer *w, const struct stat *st)
{
    int64_t written = (int64_t)(w->appended - w->used);
    if (w->is_locked && w->has_name && st->st_nlink == 0)
        return false; /* the file has no name any more */
    if (w->base < 0)
        return st->st_size == w->size + written;
    return st->st_size >= w->base + written &&
           lseek(w->fd, 0, SEEK_CUR) == w->base + written;
}

/* Check that we may go on writing. */
static int writer_check(const struct jsp_writer *w)
{
    struct stat st;
    if (w->way == JSP_WRITER_NOWHERE)
        return 0;
    if (fstat(w->fd, &st) < 0 || st.st_dev != w->dev || st.st_ino != w->ino)
        return -EBADF;
    return w->is_file && !writer_is_whole(w, &st) ? -ESTALE : 0;
}

/* Return how many of the remaining bytes end the frame that was cut after `done`
 * bytes. */
static size_t writer_begun(const struct jsp_writer *w, size_t done)
{
    size_t at = w->begun;
    while (at < done) {
        struct jsp_wire_frame frame;
        memcpy(&frame, w->bytes + at, sizeof frame);
        at += frame.len;
    }
    return at - done;
}

/* Write like write(). A pipe that poll reports as writable takes PIPE_BUF bytes, unless
 * another process writes to it. */
static ssize_t writer_put(const struct jsp_writer *w, const void *bytes, size_t n)
{
    struct pollfd pipe = { w->fd, POLLOUT, 0 };
    if (w->way == JSP_WRITER_NOWHERE)
        return (ssize_t)n;
    if (w->way == JSP_WRITER_SOCKET)
        return send(w->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (w->way == JSP_WRITER_CAREFUL) {
        if (poll(&pipe, 1, 0) == 0) {
            errno = EAGAIN;
            return -1;
        }
        n = n < PIPE_BUF ? n : PIPE_BUF;
    }
    return write(w->fd, bytes, n);
}

/* Return how many bytes of the buffer the file may take. */
static size_t writer_room(const struct jsp_writer *w)
{
    uint64_t written = w->appended - w->used;
    uint64_t room = w->limit > written ? w->limit - written : 0;
    return w->limit && room < w->used ? (size_t)room : w->used;
}

int jsp_writer_flush(struct jsp_writer *w)
{
    size_t done = 0, room = writer_room(w);
    if (!w->bytes)
        return w->error ? w->error : -EBADF; /* it was closed */
    int err = w->used ? writer_check(w) : 0;

    while (!err && done < w->used) {
        ssize_t n = done < room ? writer_put(w, w->bytes + done, room - done) : 0;
        if (done == room)
            err = -EFBIG;
        else if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            err = -EIO; /* it takes nothing without an error */
        else if (errno != EINTR)
            err = -errno;
    }
    w->begun = writer_begun(w, done);
    w->stalled = w->stalled && !done;
    memmove(w->bytes, w->bytes + done, w->used - done);
    w->used -= done;
    if (err && err != -EAGAIN)
        w->error = err;
    return err;
}

/* Wait until the pipe takes something; signals of the host do not shorten the wait. */
static bool writer_wait(const struct jsp_writer *w, int64_t until)
{
    struct pollfd pipe = { w->fd, POLLOUT, 0 };
    for (int64_t left; (left = until - writer_now()) > 0;) {
        int n = poll(&pipe, 1, (int)(left / 1000000) + 1);
        if (n > 0 || (n < 0 && errno != EINTR))
            return n > 0;
    }
    return false;
}

static int writer_flush_within(struct jsp_writer *w, int patience_ms)
{
    int64_t patience = patience_ms * 1000000ll, until = writer_now() + patience;
    int err = jsp_writer_flush(w);
    for (size_t before = w->used; err == -EAGAIN && !w->stalled;) {
        w->stalled = !writer_wait(w, until);
        err = jsp_writer_flush(w);
        if (w->used < before) /* progress: begin the wait anew */
            until = writer_now() + patience;
        before = w->used;
    }
    return err;
}

int jsp_writer_flush_patiently(struct jsp_writer *w)
{
    return writer_flush_within(w, JSP_WRITER_PATIENCE_MS);
}

int jsp_writer_flush_for_a_moment(struct jsp_writer *w)
{
    return writer_flush_within(w, JSP_WRITER_MOMENT_MS);
}

void jsp_writer_forgive(struct jsp_writer *w)
{
    w->stalled = false;
}

uint64_t jsp_writer_waiting(const struct jsp_writer *w, uint8_t type)
{
    struct jsp_wire_frame frame;
    uint64_t n = 0;
    for (size_t at = w->begun; at < w->used; at += frame.len) {
        memcpy(&frame, w->bytes + at, sizeof frame);
        n += frame.type == type;
    }
    return n;
}

/* Return true if the frame at `at` is a chunk of one of the files; copy its header. */
static bool writer_is_of(const uint8_t *at, const char *const *files, struct jsp_wire_frame *frame)
{
    struct jsp_wire_chunk chunk;
    memcpy(frame, at, sizeof *frame);
    if (frame->type != JSP_WIRE_FILE_CHUNK)
        return false;
    memcpy(&chunk, at, offsetof(struct jsp_wire_chunk, data));
    while (*files && strcmp(chunk.path, *files) != 0)
        files++;
    return *files;
}

uint64_t jsp_writer_after_drop(const struct jsp_writer *w, const char *const *but, uint64_t to)
{
    struct jsp_wire_frame frame;
    uint64_t written = w->appended - w->used, dropped = 0;
    for (size_t at = w->begun; at < w->used && written + at < to; at += frame.len)
        dropped += writer_is_of(w->bytes + at, but, &frame) ? 0 : frame.len;
    return to - dropped;
}

void jsp_writer_drop(struct jsp_writer *w, const char *const *but)
{
    struct jsp_wire_frame frame;
    if (w->slot >= w->appended - w->used)
        w->slot = 0; /* the reserved place is dropped, too */
    size_t kept = w->begun;
    for (size_t at = w->begun; at < w->used; at += frame.len) {
        if (!writer_is_of(w->bytes + at, but, &frame))
            continue;
        memmove(w->bytes + kept, w->bytes + at, frame.len);
        kept += frame.len;
    }
    w->appended -= w->used - kept;
    w->used = kept;
}

/* From now on it takes nothing, and has nothing to write. */
static void writer_forget(struct jsp_writer *w)
{
    w->fd = -1;
    free(w->bytes);
    w->bytes = NULL;
    w->capacity = 0;
    w->slot = 0;
    w->appended -= w->used;
    w->used = w->begun = 0;
}

/* Filesystems write the data of a truncated file when it is closed, as if it replaced a file
 * with contents. A new file has none. */
static bool writer_is_new(const struct jsp_writer *w)
{
    struct stat st;
    return fstat(w->fd, &st) == 0 && st.st_size == 0;
}

int jsp_writer_empty(struct jsp_writer *w)
{
    bool has_none = !w->is_file || writer_is_new(w);
    int err = !has_none && ftruncate(w->fd, 0) < 0 ? -errno : 0;
    w->size = 0;
    if (err)
        writer_forget(w);
    return err;
}

int jsp_writer_close(struct jsp_writer *w)
{
    int err = jsp_writer_flush_patiently(w);
    int64_t end = writer_now();
    off_t at = w->base + (off_t)offsetof(struct jsp_wire_header, end_time);
    bool has_head = w->appended - w->used >= sizeof(struct jsp_wire_header);
    bool is_ours = writer_is_ours(w), is_whole = writer_check(w) == 0;
    if (is_whole && has_head && w->base >= 0 && pwrite(w->fd, &end, sizeof end, at) < 0 && !err)
        err = -errno;
    if (is_ours && w->is_locked)
        jsp_descriptor_unlock(w->fd);
    if (is_ours && close(w->fd) < 0 && !err)
        err = -errno; /* NFS and quotas report errors here */
    writer_forget(w);
    return err ? err : w->error;
}

void jsp_writer_leave(struct jsp_writer *w)
{
    if (writer_is_ours(w))
        close(w->fd);
    w->fd = -1;
}

void jsp_writer_abandon(struct jsp_writer *w)
{
    jsp_writer_leave(w);
    writer_forget(w);
}

int jsp_writer_fill(struct jsp_writer *w, const void *data, size_t n)
{
    char bytes[JSP_WRITER_SLOT];
    uint64_t written = w->appended - w->used;
    if (!w->slot || n > w->slot_bytes || w->slot_bytes > sizeof bytes)
        return -ESPIPE;
    memset(bytes, '\n', sizeof bytes);
    memcpy(bytes, data, n);
    uint64_t there = written > w->slot ? written - w->slot : 0;
    size_t in_file = there < w->slot_bytes ? (size_t)there : w->slot_bytes;
    if (in_file < w->slot_bytes)
        memcpy(w->bytes + (w->slot + in_file - written), bytes + in_file, w->slot_bytes - in_file);
    int err = in_file ? writer_check(w) : 0;
    if (!err && in_file && pwrite(w->fd, bytes, in_file, w->base + (off_t)w->slot) < 0)
        err = -errno;
    return err;
}

void jsp_writer_discard(struct jsp_writer *w)
{
    w->appended -= w->used;
    w->used = 0;
}
