/* capture/wire.h - the bytes of .syscap as fixed-width structs, which docs/capture.md
 * describes. No functions, no state: writer and reader share it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_WIRE_H
#define JSP_CAPTURE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSP_WIRE_MAGIC 0xFDCA975Eu        /* the bytes 5E 97 CA FD, read little-endian */
#define JSP_WIRE_MAGIC_SWAPPED 0x5E97CAFDu
#define JSP_WIRE_JIT_TAG 0xE000000000000000u
/* masks an address; equals the tag if tagged */
#define JSP_WIRE_JIT_MASK 0xFFFFFFFF00000000u

#define JSP_WIRE_FILE_SAMPLES "jsprof/samples"
#define JSP_WIRE_FILE_FRAMES "jsprof/frames"
#define JSP_WIRE_FILE_LOOPS "jsprof/loops"
#define JSP_WIRE_FILE_LOSSES "jsprof/losses"
#define JSP_WIRE_FILE_CALLS "jsprof/calls"
#define JSP_WIRE_FILE_LISTINGS "jsprof/listings"
#define JSP_WIRE_FILE_PCS "jsprof/pcs"
#define JSP_WIRE_FILE_STATES "jsprof/states"
#define JSP_WIRE_FILE_ALLOCATIONS "jsprof/allocations"
#define JSP_WIRE_FILE_STACKS "jsprof/stacks"
#define JSP_WIRE_FILE_TASKS "jsprof/tasks"
#define JSP_WIRE_FILE_RUNNING "jsprof/running"
#define JSP_WIRE_FILE_LABELS "jsprof/labels"
#define JSP_WIRE_FILE_RELAYED "jsprof/relayed"
#define JSP_WIRE_FILE_SYMBOLS "__symbols__" /* Sysprof's */

enum {
    JSP_WIRE_VERSION = 1,
    JSP_WIRE_ALIGN = 8,
    JSP_WIRE_MAX_FRAME = 65528,
    JSP_WIRE_MAX_ADDRS = 8187,
    JSP_WIRE_MAX_CHUNK = JSP_WIRE_MAX_FRAME - 284 - 4,
    JSP_WIRE_BLOCK = 1, /* tag of a block in jsprof/samples, pcs, states, running, labels */
    JSP_WIRE_STATES_CALL = 2, /* tag of a system call's name in jsprof/states */
};

/* Records of jsprof/relayed. */
enum { JSP_WIRE_RELAYED_NAME = 1, JSP_WIRE_RELAYED_STACK = 2 };

/* Records of jsprof/listings. */
enum {
    JSP_WIRE_LISTING = 1,       /* the begin of a listing: its name, the number of rows */
    JSP_WIRE_LISTING_ROWS = 2,  /* some of its rows */
    JSP_WIRE_LISTING_OTHER = 3, /* another function of that name had another listing */
};

/* Records of jsprof/tasks. */
enum jsp_wire_tasks {
    JSP_WIRE_TASKS_THREAD = 1, /* of the records after it, in the same chunk */
    JSP_WIRE_TASKS_WHAT,       /* a kind and a name, for tasks */
    JSP_WIRE_TASKS_STACK,      /* a stack, for tasks */
    JSP_WIRE_TASKS_NEW,
    JSP_WIRE_TASKS_RUN,
    JSP_WIRE_TASKS_DONE,
    JSP_WIRE_TASKS_TURN,
    JSP_WIRE_TASKS_READY,      /* a task may run from now on */
    JSP_WIRE_TASKS_FIRST,      /* the number of the process's first task */
    JSP_WIRE_TASKS_DUE,        /* a task may run after a time */
};

/* Records of jsprof/labels, besides blocks. */
enum jsp_wire_labels {
    JSP_WIRE_LABELS_SET = 2, /* keys with their values */
    JSP_WIRE_LABELS_TRACE,   /* the ids of a trace, with a set */
    JSP_WIRE_LABELS_TASK,    /* the labels under which a task was made */
};

/* Flags of a run. */
enum {
    JSP_WIRE_RUN_LEFT = 1, /* it ended because a run or a turn around it ended */
    JSP_WIRE_RUN_OPEN = 2, /* it had not ended when this was written */
    JSP_WIRE_RUN_FLAGS = 3,
    JSP_WIRE_RUN_DEPTH = 4, /* times the number of runs around it */
};

/* Records of jsprof/stacks: their first byte, and what may follow it. */
enum {
    /* nodes, their number in the other bits; otherwise a sample: */
    JSP_WIRE_STACKS_NODES = 0x80,
    JSP_WIRE_STACKS_WEIGHT = 0x0f, /* its weight; 0: the weight follows */
    JSP_WIRE_STACKS_THREAD = 0x10, /* another thread than that of the sample before */
    JSP_WIRE_STACKS_CPU = 0x20,    /* CPU time itself, not the difference */
    JSP_WIRE_STACKS_MORE = 0x40,   /* a byte of these flags follows: */
    JSP_WIRE_STACKS_CUT = 1,
    JSP_WIRE_STACKS_PROCESSOR = 2,
    JSP_WIRE_STACKS_UNKNOWN = 4,   /* weight and CPU time are unknown */
    JSP_WIRE_STACKS_STATE = 8,     /* a record as in a block of jsprof/states follows */
    JSP_WIRE_STACKS_TASK = 16,     /* the number of a task follows */
    JSP_WIRE_STACKS_LABELS = 32,   /* the number of its labels follows */
    JSP_WIRE_STACKS_TAGGED = 1,    /* first byte of a node */
    JSP_WIRE_STACKS_LINE = 2,
    JSP_WIRE_STACKS_ROW = 4,
    /* number of threads that a block distinguishes at a time */
    JSP_WIRE_STACKS_THREADS = 64,
};

/* Tags of the records in jsprof/calls. */
enum jsp_wire_calls {
    JSP_WIRE_CALLS_FUNCTION = 1,
    JSP_WIRE_CALLS_ROW,
    JSP_WIRE_CALLS_EDGE,
    JSP_WIRE_CALLS_MODE,
    JSP_WIRE_CALLS_COMMIT,
};

/* Fields of a commit record, in order. */
enum jsp_wire_commit {
    JSP_WIRE_COMMIT_TIME,
    JSP_WIRE_COMMIT_TICKS_PER_SECOND,
    JSP_WIRE_COMMIT_CLOCK,
    JSP_WIRE_COMMIT_INSIDE,
    JSP_WIRE_COMMIT_OWN,
    JSP_WIRE_COMMIT_GC,
    JSP_WIRE_COMMIT_THREADS,
    JSP_WIRE_COMMIT_WAITING,
    JSP_WIRE_COMMIT_FUNCTIONS_LOST,
    JSP_WIRE_COMMIT_EDGES_LOST,
    JSP_WIRE_COMMIT_DEPTH_LOST,
    JSP_WIRE_COMMIT_UNDERFLOWS,
    JSP_WIRE_COMMIT_CLOCK_BACK,
    JSP_WIRE_COMMIT_CLOCK_OFF,
    JSP_WIRE_COMMIT_FOREIGN,
    JSP_WIRE_COMMIT_NEGATIVE,
    JSP_WIRE_COMMIT_CALLS,
    JSP_WIRE_COMMIT_ALLOC,
    JSP_WIRE_COMMIT_ENTER_COST,
    JSP_WIRE_COMMIT_LEAVE_COST,
    JSP_WIRE_COMMIT_FIELDS
};

enum {
    JSP_WIRE_CALLS_IDS = 1 << 20,  /* ids are smaller */
    JSP_WIRE_CALLS_OTHER = 0,      /* ids that always exist */
    JSP_WIRE_CALLS_OUTSIDE = 1,
    JSP_WIRE_CALLS_NO_FUNCTION = 2,
};

enum jsp_wire_type {
    JSP_WIRE_TIMESTAMP = 1,
    JSP_WIRE_SAMPLE,
    JSP_WIRE_MAP,
    JSP_WIRE_PROCESS,
    JSP_WIRE_FORK,
    JSP_WIRE_EXIT,
    JSP_WIRE_JITMAP,
    JSP_WIRE_CTRDEF,
    JSP_WIRE_CTRSET,
    JSP_WIRE_MARK,
    JSP_WIRE_METADATA,
    JSP_WIRE_LOG,
    JSP_WIRE_FILE_CHUNK,
    JSP_WIRE_ALLOCATION,
    JSP_WIRE_OVERLAY,
};

struct jsp_wire_header {
    uint32_t magic;
    uint8_t version;
    uint8_t little_endian; /* bit 0 */
    uint8_t pad[2];
    char capture_time[64];
    int64_t time;
    int64_t end_time;
    uint64_t index;
    char zero[160];
};
_Static_assert(sizeof(struct jsp_wire_header) == 256, "file header");
_Static_assert(offsetof(struct jsp_wire_header, time) == 72, "file header");
_Static_assert(offsetof(struct jsp_wire_header, end_time) == 80, "file header");

struct jsp_wire_frame {
    uint16_t len;
    int16_t cpu;
    int32_t pid;
    int64_t time;
    uint8_t type;
    uint8_t pad[7];
};
_Static_assert(sizeof(struct jsp_wire_frame) == 24, "frame header");

struct jsp_wire_sample {
    struct jsp_wire_frame frame;
    uint16_t n_addrs;
    uint16_t pad;
    int32_t tid;
    /* uint64_t addrs[n_addrs], leaf first */
};
_Static_assert(sizeof(struct jsp_wire_sample) == 32, "sample");

struct jsp_wire_allocation {
    struct jsp_wire_frame frame;
    uint64_t block;
    int64_t size; /* not above 0: the block was freed */
    int32_t tid;
    uint16_t n_addrs;
    uint16_t pad;
    /* uint64_t addrs[n_addrs], leaf first */
};
_Static_assert(sizeof(struct jsp_wire_allocation) == 48, "allocation");

struct jsp_wire_map {
    struct jsp_wire_frame frame;
    uint64_t start;
    uint64_t end;
    uint64_t offset;
    uint64_t inode;
    /* char path[] */
};
_Static_assert(sizeof(struct jsp_wire_map) == 56, "map");

struct jsp_wire_mark {
    struct jsp_wire_frame frame;
    int64_t duration;
    char group[24];
    char name[40];
    /* char message[] */
};
_Static_assert(sizeof(struct jsp_wire_mark) == 96, "mark");

/* The group of marks that repeat, for Sysprof, what jsprof/tasks has: written by `jsprof convert
 * --to syscap`. Our reader passes over them. */
#define JSP_WIRE_TASK_MARKS "jsprof tasks"

/* One counter's definition. The id has 24 bits; the byte after it, in the file's order,
 * is the type: 0 int64_t, 1 double. */
struct jsp_wire_counter {
    char group[32];
    char name[32];
    char what[52];
    uint32_t id_and_type;
    uint64_t value;
};
_Static_assert(sizeof(struct jsp_wire_counter) == 128, "counter");

struct jsp_wire_ctrdef {
    struct jsp_wire_frame frame;
    uint16_t n;
    uint16_t pad[3];
    struct jsp_wire_counter counter; /* n of them */
};
_Static_assert(sizeof(struct jsp_wire_ctrdef) == 160, "counter definitions");

struct jsp_wire_values {
    uint32_t ids[8]; /* 0: unused */
    uint64_t values[8];
};
_Static_assert(sizeof(struct jsp_wire_values) == 96, "counter values");

struct jsp_wire_ctrset {
    struct jsp_wire_frame frame;
    uint16_t n;
    uint16_t pad[3];
    struct jsp_wire_values group; /* n of them */
};
_Static_assert(sizeof(struct jsp_wire_ctrset) == 128, "counter values");

struct jsp_wire_metadata {
    struct jsp_wire_frame frame;
    char id[40];
    /* char value[] */
};
_Static_assert(sizeof(struct jsp_wire_metadata) == 64, "metadata");

/* An entry of __symbols__; one of zeros ends the table, texts follow it. Places of texts count
 * from the start of the file; `tag` is 0 without a module. */
struct jsp_wire_symbol {
    uint64_t begin;
    uint64_t end;
    int32_t pid;
    uint32_t name;
    uint32_t tag;
    uint32_t pad;
};
_Static_assert(sizeof(struct jsp_wire_symbol) == 32, "an entry of __symbols__");

struct jsp_wire_chunk {
    struct jsp_wire_frame frame;
    uint16_t is_last; /* bit 0 */
    uint16_t len;
    char path[256];
    uint8_t data[]; /* len of them */
};
_Static_assert(offsetof(struct jsp_wire_chunk, data) == 284, "file chunk");

#endif
