/* capture/writer.h - writes frames of a .syscap to a file descriptor.
 *
 * A bounded buffer of bytes in front of write(): frames are appended whole or refused
 * with -ENOBUFS; flush writes as much as possible and keeps the rest. So a full disk or a
 * slow pipe loses new samples (which the caller counts), but never the shape of the file,
 * and never grows the host.
 *
 * One thread at a time; nothing here locks. Every function that appends returns 0 or
 * -ENOBUFS, and has then appended nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_WRITER_H
#define JSP_CAPTURE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct jsp_writer {
    int fd;            /* owned; -1: closed, or nowhere */
    dev_t dev;         /* the file of fd at open: a host that closes it and */
    ino_t ino;         /* opens another must not get our bytes there */
    bool is_locked;    /* our lock; forked children may hold copies of the descriptor */
    int64_t base;      /* offset of our first byte in it; -1: it has no offsets */
    int64_t size;      /* size of the file at open */
    bool is_file;      /* a regular one */
    bool has_name;     /* the file had a name at open */
    enum jsp_writer_way {
        JSP_WRITER_PLAIN,   /* write() does not wait, or not for a reader */
        JSP_WRITER_SOCKET,
        JSP_WRITER_CAREFUL, /* poll, then write as much as a pipe certainly takes */
        JSP_WRITER_NOWHERE, /* take everything and write nothing */
    } way;
    bool stalled;      /* a wait was in vain, and it has taken nothing since */
    int32_t pid;
    uint8_t *bytes;    /* owned */
    size_t capacity;
    size_t used;       /* bytes in the buffer */
    uint64_t appended; /* bytes ever appended; appended - used are written */
    uint64_t limit;    /* the file takes so many of them: see flush; 0: any number */
    size_t begun; /* bytes at the buffer's start that end a frame begun in the file */
    uint64_t slot;     /* offset of the reserved bytes in the capture; 0: none */
    uint32_t slot_bytes;
    int error;         /* last negative errno of a write; 0: none */

    /* Always:  used <= capacity; bytes [0, used) continue the file at
     *          appended - used */
};

enum {
    JSP_WRITER_BYTES = 1 << 20, /* the buffer */
    JSP_WRITER_PATIENCE_MS = 2000,
    JSP_WRITER_MOMENT_MS = 200,
    JSP_WRITER_SLOT = 1536, /* maximum of bytes that can be reserved */
    /* part of it that samples must not use, for the account of losses */
    JSP_WRITER_SPARE = 1 << 17,
};

/* Write the time since 1970 as the file's head has it, in UTC. The C library would read the
 * host's time zone from a file for it. */
enum { JSP_WRITER_DATE = 64 };
void jsp_writer_date(char text[JSP_WRITER_DATE], uint64_t seconds);

/* Take over `fd` and begin the file. Return 0, -ENOMEM, or the errno of fstat; fd then
 * stays the caller's. A pipe or terminal in blocking mode is opened again without that
 * mode, and the new descriptor replaces `fd`, because the host shares the old one's
 * flags. */
int jsp_writer_open(struct jsp_writer *w, int fd, int32_t pid);

/* Take what is appended, and write it nowhere. That needs no descriptor, which a host may lack at
 * that moment. 0 or -ENOMEM. */
int jsp_writer_open_nowhere(struct jsp_writer *w, int32_t pid);

/* Empty a regular file, after open. On an error nothing is open, and `fd` is the
 * caller's. */
int jsp_writer_empty(struct jsp_writer *w);

/* Flush, set the end time, close. Return 0 or the last error of writing. */
int jsp_writer_close(struct jsp_writer *w);

/* Close without writing a byte: the file is another process's. */
void jsp_writer_abandon(struct jsp_writer *w);

/* Close only the descriptor: right after a fork, so that the parent's lock ends with the
 * parent. */
void jsp_writer_leave(struct jsp_writer *w);

/* Write the buffer. Return 0, or the negative errno that left a part of it. -EAGAIN (a
 * slow pipe) is not kept in `error`, because nothing is lost yet. -ESTALE: another
 * program has truncated or removed a regular file, or writes to it. -EBADF: the
 * descriptor now belongs to another file, or the writer is closed. -EFBIG: the file is as large as
 * `limit` allows. */
int jsp_writer_flush(struct jsp_writer *w);

/* Do the same, but wait for a pipe that takes nothing, JSP_WRITER_PATIENCE_MS at most. If the
 * wait was in vain, do not wait again before the pipe takes something, or jsp_writer_forgive
 * is called. */
int jsp_writer_flush_patiently(struct jsp_writer *w);

/* Do the same, but wait only for a moment. */
int jsp_writer_flush_for_a_moment(struct jsp_writer *w);

/* Let the next flush wait again. */
void jsp_writer_forgive(struct jsp_writer *w);

/* Return the number of whole frames of a type in the buffer, which a drop would lose. */
uint64_t jsp_writer_waiting(const struct jsp_writer *w, uint8_t type);

/* Return where byte `at` of the capture will be after jsp_writer_drop. */
uint64_t jsp_writer_after_drop(const struct jsp_writer *w, const char *const *but, uint64_t at);

/* Drop the buffer, except the rest of a frame that the file has begun, and except the
 * chunks of the embedded files in `but`, which ends with NULL. */
void jsp_writer_drop(struct jsp_writer *w, const char *const *but);

/* Append the PROCESS frame. Return 0 or -ENOBUFS. */
int jsp_writer_process(struct jsp_writer *w, const char *command_line);

/* Append a METADATA frame. Return 0 or -ENOBUFS. */
int jsp_writer_metadata(struct jsp_writer *w, const char *id, const char *value);

/* Append a TIMESTAMP frame. Return 0 or -ENOBUFS. */
int jsp_writer_timestamp(struct jsp_writer *w);

/* Append a whole encoded frame, by its own length, without using the spare room. */
int jsp_writer_copy(struct jsp_writer *w, const void *frame);

/* Append an executable mapping of a file. */
struct jsp_read_map;
int jsp_writer_map(struct jsp_writer *w, const struct jsp_read_map *map);

/* Append one name for one address. */
int jsp_writer_jitmap(struct jsp_writer *w, uint64_t addr, const char *name);

struct jsp_writer_sample {
    uint64_t time_ns;
    int32_t tid;
    const uint64_t *addrs; /* leaf first */
    uint32_t n_addrs;      /* 1..JSP_WIRE_MAX_ADDRS */
};

/* Append a sample without using the spare room. */
int jsp_writer_sample(struct jsp_writer *w, const struct jsp_writer_sample *sample);

struct jsp_writer_allocation {
    struct jsp_writer_sample sample; /* may have no addresses */
    uint64_t number;
    int64_t size; /* 0: it was freed */
};

/* Append a sampled allocation without using the spare room. */
int jsp_writer_allocation(struct jsp_writer *w, const struct jsp_writer_allocation *a);

/* Append the next bytes of an embedded file, in several frames if needed. */
int jsp_writer_chunk(struct jsp_writer *w, const char *path, const void *data, size_t n);

/* The records of a run of samples in a file of blocks, as one chunk: the tag, the ordinal
 * of the first sample, their number, and the bytes. */
struct jsp_writer_block {
    const char *path;
    uint64_t first, count;
    const void *data;
    size_t n; /* at most 1 << 15 */
};
int jsp_writer_block(struct jsp_writer *w, const struct jsp_writer_block *block);

/* Reserve n bytes of an embedded file (newlines), to be overwritten even when the file
 * system is full: overwriting needs no new blocks. A pipe cannot be overwritten; there
 * this does nothing. */
int jsp_writer_reserve(struct jsp_writer *w, const char *path, uint32_t n);

/* Write `n` bytes into the reserved place, and newlines after them: at once, or with the
 * buffer if the place is still in it. Return 0, -ESPIPE if there is no such place, or the
 * errno of writing. */
int jsp_writer_fill(struct jsp_writer *w, const void *data, size_t n);

/* Drop the whole buffer, because the file is not written any more. */
void jsp_writer_discard(struct jsp_writer *w);

/* Append a whole embedded file of any size; flush when needed. Return 0 or the errno of
 * that. */
int jsp_writer_file(struct jsp_writer *w, const char *path, const void *data, size_t n);

/* Append the empty chunk that ends an embedded file. */
int jsp_writer_chunk_end(struct jsp_writer *w, const char *path);

#endif
