/* analyze/profile.h - one capture, understood: who ran what, for how long.
 *
 * SPDX-License-Identifier: MIT
 *
 * Equal stacks of a thread are counted together, and only distinct ones are turned
 * into functions, when asked for: a million samples cost one pass over the file. The
 * profile borrows the open capture and its bytes. One thread.
 *
 * `value` is what shares are made of, in one unit for the whole profile:
 *   JSP_VALUE_CPU     ns of CPU time, as each sample measured it
 *   JSP_VALUE_WALL    ns of elapsed time, timer expirations x period
 *   JSP_VALUE_COUNT   samples, where the capture does not say what they stand for
 */
#ifndef JSP_ANALYZE_PROFILE_H
#define JSP_ANALYZE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/account.h"
#include "analyze/lookup.h"
#include "base/hash.h"
#include "analyze/natives.h"
#include "capture/read.h"

enum jsp_value { JSP_VALUE_CPU, JSP_VALUE_WALL, JSP_VALUE_COUNT };

/* Kinds beyond enum jsprof_kind of the public header. */
enum { JSP_KIND_KERNEL = 6, JSP_KIND_OTHER = 7, JSP_N_KINDS };

struct jsp_process {
    int32_t pid, parent; /* parent 0: not known */
    struct jsp_read_text command;
};

struct jsp_thread_info {
    int32_t pid, tid;
    const struct jsp_account_thread *losses; /* NULL: not a jsprof recording */
    uint64_t samples, weight, value, cpu_ns;
    int64_t first_time, last_time; /* of its samples */
};

struct jsp_stack {
    const uint8_t *addrs; /* as in the first sample that had it, leaf first; NULL: */
    uint32_t node;        /* it stands in jsprof/stacks; see analyze/addresses.h */
    const uint8_t *lines; /* varints for the first n_lines addresses */
    uint64_t weight, value;
    uint32_t lines_bytes, epoch, thread, samples;
    uint16_t n_addrs, n_lines;
};

/* Interpreted and compiled code of one name is one function (of kind VM here): which
 * of them ran is told by each frame. Native ones of one name in two files are two. */
struct jsp_function {
    const char *name;   /* owned by the profile */
    const char *module; /* the same; of native code its file's name, else "" */
    uint32_t kind;      /* enum jsprof_kind, JSP_KIND_... */
    struct jsp_read_text path; /* of native code its file, as recorded; borrowed */
};

/* Whose code a frame is, whatever its name says. */
enum jsp_origin {
    JSP_ORIGIN_VM,     /* told by the host, or made up in its place */
    JSP_ORIGIN_NATIVE, /* found on the native stack */
    JSP_ORIGIN_LOOP,   /* the same, in an interpreter's own code: jsprof/loops */
};

struct jsp_profile_frame {
    uint32_t function;
    uint32_t line;          /* 0: not known */
    uint32_t file;          /* of the line, in files[]; 0: as the function's name says */
    uint32_t kind;          /* enum jsprof_kind, JSP_KIND_... */
    enum jsp_origin origin;
};

struct jsp_profile {
    const struct jsp_read *capture;
    struct jsp_read_defects defects;

    enum jsp_value unit;
    uint64_t samples, weight, value; /* all stacks together */
    uint64_t packed;                 /* samples that stood in jsprof/stacks */
    double squares;                  /* sum of each sample's value squared */
    int64_t first_time, last_time;   /* of any frame with a time */
    int64_t start_time;              /* moments for people count from here */
    int64_t first_sample, last_sample;

    struct jsp_process *processes;
    struct jsp_thread_info *threads;
    struct jsp_stack *stacks;
    struct jsp_function *functions;
    const char **files; /* source files of native lines; files[0] is none */
    uint32_t n_processes, n_threads, n_stacks, n_functions, n_files;
    bool is_of_many; /* threads[] are of more than one process */

    struct jsp_account account;
    uint64_t period_ns; /* of the timer that was asked for; 0: not known */
    uint32_t hz;
    char clock[8], host[64], version[32]; /* "" where the capture does not say */
    bool no_proc;      /* it was recorded where /proc was not mounted */

    struct jsp_lookup lookup;
    struct jsp_natives natives;
    struct jsp_profile_work *work; /* tables that build the above */
};

/* Called now and then with bytes done of all; for a progress line. */
typedef void (*jsp_profile_progress)(void *context, uint64_t done, uint64_t all);

/* One sample as it was counted, in file order; for those who need its time. */
struct jsp_profile_sample {
    uint32_t stack; /* in stacks[], which move while they are counted */
    uint32_t ref;   /* for jsp_read_rows; 0: its rows stand in jsprof/pcs */
    uint64_t ordinal; /* of all SAMPLE frames */
    int64_t time;
    uint64_t value;
};
typedef int (*jsp_profile_sampled)(void *context, const struct jsp_profile_sample *s);

/* What shares are made of, where the recording has a choice. */
enum jsp_profile_clock {
    JSP_CLOCK_RECORDED, /* the clock that drove the recording */
    JSP_CLOCK_CPU,      /* also of one that was driven by elapsed time */
    JSP_CLOCK_WALL,     /* not of one that was driven by CPU time: its unit stays CPU */
};

struct jsp_profile_options {
    jsp_profile_progress progress; /* may be NULL */
    void *context;
    jsp_profile_sampled sampled; /* may be NULL; negative: loading ends with that */
    void *sampled_context;
    jsp_natives_demangle *demangle; /* of native names read from files; may be NULL */
    const char *symbols; /* a folder with files for native names; may be NULL; borrowed */
    enum jsp_profile_clock clock;
    /* Only samples of the half-open span of time, in ns from start_time; 0: to the end. */
    uint64_t from_ns, to_ns;
};

int jsp_profile_load(struct jsp_profile *p, const struct jsp_read *capture,
                     const struct jsp_profile_options *options); /* -ENOMEM */
void jsp_profile_free(struct jsp_profile *p);

/* A process's command line; "" where none is known. */
struct jsp_read_text jsp_profile_command(const struct jsp_profile *p, int32_t pid);

enum { JSP_PROFILE_DEPTH = 8190 };

/* The frames of a stack, leaf first; returns how many, or -ENOMEM. */
int jsp_profile_frames(struct jsp_profile *p, uint32_t stack,
                       struct jsp_profile_frame out[JSP_PROFILE_DEPTH]);

/* The function at an address, for those who walk frames themselves. */
struct jsp_profile_address {
    struct jsp_lookup_key key;
    bool is_kernel;
    bool is_return; /* one byte behind the call that it stands for */
};
int jsp_profile_function(struct jsp_profile *p, const struct jsp_profile_address *at,
                         struct jsp_profile_frame *out); /* -ENOMEM */

/* What is known of the next address of a stack behind this one: behind a context
 * marker, and behind a frame. Callers stand in our recordings with the call itself, in
 * others' with where it returns to. */
void jsp_profile_marker(struct jsp_profile_address *a);
void jsp_profile_next(const struct jsp_profile *p, struct jsp_profile_address *a);

/* perf's markers inside a stack: not a frame, but where the next ones stand. */
bool jsp_profile_is_marker(uint64_t addr);
bool jsp_profile_is_kernel_marker(uint64_t addr);

/* "vm", "jit", "label", "gc", "native", "synth", "kernel", "other" */
const char *jsp_kind_name(uint32_t kind);

#endif
