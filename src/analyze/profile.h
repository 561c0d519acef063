/* analyze/profile.h - one capture as a profile: threads, stacks, functions and their
 * time.
 *
 * Equal stacks of a thread are counted together, and only distinct stacks are resolved
 * into functions, on demand: a million samples cost one pass over the file. The profile
 * borrows the open capture and its bytes. One thread.
 *
 * `value` is the basis of all shares, in one unit for the whole profile:
 *   JSP_VALUE_CPU     ns of CPU time, as each sample measured it; by the looker: its points
 *                     that met the thread while it ran, x period
 *   JSP_VALUE_WALL    ns of elapsed time, timer expirations x period
 *   JSP_VALUE_COUNT   samples, if the capture does not say how much time they represent
 *   JSP_VALUE_ALLOC   bytes that were allocated; the samples are those of allocations
 *   JSP_VALUE_LIVE    of these the bytes that were not freed
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_PROFILE_H
#define JSP_ANALYZE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "account.h"
#include "heap.h"
#include "labels.h"
#include "lookup.h"
#include "naming.h"
#include "base/hash.h"
#include "native_files.h"
#include "spans.h"
#include "states.h"
#include "capture/read.h"

enum jsp_value {
    JSP_VALUE_CPU = JSP_CLOCK_CPU, /* the units of time, by enum jsp_clock */
    JSP_VALUE_WALL = JSP_CLOCK_WALL,
    JSP_VALUE_COUNT = JSP_N_CLOCKS,
    JSP_VALUE_ALLOC,
    JSP_VALUE_LIVE,
    JSP_N_VALUES,
};

/* Kinds in addition to enum jsprof_kind of the public header. */
enum { JSP_KIND_KERNEL = 6, JSP_KIND_OTHER = 7, JSP_N_KINDS };

/* A tier is recorded with a kind: this is enum jsprof_tier without the kind's bits. */
enum { JSP_TIER_SHIFT = 4, JSP_N_TIERS = (JSPROF_TIER_WASM >> JSP_TIER_SHIFT) + 1 };

struct jsp_process {
    int32_t pid, parent; /* parent 0: unknown */
    struct jsp_read_text command;
};

struct jsp_thread_info {
    int32_t pid, tid;
    const struct jsp_account_thread *losses; /* NULL: not a jsprof recording */
    uint64_t samples, weight, value, cpu_ns;
    uint64_t by_state[JSP_N_STATES]; /* weights */
    int64_t first_time, last_time; /* of its samples */
};

struct jsp_stack {
    const uint8_t *addrs; /* as in its first sample, leaf first; NULL: see `node` */
    uint32_t node; /* the stack is stored in jsprof/stacks; see analyze/addresses.h */
    const uint8_t *lines; /* varints for the first n_lines addresses */
    uint64_t weight, value;
    uint32_t lines_bytes, epoch, thread, samples;
    uint32_t state; /* in states[] */
    uint32_t chain; /* the task that ran, in chains; 0: none, or tasks were not asked for */
    uint32_t labels; /* in labels.sets[] */
    uint16_t n_addrs, n_lines;
};

/* What the thread was doing on a stack: its state, and the name of the system call in which it
 * sleeps or of what the host waits for; empty if there is none. */
struct jsp_profile_state {
    enum jsp_state state;
    struct jsp_read_text detail; /* borrowed from the capture */
};

/* Interpreted and compiled code of one name is one function (of kind VM here); each frame
 * records which of them ran. Native functions of one name in two files are two. */
struct jsp_function {
    const char *name;   /* as it is shown; owned by the profile */
    const char *recorded; /* its name in the capture; likewise */
    /* of native code its file's name, else ""; owned by the profile */
    const char *module;
    uint32_t kind;      /* enum jsprof_kind, JSP_KIND_... */
    struct jsp_read_text path; /* of native code its file, as recorded; borrowed */
};

/* The source of a frame, whatever its name is. */
enum jsp_origin {
    JSP_ORIGIN_VM,     /* the host reported it, or a frame of ours replaces such frames */
    JSP_ORIGIN_NATIVE, /* found on the native stack */
    JSP_ORIGIN_LOOP,   /* the same, in an interpreter's own code: jsprof/loops */
};

struct jsp_profile_frame {
    uint32_t function;
    uint32_t line;          /* 0: unknown */
    uint32_t file;          /* file of the line, in files[]; 0: the one in the name */
    uint32_t kind;          /* enum jsprof_kind, JSP_KIND_... */
    uint32_t tier;          /* below JSP_N_TIERS; 0: not known */
    enum jsp_origin origin;
    uint32_t generated;     /* for jsp_naming_line; 0: the line is as recorded */
};

struct jsp_profile {
    const struct jsp_read *capture;
    struct jsp_read_defects defects;

    enum jsp_value unit;
    struct jsp_heap heap;            /* sampled allocations, whatever the unit is */
    uint64_t samples, weight, value; /* all stacks together */
    uint64_t by_state[JSP_N_STATES]; /* weights of all threads */
    uint64_t packed;                 /* samples stored in jsprof/stacks */
    double squares;                  /* sum of each sample's value squared */
    int64_t first_time, last_time;   /* of any frame with a time */
    int64_t start_time;              /* times shown to users count from here */
    int64_t first_sample, last_sample;

    struct jsp_process *processes;
    struct jsp_thread_info *threads;
    struct jsp_stack *stacks;
    struct jsp_profile_state *states; /* states[0] is not known */
    struct jsp_function *functions;
    const char **files; /* source files of native lines; files[0] is none */
    uint32_t n_processes, n_threads, n_stacks, n_states, n_functions, n_files;
    bool is_part;    /* the options have chosen samples */
    bool is_of_many; /* threads[] are of more than one process */
    struct jsp_spans during; /* of the marks that were asked for */
    struct jsp_chains *chains; /* of the tasks of samples; NULL: not asked for */

    struct jsp_account account;
    uint64_t period_ns; /* period of the requested timer; 0: unknown */
    uint32_t hz;
    const struct jsp_clock_row *driver; /* the clock of that timer; NULL: unknown */
    char clock[8], source[96], host[64], version[32], looks[384], sched[96]; /* "" if unknown */
    bool is_relayed;   /* our samples are in another program's recording, without weights */
    bool no_proc;      /* it was recorded without /proc */
    uint64_t fold_ns;  /* equal samples of so much time are one; 0: they are not folded */
    uint64_t stall_ns; /* it has only turns that take longer; 0: everything */
    bool is_of_lua;    /* it has the counter by which the Lua module reports its memory */

    struct jsp_states_read state_file;
    struct jsp_labels_read labels;
    struct jsp_lookup lookup;
    struct jsp_native_files natives;
    struct jsp_naming *naming; /* NULL: names are shown as recorded */
    struct jsp_profile_work *work; /* tables that build the above */
};

/* Loading calls this from time to time, with the bytes read and the total. */
typedef void (*jsp_profile_progress)(void *context, uint64_t done, uint64_t all);

/* One sample as it was counted, in file order; for callers that need its time. */
struct jsp_profile_sample {
    uint32_t stack; /* position in stacks[], which move during counting */
    uint32_t ref;   /* for jsp_read_rows; 0: its rows are in jsprof/pcs */
    uint64_t ordinal; /* number among all SAMPLE frames */
    int64_t time;
    uint64_t value;
};
typedef int (*jsp_profile_sampled)(void *context, const struct jsp_profile_sample *s);

/* All of them, collected while loading: the context of jsp_profile_keep. Starts zeroed. */
struct jsp_profile_samples {
    struct jsp_profile_sample *list; /* owned */
    uint32_t n, room;
};
int jsp_profile_keep(void *samples, const struct jsp_profile_sample *s); /* 0 or -ENOMEM */

struct jsp_profile_options {
    jsp_profile_progress progress; /* may be NULL */
    void *context;
    jsp_profile_sampled sampled; /* may be NULL; a negative result ends loading */
    void *sampled_context;
    jsp_native_files_demangle *demangle; /* for native names read from files; may be NULL */
    void *demangle_context;
    const struct jsp_naming_options *naming; /* NULL: names are shown as recorded; borrowed */
    const char *symbols; /* a folder with files for native names; may be NULL; borrowed */
    const char *debuginfod; /* the folder of debuginfod's cache; may be NULL; borrowed */
    /* The clock for shares; NULL: the clock that drove the recording. Every recording has CPU
     * time. For another clock that did not drive it, the unit stays that of the recording. */
    const struct jsp_clock_row *clock;
    /* Samples of allocations instead of those of time: JSP_VALUE_ALLOC or JSP_VALUE_LIVE. Any
     * other value has no effect. */
    enum jsp_value measure;
    /* Load only samples of this half-open span of time, in ns from start_time; to_ns 0:
     * to the end. */
    uint64_t from_ns, to_ns;
    const char *during; /* and only while a mark of this name is open; NULL: always; borrowed */
    /* and only samples of these tasks and of those that they caused; NULL: all; borrowed */
    const char *under_task;
    bool has_tasks; /* keep stacks in different tasks apart; implied by under_task */
    bool has_traces; /* the same of traces */
    bool has_no_samples; /* leave out all samples */
};

/* Return the time of day of a moment of the capture, in s, or 0 if unknown. */
int64_t jsp_profile_day(const struct jsp_read *capture, int64_t time);

/* Load the capture with these options. Return 0 or -ENOMEM. */
int jsp_profile_load(struct jsp_profile *p, const struct jsp_read *capture,
                     const struct jsp_profile_options *options);

/* Free the profile. */
void jsp_profile_free(struct jsp_profile *p);

/* Return the options with which the profile was loaded. */
const struct jsp_profile_options *jsp_profile_loaded(const struct jsp_profile *p);

/* Return a process's command line, or "" if unknown. */
struct jsp_read_text jsp_profile_command(const struct jsp_profile *p, int32_t pid);

enum { JSP_PROFILE_DEPTH = 8190 };

/* Store the frames of a stack, leaf first. Return how many, or -ENOMEM. */
int jsp_profile_frames(struct jsp_profile *p, uint32_t stack,
                       struct jsp_profile_frame out[JSP_PROFILE_DEPTH]);

/* An address with its context, for callers that walk frames themselves. */
struct jsp_profile_address {
    struct jsp_lookup_key key;
    bool is_kernel;
    bool is_return; /* a return address: one byte after the call */
};
int jsp_profile_function(struct jsp_profile *p, const struct jsp_profile_address *at,
                         struct jsp_profile_frame *out); /* 0 or -ENOMEM */

/* Do the same for an address with the line that was recorded for it; 0: none. */
int jsp_profile_place(struct jsp_profile *p, const struct jsp_profile_address *at, uint64_t line,
                      struct jsp_profile_frame *out);

/* Set the context of the next address of a stack, after a context marker. */
void jsp_profile_marker(struct jsp_profile_address *a);

/* Set the context of the next address of a stack, after a frame. In our recordings a caller's
 * address is that of the call, in other programs' the return address. */
void jsp_profile_next(const struct jsp_profile *p, struct jsp_profile_address *a);

/* Return true for perf's markers inside a stack: not a frame, but the context of the next
 * ones. */
bool jsp_profile_is_marker(uint64_t addr);

/* Return true for the markers after which frames are those of a kernel or a hypervisor. */
bool jsp_profile_is_kernel_marker(uint64_t addr);

/* "cpu_ns", "wall_ns", "samples", "alloc_bytes", "live_bytes": the unit, for programs. */
const char *jsp_unit_key(enum jsp_value unit);

/* Return true if values of this unit are times. */
static inline bool jsp_unit_is_time(enum jsp_value unit)
{
    return unit < JSP_VALUE_COUNT;
}

/* Return true if values of this unit are bytes. */
static inline bool jsp_unit_is_bytes(enum jsp_value unit)
{
    return unit > JSP_VALUE_COUNT;
}

/* "time" or "bytes", for a sentence about a share. */
static inline const char *jsp_unit_noun(enum jsp_value unit)
{
    return jsp_unit_is_bytes(unit) ? "bytes" : "time";
}

/* "CPU time", "elapsed time", "samples", "allocated bytes", "live bytes": what shares are made
 * of, for people. */
const char *jsp_unit_name(enum jsp_value unit);

/* "vm", "jit", "label", "gc", "native", "synth", "kernel", "other" */
const char *jsp_kind_name(uint32_t kind);

/* Return the tier's word, or the one of the frame's kind if the tier is not known. */
const char *jsp_tier_name(const struct jsp_profile_frame *frame);

/* Return the thread that has samples, or NULL. */
const struct jsp_thread_info *jsp_profile_thread(const struct jsp_profile *p, int32_t pid,
                                                 int32_t tid);

/* Return true if samples of this profile have labels. */
static inline bool jsp_profile_has_labels(const struct jsp_profile *p)
{
    return p->labels.n_sets > 1;
}

/* Return true if samples of this profile have states. */
static inline bool jsp_profile_has_states(const struct jsp_profile *p)
{
    return p->n_states > 1;
}

/* Return true if there may be more than the capture has: its host was killed or still records, or
 * the file was cut. Of other programs' captures only the header is known. */
bool jsp_profile_lacks_end(const struct jsp_profile *p);

/* Return the state of a stack. */
static inline const struct jsp_profile_state *jsp_profile_state(const struct jsp_profile *p,
                                                                uint32_t stack)
{
    return &p->states[p->stacks[stack].state];
}

#endif
