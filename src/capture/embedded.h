/* capture/embedded.h - writes and reads the records of the embedded jsprof/ files.
 *
 * For each kind of record one function puts it at `to`, where the caller has room for it,
 * and returns its size; another gets it from [*at, end), moves *at after it, and returns
 * false for bytes that are no such record. docs/capture.md describes the bytes, which are
 * the same in either byte order. pack.h and read_records.h do the same for jsprof/stacks.
 * Nothing here allocates or waits.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_EMBEDDED_H
#define JSP_CAPTURE_EMBEDDED_H

#include "base/clocks.h"
#include "base/losses.h"
#include "read.h"
#include "varint.h"
#include "wire.h"

/* jsprof/samples, jsprof/pcs, jsprof/states: a block for samples from ordinal `first` has `count`
 * records. */
enum { JSP_EMBEDDED_BLOCK = 1 + 2 * JSP_VARINT_MAX }; /* largest size */

/* Write the head of a block to `to`, which has room for JSP_EMBEDDED_BLOCK bytes. Return its
 * length. */
size_t jsp_embedded_block_put(uint8_t *to, uint64_t first, uint64_t count);

/* Read the head of a block and move *at after it. Return false if it is malformed. */
bool jsp_embedded_block_get(const uint8_t **at, const uint8_t *end, uint64_t *first,
                            uint64_t *count);

/* jsprof/samples: the weight of one sample. */
struct jsp_weight {
    uint64_t weight; /* timer expirations */
    uint64_t cpu_ns;
    uint64_t cut;         /* frames missing at the leaf */
    uint32_t n_lines;
    uint32_t lines_bytes;
    const uint8_t *lines; /* n_lines varints, leaf first; the caller of put appends them */
    bool known;           /* weight and cpu_ns come from the file */
};
enum { JSP_EMBEDDED_WEIGHT = 4 * JSP_VARINT_MAX }; /* largest size, without lines */

/* Write a weight without its lines, to JSP_EMBEDDED_WEIGHT bytes. Return the length. */
size_t jsp_embedded_weight_put(uint8_t *to, const struct jsp_weight *weight);

/* Read a weight; its lines stay where they are. Return false if it is malformed. */
bool jsp_embedded_weight_get(const uint8_t **at, const uint8_t *end, struct jsp_weight *out);

/* jsprof/pcs: the rows of one sample. `skip` samples before it have no record. */
struct jsp_embedded_pcs {
    uint64_t skip;
    uint32_t n;
    const uint8_t *rows; /* n varints, each a row + 1, leaf first */
};

/* Write the rows of one sample, as varints. Return the length. */
size_t jsp_embedded_pcs_put(uint8_t *to, uint64_t skip, const uint32_t *rows, uint32_t n);

/* Read the rows of one sample, which stay where they are. Return false if it is malformed. */
bool jsp_embedded_pcs_get(const uint8_t **at, const uint8_t *end, struct jsp_embedded_pcs *out);

/* jsprof/states: largest sizes of a state, and of a system call's name without its text. */
enum { JSP_EMBEDDED_STATE = 4 * JSP_VARINT_MAX, JSP_EMBEDDED_CALL_NAME = 1 + 2 * JSP_VARINT_MAX };

/* jsprof/states: write the state of one sample, to JSP_EMBEDDED_STATE bytes. Return the
 * length. */
size_t jsp_embedded_state_put(uint8_t *to, const struct jsp_read_state *state);

/* Read the state of one sample. Return false if it is malformed. */
bool jsp_embedded_state_get(const uint8_t **at, const uint8_t *end, struct jsp_read_state *out);

/* Write the name of a system call after its tag, to JSP_EMBEDDED_CALL_NAME bytes and those of
 * the text. Return the length. */
size_t jsp_embedded_call_name_put(uint8_t *to, uint64_t number, struct jsp_read_text name);

/* Read the name of a system call, after its tag. The text is borrowed. Return false if it is
 * malformed. */
bool jsp_embedded_call_name_get(const uint8_t **at, const uint8_t *end, uint64_t *number,
                                struct jsp_read_text *name);

/* jsprof/frames and jsprof/loops: two numbers. */
enum { JSP_EMBEDDED_PAIR = 2 * JSP_VARINT_MAX }; /* largest size */

/* jsprof/frames: write the kind of a tagged address, to JSP_EMBEDDED_PAIR bytes. Return the
 * length. */
size_t jsp_embedded_kind_put(uint8_t *to, uint32_t id, uint64_t kind);

/* Read the kind of a tagged address. Return false if it is malformed. */
bool jsp_embedded_kind_get(const uint8_t **at, const uint8_t *end, uint32_t *id, uint64_t *kind);

/* jsprof/loops: write the code of a loop, to JSP_EMBEDDED_PAIR bytes. Return the length. */
size_t jsp_embedded_loop_put(uint8_t *to, const uint64_t range[2]);

/* Read the code of a loop. Return false if it is malformed. */
bool jsp_embedded_loop_get(const uint8_t **at, const uint8_t *end, uint64_t range[2]);

/* jsprof/listings: the head of a record; `count` rows follow one of JSP_WIRE_LISTING_ROWS. */
struct jsp_embedded_listing {
    uint8_t tag;                /* JSP_WIRE_LISTING... */
    uint32_t number;
    uint32_t first, count;      /* of rows; JSP_WIRE_LISTING: `count` rows will follow */
    struct jsp_read_text name;  /* of JSP_WIRE_LISTING */
};
enum { JSP_EMBEDDED_LISTING = 1 + 3 * JSP_VARINT_MAX }; /* largest size, without name */

/* Write the head of a record, to JSP_EMBEDDED_LISTING bytes and those of the name. Return the
 * length. */
size_t jsp_embedded_listing_put(uint8_t *to, const struct jsp_embedded_listing *listing);

/* Read the head of a record. The name is borrowed. Return false if it is malformed. */
bool jsp_embedded_listing_get(const uint8_t **at, const uint8_t *end,
                              struct jsp_embedded_listing *out);

struct jsp_embedded_row {
    uint64_t pc;
    uint32_t line;
    bool ends;              /* it never continues with the next row */
    uint32_t n_targets;
    const uint64_t *targets; /* for put; get sets instead: */
    const uint8_t *packed;   /* n_targets varints */
    struct jsp_read_text text;
};

/* Write one row of a listing. Return the length. */
size_t jsp_embedded_row_put(uint8_t *to, const struct jsp_embedded_row *row);

/* Read one row of a listing. Its text and targets are borrowed. Return false if it is
 * malformed. */
bool jsp_embedded_row_get(const uint8_t **at, const uint8_t *end, struct jsp_embedded_row *out);

/* jsprof/calls: any record. Figures of a row: calls, self, total, self_bytes, total_bytes. */
struct jsp_embedded_call {
    enum jsp_wire_calls tag;
    union {
        struct {
            uint32_t id, kind, line;
            struct jsp_read_text name, file;
        } function;
        struct {
            uint64_t id, figures[5];
        } row;
        struct {
            uint64_t caller, callee, calls, total;
        } edge;
        struct {
            uint64_t time, modes;
        } mode;
        uint64_t fields[JSP_WIRE_COMMIT_FIELDS];
    };
};

/* Write a record of jsprof/calls. Return the length. */
size_t jsp_embedded_call_put(uint8_t *to, const struct jsp_embedded_call *record);

/* Read a record of jsprof/calls. Texts are borrowed. Return false if it is malformed. */
bool jsp_embedded_call_get(const uint8_t **at, const uint8_t *end,
                           struct jsp_embedded_call *out);

/* jsprof/losses: a line of text for the session, for a thread or for all threads together. */
struct jsp_account_session {
    bool present;
    char state[16]; /* "running", "stopped", "final" */
    char clock[16]; /* "cpu", "wall" */
    uint64_t time, hz, samples, labels, label_bytes, labels_lost, labels_cut, marks_lost;
    uint64_t addresses_missed;
    uint64_t allocs_lost; /* sampled allocations that the file could not take */
    uint64_t forks;       /* children that the session did not follow */
    uint64_t tasks_unwritten; /* records of tasks that the file could not take */
    /* Labels of samples: sets that the file could not take; texts that were not UTF-8; calls with
     * another thread's handle. */
    uint64_t tags_unwritten, tags_bad, tags_stray;
    int64_t write_error;
};

struct jsp_account_thread {
    uint64_t id;
    int32_t tid;
    char name[64];
    uint64_t expirations, kept, samples;
    uint64_t lost[JSP_N_LOSSES]; /* by enum jsp_loss; 0 where the library was older */
    uint64_t frames_cut, frames_bad, underflows;
    /* Native walks, by how they ended; all 0: unknown. */
    uint64_t stop_end, stop_full, stop_no_table, stop_stack, stop_unreadable, stop_rule;
    uint64_t clock_ns[JSP_N_CLOCKS]; /* time that it was armed */
    uint64_t handler_ns;
    /* Sampled allocations: bytes reported in all, samples lost, and samples that count as live
     * for want of room in the table. */
    uint64_t alloc_bytes, alloc_lost, alloc_untold;
    /* Labels of samples: without room; cut; set by a signal handler during another call; ends
     * that match no begin. */
    uint64_t tags_full, tags_cut, tags_foreign, tags_unmatched;
    /* Tasks: records lost, and errors of the host; see struct jsp_tasks_counts. */
    uint64_t tasks_lost, tasks_unmatched, tasks_left, tasks_deep, tasks_foreign;

    /* Not in the line; see analyze/account.h. A tid may serve several threads in turn, and
     * the samples of a file do not distinguish them. After sealing, the newest thread of
     * each tid has the sums of all: */
    int32_t pid;
    bool is_newest;
    const struct jsp_account_thread *older; /* the one before it with this tid, or NULL */
    uint64_t kept_of_tid; /* by the lines */
    uint64_t unseen_of_tid; /* expirations without a sample, except pauses */
    uint64_t in_file; /* by the file's samples; the caller that counts them adds here */
};

/* All threads together, in a place of the file that was reserved for it: it is written
 * last, even if the file takes nothing else any more. */
struct jsp_account_total {
    bool present;
    char state[16]; /* "open" until a write fails, or until the end */
    uint64_t time;
    int64_t write_error;
    struct jsp_account_thread sum; /* only its counts are used */
};

struct jsp_embedded_account {
    enum jsp_account_tag { JSP_ACCOUNT_SESSION, JSP_ACCOUNT_THREAD, JSP_ACCOUNT_TOTAL } tag;
    union {
        struct jsp_account_session session;
        struct jsp_account_thread thread;
        struct jsp_account_total total;
    };
};
enum { JSP_EMBEDDED_ACCOUNT = 1536 }; /* largest size, with the newline */

/* Write a line with its newline, to JSP_EMBEDDED_ACCOUNT bytes. Return its length. */
size_t jsp_embedded_account_put(char *to, const struct jsp_embedded_account *line);

/* Read a line; words of a newer writer are skipped. *at moves after the line also if that is
 * none. Return false if it is malformed. */
bool jsp_embedded_account_get(const uint8_t **at, const uint8_t *end,
                              struct jsp_embedded_account *out);

/* Add the counts and times of a thread. */
void jsp_embedded_account_add(struct jsp_account_thread *sum, const struct jsp_account_thread *t);

/* How a line is made, for put and get: its first word, then "key=value" for each field of
 * its parts. A part's fields are at their offsets from `base` in the record. */
struct jsp_embedded_field {
    const char *key; /* NULL: the end */
    size_t offset;
    /* a rare count is not written while it is 0 */
    enum {
        JSP_FIELD_COUNT, JSP_FIELD_RARE, JSP_FIELD_SIGNED, JSP_FIELD_NARROW, JSP_FIELD_TEXT
    } type;
    size_t size; /* of a text: percent-encoded, and cut when read */
};
struct jsp_embedded_line {
    const char *word;
    struct {
        const struct jsp_embedded_field *fields; /* NULL: the end */
        size_t base;
    } parts[5];
};
extern const struct jsp_embedded_line jsp_embedded_lines[JSP_ACCOUNT_TOTAL + 1]; /* by tag */

#endif
