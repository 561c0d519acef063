/* capture/read.h - the bytes of a .syscap, checked and split into frames.
 *
 * SPDX-License-Identifier: MIT
 *
 * Everything in a capture is a claim by somebody else. A cursor hands out frames
 * that lie whole inside the file; a body function hands out fields that lie whole
 * inside their frame. What can not be read is skipped and counted by cause, never
 * guessed. Nothing is copied: pointers in frames and bodies are borrowed from the
 * open capture. Several cursors may read a capture at once, in one thread.
 *
 * Samples may stand in the embedded file jsprof/stacks, in a compact form: behind each
 * of its chunks a cursor hands them out as frames of type SAMPLE.
 */
#ifndef JSP_CAPTURE_READ_H
#define JSP_CAPTURE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Why something was skipped or repaired. */
enum jsp_read_cause {
    JSP_READ_CUT,     /* the file ends inside a frame */
    JSP_READ_LENGTH,  /* an impossible frame length: nothing after it is readable */
    JSP_READ_TYPE,    /* a frame type outside the format */
    JSP_READ_SHORT,   /* a frame too short for its type */
    JSP_READ_ADDRS,   /* a sample with more addresses than room */
    JSP_READ_VALUES,  /* a frame with more counters than room: those it has are read */
    JSP_READ_EMPTY,   /* a sample without addresses */
    JSP_READ_STRING,  /* text without its end: taken up to the frame's end */
    JSP_READ_NAMES,   /* a JITMAP with fewer names than it says */
    JSP_READ_CHUNK,   /* a file chunk longer than its frame */
    JSP_READ_RECORD,  /* a malformed record in an embedded jsprof/ file */
    JSP_READ_SYMBOLS, /* a malformed __symbols__ file */
    JSP_READ_STACKS,  /* a malformed record in jsprof/stacks: samples behind it are lost */
    JSP_READ_LOST,    /* a sample in jsprof/stacks whose stack was told in what is lost */
    JSP_READ_MEMORY,  /* no memory for the stacks of this chunk of jsprof/stacks */
    JSP_READ_SUM,     /* a sample whose weight or time has no room in a sum: taken as 1 */
    JSP_READ_N_CAUSES,
};

struct jsp_read_defects {
    uint64_t count[JSP_READ_N_CAUSES];
    uint64_t first[JSP_READ_N_CAUSES]; /* file offset, where count is not 0 */
};

struct jsp_read {
    const uint8_t *bytes; /* the whole file; starts 8-byte aligned */
    uint64_t size;
    bool swap;   /* the other byte order than this machine's */
    bool mapped; /* bytes is a mapping, else malloc'ed, else borrowed: */
    bool borrowed;
    struct jsp_read_stacks *stacks; /* owned; what was read of jsprof/stacks */
    char capture_time[65];
    int64_t time, end_time; /* ns; end_time 0: the writer did not finish */
};

/* What a sample of jsprof/stacks says. */
struct jsp_read_packed {
    uint32_t node; /* its stack, equal for equal ones; 0: it is a frame of the file */
    uint32_t ref;  /* for jsp_read_rows */
    int32_t tid;
    bool known;    /* weight and cpu_ns are */
    uint64_t weight, cpu_ns, cut;
};

struct jsp_read_frame {
    const uint8_t *at; /* its header, of a packed sample its chunk's; len bytes are readable */
    uint64_t offset;
    uint32_t len;
    int32_t pid;
    int64_t time;
    int16_t cpu;
    uint8_t type; /* enum jsp_wire_type; others are skipped before */
    struct jsp_read_packed packed;
};

/* A place among the records of jsprof/stacks. */
struct jsp_read_records {
    const uint8_t *at, *end;
    uint32_t next, node; /* the next node's number in the file; the last one told of */
    uint32_t id;         /* the last tagged address, and the last other one: */
    uint64_t addr, time;
    int16_t cpu;
    uint32_t thread, n_threads;
    struct {
        int32_t pid, tid;
        uint64_t time; /* of its last sample */
    } threads[64]; /* JSP_WIRE_STACKS_THREADS */
};

struct jsp_read_cursor {
    const struct jsp_read *capture;
    struct jsp_read_defects *defects; /* borrowed; NULL: nobody counts */
    uint64_t offset;
    const struct read_block *block; /* of jsprof/stacks, that it is in; NULL: in none */
    struct jsp_read_records records;
};

/* Text that may lack its end; never read beyond len. */
struct jsp_read_text {
    const char *at;
    uint32_t len;
};

struct jsp_read_sample {
    const uint8_t *addrs; /* n_addrs of 8 bytes, leaf first, in the file's order; NULL: */
    uint32_t node;        /* they are told by jsp_read_node */
    uint32_t n_addrs;
    int32_t tid;
};

struct jsp_read_map {
    uint64_t start, end, offset;
    uint64_t inode;                /* 0: not known */
    struct jsp_read_text path;
    struct jsp_read_text build_id; /* in hexadecimal; empty: not known */
};

struct jsp_read_mark {
    int64_t duration;
    struct jsp_read_text group, name, message;
};

struct jsp_read_pair { /* METADATA: id and value; LOG: domain and message */
    struct jsp_read_text key, value;
};

struct jsp_read_chunk {
    struct jsp_read_text path;
    const uint8_t *data;
    uint32_t len;
    bool is_last;
};

/* One counter of a CTRDEF, or one value of a CTRSET: those have neither text nor type. */
struct jsp_read_counter {
    struct jsp_read_text group, name, what;
    uint32_t id;
    bool is_real;
    uint64_t bits; /* of an int64_t or, is_real, a double */
};

/* Iterates the counters or the values of one frame. */
struct jsp_read_counters {
    uint32_t at, n;
};

/* Iterates the names of one JITMAP. */
struct jsp_read_names {
    const uint8_t *at, *end;
    uint32_t left; /* how many it says are still to come */
};

enum { JSP_READ_WHY = 160 };

/* Open a file, or standard input for "-". 0, or a negative errno (-EBADMSG: not a
 * capture) and one line of text, without path, in `why`; *r is then untouched. */
int jsp_read_open(struct jsp_read *r, const char *path, char why[JSP_READ_WHY]);

/* The same for bytes in memory, borrowed until close, 8-byte aligned. */
int jsp_read_memory(struct jsp_read *r, const void *bytes, uint64_t size,
                    char why[JSP_READ_WHY]);
void jsp_read_close(struct jsp_read *r);

void jsp_read_start(struct jsp_read_cursor *c, const struct jsp_read *r,
                    struct jsp_read_defects *defects);
bool jsp_read_next(struct jsp_read_cursor *c, struct jsp_read_frame *out);

/* Bodies. False: the frame is not readable as this and was counted. */
bool jsp_read_sample(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                     struct jsp_read_sample *out);
bool jsp_read_map(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                  struct jsp_read_map *out);
bool jsp_read_process(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                      struct jsp_read_text *out);
bool jsp_read_fork(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   int32_t *child);
bool jsp_read_mark(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_mark *out);
bool jsp_read_pair(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_pair *out);
bool jsp_read_chunk(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                    struct jsp_read_chunk *out);
bool jsp_read_counters(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                       struct jsp_read_counters *out);
bool jsp_read_names(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                    struct jsp_read_names *out);

/* The next {address, name} of a JITMAP; false at its end. */
bool jsp_read_name(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_names *names, uint64_t *addr,
                   struct jsp_read_text *name);

/* The next counter of a CTRDEF or value of a CTRSET; false at the end. */
bool jsp_read_counter(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                      struct jsp_read_counters *all, struct jsp_read_counter *out);

/* The leaf of a packed stack; *node becomes its caller, 0 behind the outermost. */
uint64_t jsp_read_node(const struct jsp_read *r, uint32_t *node, uint64_t *line);
uint32_t jsp_read_depth(const struct jsp_read *r, uint32_t node);

/* The rows of a packed sample, as in jsprof/pcs, leaf first; returns how many. */
uint32_t jsp_read_rows(const struct jsp_read *r, uint32_t ref, uint32_t *out, uint32_t most);

void jsp_read_count(struct jsp_read_defects *d, enum jsp_read_cause why, uint64_t offset);
const char *jsp_read_cause_text(enum jsp_read_cause why); /* "samples without ..." */

/* Little base-128 numbers of jsprof/ files. False: cut short or over 64 bits. */
bool jsp_read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out);

static inline uint64_t jsp_read_u64(const struct jsp_read *r, const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return r->swap ? __builtin_bswap64(v) : v;
}

static inline uint32_t jsp_read_u32(const struct jsp_read *r, const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return r->swap ? __builtin_bswap32(v) : v;
}

static inline uint16_t jsp_read_u16(const struct jsp_read *r, const uint8_t *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return r->swap ? __builtin_bswap16(v) : v;
}

#endif
