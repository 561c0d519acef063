/* capture/read.h - a reader of .syscap files, checked and split into frames.
 *
 * No byte of a capture is trusted. A cursor returns frames that are completely inside the
 * file; a body function returns fields that are completely inside their frame. Unreadable
 * data are skipped and counted by cause, never guessed. Nothing is copied: pointers in
 * frames and bodies are borrowed from the open capture. Several cursors may read a
 * capture at the same time, in one thread.
 *
 * Samples may be stored in the embedded file jsprof/stacks, in a compact form: after each
 * of its chunks a cursor returns them as frames of type SAMPLE.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_READ_H
#define JSP_CAPTURE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/states.h"

/* The reason why something was skipped or repaired. */
enum jsp_read_cause {
    JSP_READ_CUT,     /* the file ends inside a frame */
    JSP_READ_LENGTH,  /* an impossible frame length: nothing after it is readable */
    JSP_READ_TYPE,    /* a frame type outside the format */
    JSP_READ_SHORT,   /* a frame too short for its type */
    JSP_READ_ADDRS,   /* a sample with more addresses than room */
    JSP_READ_VALUES,  /* a frame with more counters than room: those that fit are read */
    JSP_READ_EMPTY,   /* a sample without addresses */
    JSP_READ_STRING,  /* text without its end: taken up to the frame's end */
    JSP_READ_NAMES,   /* a JITMAP with fewer names than it claims */
    JSP_READ_CHUNK,   /* a file chunk longer than its frame */
    JSP_READ_RECORD,  /* a malformed record in an embedded jsprof/ file */
    JSP_READ_SYMBOLS, /* a malformed __symbols__ file */
    /* a malformed record in jsprof/stacks: later samples of its chunk are lost */
    JSP_READ_STACKS,
    JSP_READ_LOST,    /* a sample in jsprof/stacks whose stack was in a lost record */
    JSP_READ_MEMORY,  /* no memory for the stacks of this chunk of jsprof/stacks */
    JSP_READ_SUM,     /* a sample whose weight or time would overflow a sum: taken as 1 */
    JSP_READ_N_CAUSES,
};

struct jsp_read_defects {
    uint64_t count[JSP_READ_N_CAUSES];
    uint64_t first[JSP_READ_N_CAUSES]; /* file offset, if count is not 0 */
};

struct jsp_read {
    const uint8_t *bytes; /* the whole file, 8-byte aligned */
    uint64_t size;
    bool swap;   /* the file has the other byte order than this machine */
    bool mapped; /* bytes is a mapping; if neither flag is set, malloc'ed */
    bool borrowed;
    struct jsp_read_stacks *stacks; /* owned; data of jsprof/stacks read so far */
    char capture_time[65];
    int64_t time, end_time; /* ns; end_time 0: the writer did not finish */
};

/* What a sampled thread was doing; see base/states.h. */
struct jsp_read_state {
    enum jsp_state state;
    /* If it is asleep: the number + 1 of the system call, the call's descriptor + 1 (0: none),
     * and the time so far. */
    uint64_t call, descriptor, asleep_ns;
    uint32_t name; /* in a wait of the host: id of the tagged address of what it waits for */
};

/* The data of a sample in jsprof/stacks. */
struct jsp_read_packed {
    uint32_t node; /* its stack; equal stacks have equal numbers; 0: a SAMPLE frame */
    uint32_t ref;  /* for jsp_read_rows */
    int32_t tid;
    bool known;    /* weight and cpu_ns are known */
    uint64_t weight, cpu_ns, cut;
    struct jsp_read_state state;
    uint64_t task; /* number of the task that ran; 0: none */
    uint64_t labels; /* the same of its labels */
};

struct jsp_read_frame {
    const uint8_t *at; /* its header, or that of a packed sample's chunk; len bytes */
    uint64_t offset;
    uint32_t len;
    int32_t pid;
    int64_t time;
    int16_t cpu;
    uint8_t type; /* enum jsp_wire_type; other types are skipped */
    struct jsp_read_packed packed;
};

/* A position among the records of jsprof/stacks. */
struct jsp_read_records {
    const uint8_t *at, *end;
    uint32_t next, node; /* the next node's number in the file; the last node read */
    uint32_t id;         /* the last tagged address, and the last untagged one: */
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
    struct jsp_read_defects *defects; /* borrowed; NULL: do not count */
    uint64_t offset;
    const struct read_block *block; /* the current block of jsprof/stacks; NULL: none */
    struct jsp_read_records records;
};

/* Text that may lack a NUL; never read more than len bytes. */
struct jsp_read_text {
    const char *at;
    uint32_t len;
};

struct jsp_read_sample {
    const uint8_t *addrs; /* n_addrs of 8 bytes, leaf first, in the file's order; NULL: */
    uint32_t node;        /* ... jsp_read_node returns them */
    uint32_t n_addrs;
    int32_t tid;
};

struct jsp_read_allocation {
    struct jsp_read_sample at; /* the stack; never in jsprof/stacks */
    uint64_t block;            /* a number or an address */
    int64_t size;              /* not above 0: the block was freed */
};

struct jsp_read_map {
    uint64_t start, end, offset;
    uint64_t inode;                /* 0: unknown */
    struct jsp_read_text path;
    struct jsp_read_text build_id; /* in hexadecimal; empty: unknown */
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

/* One counter of a CTRDEF, or one value of a CTRSET, which has neither text nor type. */
struct jsp_read_counter {
    struct jsp_read_text group, name, what;
    uint32_t id;
    bool is_real;
    uint64_t bits; /* an int64_t or, if is_real, a double */
};

/* Iterates the counters or the values of one frame. */
struct jsp_read_counters {
    uint32_t at, n;
};

/* Iterates the names of one JITMAP. */
struct jsp_read_names {
    const uint8_t *at, *end;
    uint32_t left; /* number of names that the frame claims still to have */
};

enum { JSP_READ_WHY = 160 };

/* Open a file, or standard input for "-". Return 0, or a negative errno (-EBADMSG: not a
 * capture) with one line of text, without path, in `why`; *r is then untouched. */
int jsp_read_open(struct jsp_read *r, const char *path, char why[JSP_READ_WHY]);

/* Do the same for what a descriptor has from its position on. It remains open. */
int jsp_read_descriptor(struct jsp_read *r, int fd, char why[JSP_READ_WHY]);

/* Do the same for bytes in memory, borrowed until close, 8-byte aligned. */
int jsp_read_memory(struct jsp_read *r, const void *bytes, uint64_t size,
                    char why[JSP_READ_WHY]);

/* Close the capture and free what was read of it. Bytes in memory stay the caller's. */
void jsp_read_close(struct jsp_read *r);

/* Begin a pass over all frames. Defects are counted in `defects`. */
void jsp_read_start(struct jsp_read_cursor *c, const struct jsp_read *r,
                    struct jsp_read_defects *defects);

/* Read the next frame. Return false at the end. */
bool jsp_read_next(struct jsp_read_cursor *c, struct jsp_read_frame *out);

/* Go to the next chunk of the embedded file `path`, without reading samples. Return false if
 * there is none. */
bool jsp_read_file(struct jsp_read_cursor *c, const char *path, struct jsp_read_frame *frame,
                   struct jsp_read_chunk *chunk);

/* Read a sample. Return false if the frame is not readable as one; it was then counted. */
bool jsp_read_sample(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                     struct jsp_read_sample *out);

/* Read an allocation. Return false and count the frame if it is malformed. */
bool jsp_read_allocation(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                         struct jsp_read_allocation *out);

/* Read a mapping. Return false and count the frame if it is malformed. */
bool jsp_read_map(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                  struct jsp_read_map *out);

/* Read the command line of a process. */
bool jsp_read_process(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                      struct jsp_read_text *out);

/* Read a fork. Return false and count the frame if it is malformed. */
bool jsp_read_fork(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   int32_t *child);

/* Read a mark. Return false and count the frame if it is malformed. */
bool jsp_read_mark(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_mark *out);

/* Read the two texts of metadata or of a log. Return false and count the frame if it is
 * malformed. */
bool jsp_read_pair(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_pair *out);

/* Read a chunk of an embedded file. Return false and count the frame if it is malformed. */
bool jsp_read_chunk(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                    struct jsp_read_chunk *out);

/* Read the head of a CTRDEF or a CTRSET. Return false and count the frame if it is
 * malformed. */
bool jsp_read_counters(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                       struct jsp_read_counters *out);

/* Read the head of a JITMAP. Return false and count the frame if it is malformed. */
bool jsp_read_names(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                    struct jsp_read_names *out);

/* Read the next {address, name} of a JITMAP. Return false at the end. */
bool jsp_read_name(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                   struct jsp_read_names *names, uint64_t *addr,
                   struct jsp_read_text *name);

/* Read the next counter of a CTRDEF or value of a CTRSET. Return false at the end. */
bool jsp_read_counter(const struct jsp_read_cursor *c, const struct jsp_read_frame *f,
                      struct jsp_read_counters *all, struct jsp_read_counter *out);

/* Return true for an ALLOCATION frame of an allocated block, whether or not its stack is
 * readable. jsprof/allocations counts these. */
bool jsp_read_is_allocation(const struct jsp_read *r, const struct jsp_read_frame *f);

/* Return the address of a packed stack's leaf; *node becomes its caller, 0 after the
 * outermost. */
uint64_t jsp_read_node(const struct jsp_read *r, uint32_t *node, uint64_t *line);

/* Store the rows of a packed sample, as in jsprof/pcs, leaf first, and return their
 * number. */
uint32_t jsp_read_rows(const struct jsp_read *r, uint32_t ref, uint32_t *out, uint32_t most);

/* Count a defect. */
void jsp_read_count(struct jsp_read_defects *d, enum jsp_read_cause why, uint64_t offset);

/* Return the words for a cause: "samples without ...". */
const char *jsp_read_cause_text(enum jsp_read_cause why);

/* Read a little-endian number of base 128, as in the jsprof/ files. Return false if it is
 * cut short or longer than 64 bits. */
bool jsp_read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out);

/* Return true if the text is this word. */
static inline bool jsp_read_is(struct jsp_read_text text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

/* Return true if both texts are the same. */
static inline bool jsp_read_equal(struct jsp_read_text a, struct jsp_read_text b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* Return the number of 64 bits at this place, in this machine's byte order. */
static inline uint64_t jsp_read_u64(const struct jsp_read *r, const uint8_t *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return r->swap ? __builtin_bswap64(v) : v;
}

/* Return the number of 32 bits, likewise. */
static inline uint32_t jsp_read_u32(const struct jsp_read *r, const uint8_t *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return r->swap ? __builtin_bswap32(v) : v;
}

/* Return the number of 16 bits, likewise. */
static inline uint16_t jsp_read_u16(const struct jsp_read *r, const uint8_t *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return r->swap ? __builtin_bswap16(v) : v;
}

#endif
