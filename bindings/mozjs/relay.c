/* relay.c - a session's capture, on its way into Sysprof's own recording.
 *
 * SPDX-License-Identifier: MIT
 */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipe.h"
#include "relay_numbers.h"
#include "relay_ring.h"

enum {
    RELAY_HEADER_BYTES = 256, /* of a capture file */
    RELAY_FRAME_BYTES = 24,   /* the least that a frame has */
    RELAY_FRAME_MAX = 65528,
    RELAY_PIPE_BYTES = 1 << 20,
    RELAY_STACK = 512 << 10,
    /* The types of frames, as in docs/capture.md. */
    RELAY_CTRDEF = 8,
    RELAY_CTRSET = 9,
    RELAY_METADATA = 11,
    RELAY_FILE_CHUNK = 13,
    /* Where they have their names, and the bytes of these. */
    RELAY_ID = 24,
    RELAY_ID_BYTES = 40,
    RELAY_PATH = 28,
    RELAY_PATH_BYTES = 256,
};

struct relay {
    pthread_t thread;
    int output;             /* the pipe's */
    int file;               /* a duplicate; -1: frames go to the ring */
    struct relay_ring ring; /* used if file is -1 */
    uint32_t counter_base;
    int has_numbers; /* whether the process's part of them is not 0 */
    struct relay_numbers numbers;
    struct relay_result result;

    unsigned char buffer[2 * RELAY_FRAME_MAX];
    size_t n; /* bytes in buffer that are not passed on yet */

    /* The rest of a frame whose beginning is in the file. */
    unsigned char rest[RELAY_FRAME_MAX];
    size_t n_rest;
};

/* -- Numbers of counters ---------------------------------------------------------- */

static void relay_move_u24(unsigned char *at, uint32_t base)
{
    uint32_t id = 0;

    memcpy(&id, at, 3);
    id = base | (id & 0xfff);
    memcpy(at, &id, 3);
}

static void relay_move_u32(unsigned char *at, uint32_t base)
{
    uint32_t id;

    memcpy(&id, at, sizeof id);
    id = id ? base | (id & 0xfff) : 0; /* 0: no counter */
    memcpy(at, &id, sizeof id);
}

static void relay_move_counters(unsigned char *frame, size_t len, uint32_t base)
{
    const size_t record = frame[16] == RELAY_CTRDEF ? 128 : 96;

    for (size_t at = 32; at + record <= len; at += record) {
        if (frame[16] == RELAY_CTRDEF)
            relay_move_u24(frame + at + 116, base);
        for (size_t i = 0; frame[16] == RELAY_CTRSET && i < 8; i++)
            relay_move_u32(frame + at + 4 * i, base);
    }
}

/* -- Passing on -------------------------------------------------------------------- */

/* Return how many of the bytes the file has accepted. */
static size_t relay_write(int fd, const unsigned char *bytes, size_t n)
{
    size_t at = 0;

    while (at < n) {
        ssize_t wrote = write(fd, bytes + at, n - at);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            break;
        at += (size_t)wrote;
    }
    return at;
}

/* Return -1 if the file still has only a part of a frame. */
static int relay_settle(struct relay *r)
{
    size_t wrote = relay_write(r->file, r->rest, r->n_rest);

    r->n_rest -= wrote;
    memmove(r->rest, r->rest + wrote, r->n_rest);
    return r->n_rest > 0 ? -1 : 0;
}

/* A frame must follow the end of the previous one, or all later frames would be garbage.
 * So the rest of a frame that did not fit goes before the next frame. Return -1 if
 * nothing of it was written. */
static int relay_file_put(struct relay *r, const unsigned char *bytes, size_t n)
{
    if (relay_settle(r) < 0)
        return -1;
    size_t wrote = relay_write(r->file, bytes, n);

    if (wrote == 0)
        return -1;
    r->n_rest = n - wrote;
    memcpy(r->rest, bytes + wrote, r->n_rest);
    return 0;
}

static void relay_put(struct relay *r, const unsigned char *frame, size_t len)
{
    r->result.frames++;
    if ((r->file >= 0 ? relay_file_put(r, frame, len)
                      : relay_ring_put(&r->ring, frame, len)) < 0)
        r->result.lost++;
}

/* Tell readers that our samples are in Sysprof's recording, without their weights. */
static void relay_put_note(struct relay *r, unsigned char *version, size_t len)
{
    memset(version + RELAY_ID, 0, RELAY_ID_BYTES);
    strcpy((char *)version + RELAY_ID, "jsprof.relayed");
    relay_put(r, version, len);
}

/* Return whether this embedded file is true in another recording: that of the functions' kinds,
 * whose numbers have a part of the process's. Others count the samples of ours. Where Sysprof
 * numbers the functions anew, from 1, that part must be there, or they had a wrong kind. */
static bool relay_holds(const struct relay *r, const unsigned char *frame, size_t len)
{
    const char *path = (const char *)frame + RELAY_PATH;

    return r->has_numbers && len >= RELAY_PATH + RELAY_PATH_BYTES &&
           strncmp(path, "jsprof/frames", RELAY_PATH_BYTES) == 0;
}

static void relay_put_numbers(struct relay *r)
{
    size_t len = relay_numbers_take(&r->numbers);

    if (len)
        relay_put(r, r->numbers.frame, len);
}

/* Sysprof's numbers may be others: see relay_numbers.h. */
static void relay_number(struct relay *r, const unsigned char *frame, size_t len)
{
    if (!r->has_numbers || relay_numbers_note(&r->numbers, frame, len) == 0)
        return;
    relay_put_numbers(r);
    relay_numbers_note(&r->numbers, frame, len);
}

static void relay_frame(struct relay *r, unsigned char *frame, size_t len)
{
    const unsigned char type = frame[16];
    const char *id = (const char *)frame + RELAY_ID;

    if (type == RELAY_FILE_CHUNK && !relay_holds(r, frame, len))
        return;
    if (type == RELAY_CTRDEF || type == RELAY_CTRSET)
        relay_move_counters(frame, len, r->counter_base);
    relay_put(r, frame, len);
    relay_number(r, frame, len);
    if (type == RELAY_METADATA && len >= RELAY_ID + RELAY_ID_BYTES &&
        strncmp(id, "jsprof.version", RELAY_ID_BYTES) == 0)
        relay_put_note(r, frame, len);
}

/* Pass on the whole frames in the buffer and keep the rest. Return -1 if these are no
 * frames. */
static int relay_frames(struct relay *r)
{
    size_t at = 0;

    while (r->n - at >= RELAY_FRAME_BYTES) {
        uint16_t len;

        memcpy(&len, r->buffer + at, sizeof len);
        if (len < RELAY_FRAME_BYTES || len % 8 != 0)
            return -1;
        if (r->n - at < len)
            break;
        relay_frame(r, r->buffer + at, len);
        at += len;
    }
    memmove(r->buffer, r->buffer + at, r->n - at);
    r->n -= at;
    return 0;
}

/* Fill the buffer to `want` bytes. Return false if the input ended before. */
static bool relay_fill(struct relay *r, size_t want)
{
    while (r->n < want) {
        ssize_t got = read(r->output, r->buffer + r->n, sizeof r->buffer - r->n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        r->n += (size_t)got;
    }
    return true;
}

/* Begin a file with the capture's header; a ring has none. */
static bool relay_header(struct relay *r)
{
    if (!relay_fill(r, RELAY_HEADER_BYTES))
        return false;
    if (r->file >= 0 && relay_file_put(r, r->buffer, RELAY_HEADER_BYTES) < 0)
        return false;
    r->n -= RELAY_HEADER_BYTES;
    memmove(r->buffer, r->buffer + RELAY_HEADER_BYTES, r->n);
    return true;
}

/* Read the whole input, even if it is no capture or can not be written: its writer must
 * not wait for ever. */
static void *relay_run(void *data)
{
    struct relay *r = data;
    bool good = relay_header(r);

    while (good && relay_frames(r) == 0)
        if (!relay_fill(r, r->n + 1)) {
            relay_put_numbers(r);
            return NULL;
        }
    do
        r->n = 0;
    while (relay_fill(r, 1));
    return NULL;
}

/* -- Life --------------------------------------------------------------------------- */

static int relay_start(struct relay *r)
{
    sigset_t all, before;
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, RELAY_STACK); /* the default is the program's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&r->thread, &attr, relay_run, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return -err;
}

static int relay_open(struct relay *r, int *input)
{
    int ends[2] = { -1, -1 };

    int err = pipe_above(ends);
    if (err < 0)
        return err;
    (void)fcntl(ends[0], F_SETPIPE_SZ, RELAY_PIPE_BYTES); /* a smaller one will do */
    r->output = ends[0];
    r->has_numbers = (getpid() & 0xfff) != 0;
    r->counter_base = 0x800000 | ((uint32_t)getpid() & 0x7ff) << 12;

    err = relay_start(r);
    if (err < 0) {
        close(ends[0]);
        close(ends[1]);
        return err;
    }
    *input = ends[1];
    return 0;
}

int relay_to_ring(struct relay **out, int control_fd, int *input)
{
    struct relay *r = calloc(1, sizeof *r);

    if (!r)
        return -ENOMEM;
    r->file = -1;
    int err = relay_ring_ask(&r->ring, control_fd);
    if (err < 0)
        goto free;
    err = relay_open(r, input);
    if (err < 0)
        goto unmap;
    *out = r;
    return 0;

unmap:
    relay_ring_close(&r->ring);
free:
    free(r);
    return err;
}

int relay_to_file(struct relay **out, int fd, int *input)
{
    struct relay *r = calloc(1, sizeof *r);
    int err;

    if (!r)
        return -ENOMEM;
    r->file = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (r->file < 0) {
        err = -errno;
        goto free;
    }
    err = relay_open(r, input);
    if (err < 0)
        goto close;
    *out = r;
    return 0;

close:
    close(r->file);
free:
    free(r);
    return err;
}

void relay_close(struct relay *r, struct relay_result *result)
{
    pthread_join(r->thread, NULL);
    if ((r->file >= 0 ? relay_settle(r) : relay_ring_finish(&r->ring)) < 0)
        r->result.lost++;
    *result = r->result;
    if (r->file >= 0)
        close(r->file);
    else
        relay_ring_close(&r->ring);
    close(r->output);
    free(r);
}
