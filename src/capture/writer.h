/* capture/writer.h - frames of a .syscap, on their way to a file descriptor.
 *
 * A bounded buffer of bytes in front of write(): frames are appended whole or
 * refused with -ENOBUFS, flush writes what it can and keeps the rest. So a full
 * disk or a slow pipe loses new samples (which the caller counts), never the
 * shape of the file, and never grows the host.
 *
 * One thread at a time; nothing here locks. Every function that appends answers 0
 * or -ENOBUFS, and has then appended nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_WRITER_H
#define JSP_CAPTURE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jsp_writer {
    int fd;            /* owned; -1: closed */
    dev_t dev;         /* the file that fd was at open: a host that closes it and */
    ino_t ino;         /* opens another must not find our bytes there */
    bool is_locked;    /* by us: forked children may hold copies of the descriptor */
    int64_t base;      /* where in it our first byte stands; -1: it has no places */
    int64_t size;      /* of the file then */
    bool is_file;      /* a regular one */
    bool has_name;     /* it had one */
    enum jsp_writer_way {
        JSP_WRITER_PLAIN,   /* write() by itself does not wait, or not for a reader */
        JSP_WRITER_SOCKET,
        JSP_WRITER_CAREFUL, /* ask, and write as much as a pipe then has room for */
    } way;
    bool stalled;      /* it was waited for in vain, and has taken nothing since */
    int32_t pid;
    uint8_t *bytes;    /* owned */
    size_t capacity;
    size_t used;       /* bytes that wait */
    uint64_t appended; /* bytes ever appended; appended - used are written */
    size_t begun;      /* bytes at the buffer's start that end a frame begun in the file */
    uint64_t slot;     /* where in the capture the reserved bytes lie; 0: there are none */
    uint32_t slot_bytes;
    int error;         /* last negative errno of writing; 0: none */

    /* Always:  used <= capacity; bytes [0, used) continue the file at
     *          appended - used */
};

enum {
    JSP_WRITER_BYTES = 1 << 20, /* the buffer */
    JSP_WRITER_PATIENCE_MS = 2000,
    JSP_WRITER_MOMENT_MS = 200,
    JSP_WRITER_SLOT = 1536, /* bytes that can be reserved, at most */
    JSP_WRITER_SPARE = 1 << 17, /* of it kept free of samples, for what tells of losses */
};

/* Take over `fd`, begin the file. -ENOMEM, or fstat's errno: fd stays the caller's. A pipe or
 * terminal in blocking mode is opened anew, without that mode, and the new descriptor takes
 * the place of `fd`: the flag is the host's, which shares it. */
int jsp_writer_open(struct jsp_writer *w, int fd, int32_t pid);

/* After open: what a regular file holds goes. Errno: nothing is open, and `fd` the caller's. */
int jsp_writer_empty(struct jsp_writer *w);

/* Flush, set the end time, close. The last error of writing comes back. */
int jsp_writer_close(struct jsp_writer *w);

/* Close without writing a byte: the file is another process's. */
void jsp_writer_abandon(struct jsp_writer *w);

/* The descriptor alone: right after a fork, so that the parent's lock ends with the parent. */
void jsp_writer_leave(struct jsp_writer *w);

/* Write what waits. 0, or the negative errno that left something waiting; -EAGAIN (a
 * slow pipe) is not kept in `error`, for nothing is lost by it yet. -ESTALE: another program
 * has cut a regular file, removed it, or writes to it; -EBADF: the descriptor is another
 * file now. */
int jsp_writer_flush(struct jsp_writer *w);

/* The same; a pipe that takes nothing is waited for, JSP_WRITER_PATIENCE_MS at most, or a
 * moment. Once that was in vain it is not waited for again before it takes something, or
 * jsp_writer_forgive was called. */
int jsp_writer_flush_patiently(struct jsp_writer *w);
int jsp_writer_flush_for_a_moment(struct jsp_writer *w);
void jsp_writer_forgive(struct jsp_writer *w);

/* How many whole frames of a type wait: what forgetting them would lose. */
uint64_t jsp_writer_waiting(const struct jsp_writer *w, uint8_t type);

/* Where byte `at` of the capture will be once jsp_writer_drop has been called. */
uint64_t jsp_writer_after_drop(const struct jsp_writer *w, const char *const *but, uint64_t at);

/* Forget what waits, but for the rest of a frame that the file has the beginning of and
 * for the chunks of some embedded files, of which the last is NULL. */
void jsp_writer_drop(struct jsp_writer *w, const char *const *but);

int jsp_writer_process(struct jsp_writer *w, const char *command_line);
int jsp_writer_metadata(struct jsp_writer *w, const char *id, const char *value);
int jsp_writer_timestamp(struct jsp_writer *w);

/* Append a whole frame that the caller encoded, by its own length; leave the spare room. */
int jsp_writer_copy(struct jsp_writer *w, const void *frame);

/* Append an executable mapping of a file. */
struct jsp_read_map;
int jsp_writer_map(struct jsp_writer *w, const struct jsp_read_map *map);

/* One name for one address. */
int jsp_writer_jitmap(struct jsp_writer *w, uint64_t addr, const char *name);

struct jsp_writer_sample {
    uint64_t time_ns;
    int32_t tid;
    const uint64_t *addrs; /* leaf first */
    uint32_t n_addrs;      /* 1..JSP_WIRE_MAX_ADDRS */
};

/* Refused already when only the spare room is left. */
int jsp_writer_sample(struct jsp_writer *w, const struct jsp_writer_sample *sample);

/* The next bytes of an embedded file; more than fit one frame become several. */
int jsp_writer_chunk(struct jsp_writer *w, const char *path, const void *data, size_t n);

/* What a file of blocks says of a run of samples, as one chunk: the tag, the ordinal of the
 * first sample, how many there are, and so many bytes. */
struct jsp_writer_block {
    const char *path;
    uint64_t first, count;
    const void *data;
    size_t n; /* 1 << 15 at most */
};
int jsp_writer_block(struct jsp_writer *w, const struct jsp_writer_block *block);

/* Reserve so many bytes of an embedded file (newlines), to be written again once the file may
 * be full: blocks that a file has are overwritten without new ones. A pipe has no such place;
 * there this does nothing. */
int jsp_writer_reserve(struct jsp_writer *w, const char *path, uint32_t n);

/* Write `n` bytes into what was reserved, and newlines after them: at once, or with the rest if
 * it waits itself. -ESPIPE: there is no such place; or the errno of writing. */
int jsp_writer_fill(struct jsp_writer *w, const void *data, size_t n);

/* Forget all that waits: the file is not written any more. */
void jsp_writer_discard(struct jsp_writer *w);

/* A whole embedded file of any size; flushes as it goes. Or the errno of that. */
int jsp_writer_file(struct jsp_writer *w, const char *path, const void *data, size_t n);

/* The empty chunk that ends an embedded file. */
int jsp_writer_chunk_end(struct jsp_writer *w, const char *path);

#endif
