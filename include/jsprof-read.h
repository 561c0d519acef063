/* jsprof-read.h - read captures: what ran, for how long, who called it, and what was lost.
 * The whole API of libjsprof-read.
 *
 * SPDX-License-Identifier: MIT
 *
 * The ten functions in which the most time was spent:
 *
 *     jsprof_reader *r;
 *     jsprof_read_functions *f;
 *     jsprof_read_input in = { .size = sizeof in, .path = "foo.cap" };
 *     jsprof_read_options o = { .size = sizeof o, .inputs = &in, .n_inputs = 1 };
 *     jsprof_read_error e = { .size = sizeof e };
 *     jsprof_read_function row = { .size = sizeof row };
 *     if (jsprof_read_open(&r, &o, &e) < 0) ... e.message ...;
 *     if (jsprof_read_functions_open(&f, r, NULL, &e) < 0) ...;
 *     for (uint64_t i = 0; i < 10 && jsprof_read_function_rows(f, i, &row, 1) == 1; i++)
 *         printf("%8" PRIu64 " %s\n", row.self, row.name);
 *     jsprof_read_functions_close(f);
 *     jsprof_read_close(r);
 *
 * Captures  are files of jsprof or of Sysprof, in either byte order. No byte of a capture is
 *           trusted: what can not be read is skipped and counted (jsprof_read_defects).
 * Structs   begin with their size, which the caller sets before each call. So a program may know
 *           more or fewer fields than the library: fields that the library does not know are 0.
 *           A struct that describes a wish is otherwise zeroed for the default.
 * Arrays    are read by functions of one form:
 *
 *               int64_t jsprof_read_THINGS(of, first, out, n)
 *
 *           stores at most `n` things from number `first` on in the array `out`, whose first
 *           element has its size set, and returns how many these were. If `n` is 0, it returns
 *           how many there are from `first` on, and `out` may be NULL. Without memory it returns
 *           -ENOMEM.
 * Texts     that the library returns are UTF-8 as far as the capture is, end in a NUL, are never
 *           NULL except where this says so, and live until the reader is closed. Texts and memory
 *           of the caller are only read during the call, except the memory of an input.
 * Errors.   Functions of type int return 0 or a negative errno. A failed call has changed
 *           nothing. With an `error`, which may be NULL, it also describes what is wrong and
 *           where. The library never prints, aborts or exits.
 * Threads.  A reader and all that was opened from it belong to one thread at a time. Different
 *           readers are independent of each other: there is no global state.
 * Close.    Each jsprof_read_..._close frees what its open or compare made, in any order, but
 *           before the reader. NULL is valid.
 * Units.    Times are in ns since the start of the capture. A "value" is in the unit of the
 *           capture: see `unit` of jsprof_read_info. Shares are of 1.
 */
#ifndef JSPROF_READ_H
#define JSPROF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSPROF_READ_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* Return JSPROF_VERSION of the jsprof from which the library was built. */
JSPROF_READ_API uint32_t jsprof_read_version(void);

/* -- 1. Errors -------------------------------------------------------------- */

enum { JSPROF_READ_MESSAGE = 1024 };

typedef struct jsprof_read_error {
    size_t size;
    int code;           /* the negative errno that the call returned */
    bool has_offset;
    uint64_t offset;    /* byte of the capture, if has_offset */
    const char *path;   /* the file, as the caller named it; NULL: memory, or no file is wrong */
    const char *option; /* the field of the wish that is wrong, with which the message begins;
                           NULL: none. Static. -EINVAL: wrong whatever the capture is. */
    char message[JSPROF_READ_MESSAGE]; /* one line for a person, without the path */
} jsprof_read_error;

/* -- 2. Open a capture ------------------------------------------------------ */

typedef struct jsprof_reader jsprof_reader;

typedef struct jsprof_read_input {
    size_t size;
    const char *path; /* "-" is standard input; NULL: see bytes */
    const void *bytes; /* memory, borrowed until close; NULL: see fd */
    uint64_t n_bytes;
    int fd; /* a descriptor above 0, from its position on. It stays open, and the library does not
               need it after the call. */
} jsprof_read_input;

enum { /* jsprof_read_options.flags */
    JSPROF_READ_GENERATED = 1u << 0, /* ignore source maps: show generated code as it is */
    JSPROF_READ_MANGLED = 1u << 1,   /* show names of C++ as the linker has them */
    JSPROF_READ_ROWS = 1u << 2,      /* keep what jsprof_read_listing_rows needs */
    JSPROF_READ_TASKS = 1u << 3,     /* keep the tasks of samples: groups by task need them */
    JSPROF_READ_TRACES = 1u << 4,    /* keep stacks in different traces apart */
    /* Load no samples, for what else a capture has, such as exact calls. If its recording did not
     * come to an end, no source maps are read but those of `source_maps`. */
    JSPROF_READ_NO_SAMPLES = 1u << 5,
};

typedef struct jsprof_read_options {
    size_t size;
    const jsprof_read_input *inputs; /* several are joined as by `jsprof merge` */
    size_t n_inputs;
    uint32_t flags;
    /* These load a part of the samples, as the options of these names of `jsprof report` do.
     * NULL: all. */
    const char *time;    /* "2s..5s" */
    const char *during;  /* the name of a mark */
    const char *clock;   /* "cpu", "wall": the basis of values */
    const char *measure; /* "time", "alloc", "live" */
    /* Names of functions and files: */
    const char *symbols;     /* a folder with files for names of native code */
    const char *debuginfod;  /* the folder of debuginfod's cache */
    const char *source_maps; /* a source map, or a folder with some, besides those found */
    const char *const *maps;  /* n_maps texts "OLD=NEW": paths below OLD are below NEW */
    const char *const *trims; /* n_trims folders that shown paths omit */
    size_t n_maps, n_trims;
    /* Called from time to time with the bytes read and all bytes; may be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t all);
    void *context;
    const char *under_task; /* loads a part, as `time` does: a number, or a part of a name */
} jsprof_read_options;

/* Open and load. All samples count then, as with `jsprof report --idle`. A capture that is
 * damaged opens, as far as it can be read; -EBADMSG: it is none. */
JSPROF_READ_API int jsprof_read_open(jsprof_reader **out, const jsprof_read_options *options,
                                     jsprof_read_error *error);

/* Close the reader, and free all texts that it returned. */
JSPROF_READ_API void jsprof_read_close(jsprof_reader *r);

/* -- 3. Choose what counts -------------------------------------------------- */

enum { /* jsprof_read_filter.flags: as the options of these names of `jsprof report` */
    JSPROF_READ_IDLE = 1u << 0,
    JSPROF_READ_NATIVE = 1u << 1,
    JSPROF_READ_VM = 1u << 2,
    JSPROF_READ_HIDE_SYSTEM = 1u << 3,
    JSPROF_READ_COLLAPSE_RECURSION = 1u << 4,
};

typedef struct jsprof_read_filter { /* as the options of these names; NULL: not given */
    size_t size;
    uint32_t flags;
    const char *process, *thread;   /* by name or number */
    const char *only, *without;     /* expressions; `without` is --not */
    const char *under, *focus, *top_of;
    const char *hide;
    const char *category, *categories; /* `categories` is a file */
    const char *state;
    const char *syscall; /* "read": on any descriptor; "read (pipe)" */
    /* "KEY=VALUE", or "KEY": any value; a sample counts if it has all of them. Borrowed during the
     * call. */
    const char *const *labels;
    uint32_t n_labels;
} jsprof_read_filter;

/* Choose the stacks that count from now on, and their frames. A zeroed filter is the default of
 * `jsprof report`, which does not count waits in event loops. Tables that are already open
 * remain as they are; samples that are being read follow the new choice. */
JSPROF_READ_API int jsprof_read_select(jsprof_reader *r, const jsprof_read_filter *filter,
                                       jsprof_read_error *error);

/* -- 4. The capture as a whole ---------------------------------------------- */

typedef struct jsprof_read_info {
    size_t size;
    /* "cpu_ns", "wall_ns", "samples", "alloc_bytes", "live_bytes"; the last is for people. */
    const char *unit, *unit_name;
    uint64_t samples, weight, value; /* loaded, whatever counts; weight: timer expirations */
    uint64_t idle_samples, idle_value; /* that do not count because a thread waited for events */
    uint32_t hz;                    /* samples asked for each second; 0: unknown */
    uint64_t period_ns;             /* 0: unknown */
    const char *clock;              /* "cpu", "wall"; "": unknown */
    const char *version;            /* of the jsprof that recorded it; "": another program did */
    const char *host, *source, *looks; /* "": unknown */
    const char *capture_time;       /* as the header has it, "2024-05-06T07:08:09Z" */
    int64_t start;                  /* the moment 0 of all times, on the recorder's clock */
    int64_t start_day;              /* the same in s since 1970; 0: unknown */
    int64_t first, last;            /* of the capture's samples, marks, ... */
    const char *state;              /* "running", "stopped", "final"; "": unknown */
    bool is_whole;                  /* it has all that was recorded, to the end */
    bool has_states;                /* samples say what their threads were doing */
    bool is_swapped;                /* it has the other byte order than this machine */
    int write_error;                /* the errno of a write that failed while recording; 0 */
    uint64_t expirations, kept, lost; /* of the timers of all threads; 0: no account */
    uint64_t marks_lost;
    uint64_t allocated, freed;      /* sampled allocations and what the capture says was freed */
    uint64_t alloc_every;           /* bytes from one sampled byte to the next; 0: unknown */
    uint32_t n_during;              /* marks of the name `during` of the options */
    double effective;               /* samples of equal value that are worth as much as these */
    uint64_t tasks;                 /* of the capture; 0 without JSPROF_READ_TASKS */
    /* Files so far: generated ones that are shown by their source maps, and such of native code
     * whose names are from `symbols`, while the capture has no build id to confirm them. */
    uint32_t mapped_files, unsure_files;
    bool lacks_proc;                /* recorded without /proc: see jsprof_read_native_files */
    bool has_labels;                /* samples have labels */
    uint64_t stacks;                /* different ones */
    uint64_t packed;                /* samples that are stored in few bytes */
    uint64_t fold_ns;               /* equal samples of so much time are one; 0: none are */
    uint64_t n_bytes;               /* of the capture */
    int64_t header_start, header_end; /* on the recorder's clock, as the header has them; 0: not.
                                         The start of the capture may be earlier. */
    const char *scheduler;          /* what the kernel said of it; "": nothing */
    bool is_little_endian;
    bool is_relayed;                /* in the recording of another program, which has no weights and
                                       losses */
    bool is_of_lua;                 /* the Lua module recorded it */
    /* What was chosen: threads; stacks by their frames; stacks for another reason, as idle ones are
     * left out; a part of the time, of the states or of the labels. */
    bool is_of_threads, is_of_frames, is_of_stacks, is_part;
    bool lacks_end;                 /* the host was killed or still records, or the file was cut:
                                       there may be more than these counts and losses say */
} jsprof_read_info;

/* Describe the capture as a whole. */
JSPROF_READ_API int jsprof_read_about(const jsprof_reader *r, jsprof_read_info *out);

typedef struct jsprof_read_defect {
    size_t size;
    uint64_t count;
    uint64_t offset;  /* byte of the first one */
    uint32_t cause;   /* a number of its own for each cause */
    const char *what; /* "samples without ..." */
    bool is_cut;      /* the capture ends inside a record */
} jsprof_read_defect;

/* Read what could not be read, by cause. */
JSPROF_READ_API int64_t jsprof_read_defects(const jsprof_reader *r, uint64_t first,
                                            jsprof_read_defect *out, uint64_t n);

/* Timer expirations that are in no sample, by cause. */
typedef struct jsprof_read_loss {
    size_t size;
    uint64_t count;
    const char *key;  /* as the fields of jsprof_stats: "lost_ring" */
    const char *name; /* for people */
    bool is_asked;    /* the host wanted no sample */
} jsprof_read_loss;
#define JSPROF_READ_ALL 0xFFFFFFFFu

/* Read the losses of one thread, by its number here, or of JSPROF_READ_ALL. Causes of which there
 * were none are there too. */
JSPROF_READ_API int64_t jsprof_read_losses(const jsprof_reader *r, uint32_t thread, uint64_t first,
                                           jsprof_read_loss *out, uint64_t n);

typedef struct jsprof_read_account {
    size_t size;
    int32_t pid, tid;
    const char *name; /* "": unknown */
    uint64_t samples, expirations, kept, lost;
    uint64_t unseen;  /* the part of lost that the host did not ask for */
    uint64_t cpu_ns, wall_ns; /* what passed on these clocks while it was attached */
    uint64_t frames_cut, frames_bad, underflows;
    /* Of the newest thread with this number, what all of them come to; in_file: expirations for
     * which the capture has samples. */
    uint64_t kept_of_tid, unseen_of_tid, in_file;
    /* Walks of the C stack by their end: whole; too deep; in code without tables; where the stack
     * made no sense; at unreadable memory; at a rule that was not understood. All 0: unknown. */
    uint64_t walks_whole, walks_full, walks_no_table, walks_stack, walks_unreadable, walks_rule;
    uint64_t alloc_bytes;     /* all that were reported */
    uint64_t alloc_lost, alloc_untold; /* samples: lost; that count as live for want of room */
    /* labels without room, cut, set in a signal handler, ended twice */
    uint64_t labels_full, labels_cut, labels_foreign, labels_unmatched;
    uint32_t thread; /* its number among jsprof_read_threads; JSPROF_READ_ALL: none */
    bool is_newest;           /* no later thread has its number */
} jsprof_read_account;

/* Read what the recorder counted of each thread, also of threads without samples. */
JSPROF_READ_API int64_t jsprof_read_accounts(const jsprof_reader *r, uint64_t first,
                                             jsprof_read_account *out, uint64_t n);

/* Read the losses of an account, by its number. Causes of which there were none are there too. */
JSPROF_READ_API int64_t jsprof_read_account_losses(const jsprof_reader *r, uint64_t account,
                                                   uint64_t first, jsprof_read_loss *out,
                                                   uint64_t n);

typedef struct jsprof_read_session {
    size_t size;
    const char *state;        /* "running", "stopped", "final"; "": unknown */
    uint64_t names_lost, names_cut; /* frames without a name, and names that were cut */
    uint64_t addresses_lost;  /* of C code, without a name */
    uint64_t forks;           /* children that were not recorded */
    uint64_t alloc_lost;      /* samples of allocations */
    uint64_t labels_bad, labels_stray, labels_lost; /* not UTF-8; of another thread; not written */
    bool is_there;            /* the capture has these figures */
    bool has_total;           /* the recorder's own sum of all threads is there */
} jsprof_read_session;

/* Describe what the recorder counted of all threads together, and of the session.
 * `all` gets the recorder's own sum where it is there, else that of the threads; NULL is valid. */
JSPROF_READ_API int jsprof_read_session_of(const jsprof_reader *r, jsprof_read_session *out,
                                           jsprof_read_account *all);

typedef struct jsprof_read_native_file {
    size_t size;
    const char *path;     /* as it was recorded */
    const char *build_id; /* in hexadecimal; "": unknown */
    const char *from;     /* the file that was read for names; "": none */
    int error;            /* why none was read, a negative errno; -ESTALE: it is another file */
    bool is_needed;       /* the capture itself lacks names of it */
} jsprof_read_native_file;

/* Read the files of native code, as far as frames that were read lie in them. */
JSPROF_READ_API int64_t jsprof_read_native_files(jsprof_reader *r, uint64_t first,
                                                 jsprof_read_native_file *out, uint64_t n);

typedef struct jsprof_read_unused_map {
    size_t size;
    const char *file, *why;
} jsprof_read_unused_map;

/* Read the generated files so far whose source maps could not be used. */
JSPROF_READ_API int64_t jsprof_read_unused_maps(jsprof_reader *r, uint64_t first,
                                                jsprof_read_unused_map *out, uint64_t n);

typedef struct jsprof_read_place {
    size_t size;
    const char *file;
    uint32_t line;
} jsprof_read_place;
typedef struct jsprof_read_asker {
    size_t size;
    int (*ask)(void *context, const jsprof_read_native_file *file, const uint64_t *addresses,
               jsprof_read_place *out, uint64_t n);
    void *context;
} jsprof_read_asker;

/* Ask for the lines of native code, which no capture has: `ask` is called once for each file with
 * addresses in frames that count, and stores the lines of the addresses, 0 where it knows none. It
 * returns 0 or a negative errno, which ends the asking. What it stored is read until it is called
 * again. From then on frames and functions have these lines. */
JSPROF_READ_API int jsprof_read_ask_lines(jsprof_reader *r, const jsprof_read_asker *asker,
                                          jsprof_read_error *error);

typedef struct jsprof_read_datum {
    size_t size;
    const char *key, *value; /* of a message its domain and text */
    int64_t time;
    int32_t process;
    bool is_message;
} jsprof_read_datum;

/* Read what the capture says about itself, and messages that were logged into it. */
JSPROF_READ_API int64_t jsprof_read_metadata(jsprof_reader *r, uint64_t first,
                                             jsprof_read_datum *out, uint64_t n);

typedef struct jsprof_read_file {
    size_t size;
    const char *path;
    uint64_t n_bytes;
    int32_t process;
    bool is_complete; /* the last part is there */
} jsprof_read_file;

/* Read the list of files in the capture, also those in which jsprof keeps its own records. */
JSPROF_READ_API int64_t jsprof_read_files(jsprof_reader *r, uint64_t first, jsprof_read_file *out,
                                          uint64_t n);

/* Copy at most `n` bytes of a file from byte `from` on. Return how many, or -EINVAL: there is no
 * file of this number. */
JSPROF_READ_API int64_t jsprof_read_file_bytes(jsprof_reader *r, uint64_t file, uint64_t from,
                                               void *out, uint64_t n);

/* -- 5. Processes, threads, samples ----------------------------------------- */

typedef struct jsprof_read_process {
    size_t size;
    int32_t pid, parent; /* parent 0: unknown */
    const char *command; /* "": unknown */
} jsprof_read_process;

/* Read the processes of the capture. */
JSPROF_READ_API int64_t jsprof_read_processes(jsprof_reader *r, uint64_t first,
                                              jsprof_read_process *out, uint64_t n);

typedef struct jsprof_read_thread {
    size_t size;
    int32_t pid, tid;
    bool is_chosen;   /* the filter chooses it */
    const char *name; /* "": unknown */
    uint64_t samples, weight, value, cpu_ns; /* loaded, whatever counts */
    int64_t first, last; /* of its samples */
    /* expirations in which it was running, waiting for a processor, asleep, in a wait of the
     * host, or nothing says so */
    uint64_t running, waiting, asleep, in_host, unknown;
    bool has_account; /* the recorder counted these: */
    uint64_t expirations, kept, lost;
    uint64_t unseen;  /* the part of lost that the host did not ask for */
    uint64_t stopped; /* expirations while the process was stopped, by Ctrl-Z for example */
} jsprof_read_thread;

/* Read the threads that have samples. */
JSPROF_READ_API int64_t jsprof_read_threads(jsprof_reader *r, uint64_t first,
                                            jsprof_read_thread *out, uint64_t n);

typedef struct jsprof_read_samples jsprof_read_samples;
typedef struct jsprof_read_sample {
    size_t size;
    int64_t time;
    uint32_t stack, thread; /* their numbers here */
    uint64_t value, weight; /* weight: timer expirations */
    uint64_t cpu_ns;        /* 0: unknown */
    int32_t cpu;            /* the processor; -1: unknown */
} jsprof_read_sample;

/* Begin to read the samples that count, in the order of the file: that of time for each thread. */
JSPROF_READ_API int jsprof_read_samples_open(jsprof_read_samples **out, jsprof_reader *r,
                                             jsprof_read_error *error);

/* Store the next samples, at most `n`. Return how many, 0 at the end, or -ENOMEM. */
JSPROF_READ_API int64_t jsprof_read_samples_next(jsprof_read_samples *s, jsprof_read_sample *out,
                                                 uint64_t n);

/* Close the samples. */
JSPROF_READ_API void jsprof_read_samples_close(jsprof_read_samples *s);

typedef struct jsprof_read_stack {
    size_t size;
    uint32_t thread, samples;
    uint64_t weight, value;
    const char *state;  /* "unknown", "running", "waiting", "asleep", "host",
                         * "stopped" */
    const char *detail; /* the system call, or what the host waits for; "": none */
} jsprof_read_stack;

/* Read the different stacks of each thread; equal samples of a thread share one. */
JSPROF_READ_API int64_t jsprof_read_stacks(jsprof_reader *r, uint64_t first,
                                           jsprof_read_stack *out, uint64_t n);

typedef struct jsprof_read_label {
    size_t size;
    const char *key, *value;
} jsprof_read_label;

/* Read the labels of a stack, by key. */
JSPROF_READ_API int64_t jsprof_read_labels(jsprof_reader *r, uint32_t stack, uint64_t first,
                                           jsprof_read_label *out, uint64_t n);

/* Copy the ids of the trace and the span of a stack. Return 1, or 0 if it has none, or if the
 * reader was opened without JSPROF_READ_TRACES. */
JSPROF_READ_API int jsprof_read_trace(const jsprof_reader *r, uint32_t stack,
                                      uint8_t trace_id[16], uint8_t span_id[8]);

typedef struct jsprof_read_frame {
    size_t size;
    uint32_t function; /* a number of its own for each function of this reader */
    uint32_t line;     /* 0: unknown */
    const char *name;
    const char *kind;  /* "vm", "jit", "label", "gc", "native", "synth", "kernel", "other" */
    const char *tier;  /* "interpreter", "baseline", ...; the kind where it is not known */
    const char *module; /* the file's name of native code; "": none */
    const char *file;  /* the source file of the line; "": it is in the name */
    bool is_native;    /* it is of the C stack: the host did not report it */
} jsprof_read_frame;

/* Read the frames of a stack that count, the innermost first; none: the stack does not count. */
JSPROF_READ_API int64_t jsprof_read_frames(jsprof_reader *r, uint32_t stack, uint64_t first,
                                           jsprof_read_frame *out, uint64_t n);

/* -- 6. Functions, call tree, callers --------------------------------------- */

/* What is added up: the samples that count. */
typedef struct jsprof_read_sum {
    size_t size;
    uint64_t value, samples, weight;
} jsprof_read_sum;

typedef struct jsprof_read_functions jsprof_read_functions;

/* Words as of `jsprof report`; NULL: "function", "self". */
typedef struct jsprof_read_order {
    size_t size;
    /* "function", "category", "kind", "tier", "module", "file", "line", "thread", "state",
     * "syscall", "label", and with JSPROF_READ_TASKS "task" */
    const char *by;
    const char *sort; /* "self", "total", "samples", "name" */
    const char *label; /* with by = "label": the values of this key; NULL: all labels */
} jsprof_read_order;

/* A function, or a group of functions, which has only a name and figures. */
typedef struct jsprof_read_function {
    size_t size;
    uint32_t function; /* as in jsprof_read_frame */
    uint32_t line;     /* where most of self was; 0: unknown */
    uint64_t self, total; /* values */
    uint64_t self_samples, total_samples;
    uint64_t line_value, jit_total; /* the parts of self in that line, of total in compiled code */
    const char *name;     /* "name (file:line)" */
    const char *recorded; /* the same as the capture has it */
    const char *kind, *module, *file; /* as in jsprof_read_frame */
    const char *path;     /* of native code its file; "": none */
} jsprof_read_function;

/* Return true if a function that was met so far has this name, with or without its (file:line) or
 * (arguments), whether it counts or not. */
JSPROF_READ_API bool jsprof_read_has_function(const jsprof_reader *r, const char *name);

/* Find the function's own name in a shown one, "name (file:line)": its first bytes. Return how many
 * they are. */
JSPROF_READ_API size_t jsprof_read_own_name(const char *name);

/* Add up what counts by functions or groups. `order` may be NULL. -EINVAL: an unknown word, or
 * "task" without JSPROF_READ_TASKS. */
JSPROF_READ_API int jsprof_read_functions_open(jsprof_read_functions **out, jsprof_reader *r,
                                               const jsprof_read_order *order,
                                               jsprof_read_error *error);

/* Read the functions or groups, as `order` sorts them. */
JSPROF_READ_API int64_t jsprof_read_function_rows(const jsprof_read_functions *f, uint64_t first,
                                                  jsprof_read_function *out, uint64_t n);

/* Describe all that counts. */
JSPROF_READ_API int jsprof_read_functions_sum(const jsprof_read_functions *f,
                                              jsprof_read_sum *out);

/* Close the functions. */
JSPROF_READ_API void jsprof_read_functions_close(jsprof_read_functions *f);

typedef struct jsprof_read_vm {
    size_t size;
    uint64_t value; /* in such stacks */
    uint64_t all;
} jsprof_read_vm;

/* Find how much of what counts is in stacks in which a function of the VM runs. Filters by the
 * names and kinds of frames, and by thread, have no effect on it. -ENOMEM. */
JSPROF_READ_API int jsprof_read_vm_of(jsprof_reader *r, jsprof_read_vm *out);

/* The call tree, from the outermost functions, or from the innermost ones. */
typedef struct jsprof_read_tree jsprof_read_tree;
typedef struct jsprof_read_shape {
    size_t size;
    bool is_bottom_up; /* a child is a caller of the function above it, not a callee */
    bool has_lines;    /* each line of a function is a node of its own */
    bool is_recursive; /* a function that calls itself has a node for each level */
    uint64_t is_async; /* not 0: above each stack the one that scheduled what ran, to the root; with
                          JSPROF_READ_TASKS */
} jsprof_read_shape;

/* Nodes come before their children; children with the larger total come first. */
typedef struct jsprof_read_node {
    size_t size;
    uint32_t parent;   /* its number */
    uint32_t depth;    /* 0: node 0, which is the whole and has no function */
    uint32_t n_children;
    uint32_t next;     /* the number of the first node that is not below this one */
    uint32_t function; /* as in jsprof_read_frame */
    uint32_t line;     /* 0: unknown, or without lines */
    uint64_t self, total, samples; /* samples: of total */
    const char *name, *kind, *module, *file;
    uint32_t met; /* its place in the order in which the samples met the nodes; node 0 has 0 */
} jsprof_read_node;

/* Build the tree of what counts. `shape` may be NULL. */
JSPROF_READ_API int jsprof_read_tree_open(jsprof_read_tree **out, jsprof_reader *r,
                                          const jsprof_read_shape *shape,
                                          jsprof_read_error *error);

/* Read the nodes of the tree. */
JSPROF_READ_API int64_t jsprof_read_nodes(const jsprof_read_tree *t, uint64_t first,
                                          jsprof_read_node *out, uint64_t n);

/* Close the tree. */
JSPROF_READ_API void jsprof_read_tree_close(jsprof_read_tree *t);

/* One function, those that called it and those that it called. Each stack counts once: for the
 * caller of the outermost call, for the callee of the innermost one. So callers add up to the
 * total, and callees and self, too. */
typedef struct jsprof_read_neighbours jsprof_read_neighbours;
typedef struct jsprof_read_centre {
    size_t size;
    const char *name;    /* as it is shown */
    const char *module;
    uint32_t n_functions; /* that have this name, and are taken together */
    uint64_t self, total, self_samples, total_samples;
    uint64_t value, samples; /* of all that counts */
} jsprof_read_centre;
typedef struct jsprof_read_neighbour { /* the largest first */
    size_t size;
    const char *name; /* NULL: nothing called it */
    const char *module;
    uint64_t value, samples;
} jsprof_read_neighbour;

/* `name` is a function's, with or without its (file:line) or (arguments). -ENOENT: no stack that
 * counts has it. */
JSPROF_READ_API int jsprof_read_neighbours_open(jsprof_read_neighbours **out, jsprof_reader *r,
                                                const char *name, jsprof_read_error *error);

/* Describe the function itself. */
JSPROF_READ_API int jsprof_read_neighbours_of(const jsprof_read_neighbours *n,
                                              jsprof_read_centre *out);

/* Read the functions that called it. */
JSPROF_READ_API int64_t jsprof_read_callers(const jsprof_read_neighbours *n, uint64_t first,
                                            jsprof_read_neighbour *out, uint64_t n_rows);

/* Read the functions that it called. */
JSPROF_READ_API int64_t jsprof_read_callees(const jsprof_read_neighbours *n, uint64_t first,
                                            jsprof_read_neighbour *out, uint64_t n_rows);

/* Close the neighbours. */
JSPROF_READ_API void jsprof_read_neighbours_close(jsprof_read_neighbours *n);

/* One function from inside: its lines, and its bytecode where the host gave a listing. */
typedef struct jsprof_read_listing jsprof_read_listing;
typedef struct jsprof_read_line { /* sorted by file and line */
    size_t size;
    uint32_t line;
    const char *file; /* "": it is in the function's name */
    uint64_t self, total;
} jsprof_read_line;
typedef struct jsprof_read_row { /* of bytecode */
    size_t size;
    uint64_t pc;
    const char *text;
    uint32_t line;    /* 0: unknown */
    bool ends;        /* it never continues with the next row */
    uint64_t self, total; /* 0 without JSPROF_READ_ROWS */
    const uint64_t *targets; /* pcs to which it may jump; they live as long as the listing */
    uint32_t n_targets;
} jsprof_read_row;
typedef struct jsprof_read_inside { /* the whole function */
    size_t size;
    uint64_t value, samples; /* of all that counts */
    uint64_t self, total, self_samples, total_samples;
    uint64_t in_lines, in_rows; /* the parts of self in a known line, in a known row */
    const char *file;     /* its source; "": unknown */
    uint32_t line;        /* of its definition; 0: unknown */
    uint32_t n_claimed;   /* rows that the host registered, though they may not all be there */
    bool has_listing;     /* the host registered one */
    bool is_shared;       /* another function of this name has another one */
} jsprof_read_inside;
typedef struct jsprof_read_block { /* rows that run one after the other */
    size_t size;
    uint32_t first, n;    /* rows */
    uint64_t self, total; /* total: that of its hottest row */
} jsprof_read_block;
typedef struct jsprof_read_operation { /* rows whose text begins with the same word */
    size_t size;
    const char *name;
    uint32_t n_rows;
    uint64_t self;
} jsprof_read_operation;

/* Read the inside of a function, by its number in jsprof_read_frame. -ENOENT: there is none. */
JSPROF_READ_API int jsprof_read_listing_open(jsprof_read_listing **out, jsprof_reader *r,
                                             uint32_t function, jsprof_read_error *error);

/* Read the lines in which samples were taken. */
JSPROF_READ_API int64_t jsprof_read_listing_lines(const jsprof_read_listing *l, uint64_t first,
                                                  jsprof_read_line *out, uint64_t n);

/* Read the rows of bytecode, in the order of the listing. */
JSPROF_READ_API int64_t jsprof_read_listing_rows(const jsprof_read_listing *l, uint64_t first,
                                                 jsprof_read_row *out, uint64_t n);

/* Describe the whole function, or return -ENOMEM. */
JSPROF_READ_API int jsprof_read_listing_of(const jsprof_read_listing *l,
                                           jsprof_read_inside *out);

/* Read the blocks, in the order of their rows. */
JSPROF_READ_API int64_t jsprof_read_listing_blocks(const jsprof_read_listing *l, uint64_t first,
                                                   jsprof_read_block *out, uint64_t n);

/* Read the operations, the one with the most self first. */
JSPROF_READ_API int64_t jsprof_read_operations(const jsprof_read_listing *l, uint64_t first,
                                               jsprof_read_operation *out, uint64_t n);

/* Read what of the listing could not be read. */
JSPROF_READ_API int64_t jsprof_read_listing_defects(const jsprof_read_listing *l, uint64_t first,
                                                    jsprof_read_defect *out, uint64_t n);

/* Close the listing. */
JSPROF_READ_API void jsprof_read_listing_close(jsprof_read_listing *l);

typedef struct jsprof_read_source jsprof_read_source;
typedef struct jsprof_read_found {
    size_t size;
    const char *path; /* where it was found */
    uint32_t n_lines;
    bool is_newer;    /* it was changed after the recording: lines may differ */
} jsprof_read_found;

/* Find and read a source by the path that names and lines show: from a source map, at that path,
 * else below `directory` (NULL: nowhere), or among the resources of a recorded program. -ENOENT:
 * nowhere. */
JSPROF_READ_API int jsprof_read_source_open(jsprof_read_source **out, jsprof_reader *r,
                                            const char *file, const char *directory,
                                            jsprof_read_error *error);

/* Describe the file in which the source was found. */
JSPROF_READ_API int jsprof_read_source_of(const jsprof_read_source *s, jsprof_read_found *out);

/* Return a line, from 1; "" where there is none; NULL without memory. */
JSPROF_READ_API const char *jsprof_read_source_line(const jsprof_read_source *s, uint32_t line);

/* Close the source. */
JSPROF_READ_API void jsprof_read_source_close(jsprof_read_source *s);

/* -- 7. Marks, counters, exact calls ---------------------------------------- */

/* Of the processes that the filter chooses, in the time that was loaded. */
typedef struct jsprof_read_events jsprof_read_events;
typedef struct jsprof_read_mark {
    size_t size;
    int64_t time, duration; /* duration 0: a moment */
    const char *group, *name, *message;
    int32_t process;
} jsprof_read_mark;
typedef struct jsprof_read_counter {
    size_t size;
    const char *group, *name, *meaning;
    uint32_t n_values;
    int32_t process;
    bool is_real; /* recorded as a floating-point number */
} jsprof_read_counter;
typedef struct jsprof_read_value {
    size_t size;
    int64_t time;
    double value;
    uint32_t counter; /* its number here */
} jsprof_read_value;

/* Read the marks, counters and values into memory. */
JSPROF_READ_API int jsprof_read_events_open(jsprof_read_events **out, jsprof_reader *r,
                                            jsprof_read_error *error);

/* Read the marks, in the order of the file. */
JSPROF_READ_API int64_t jsprof_read_marks(const jsprof_read_events *e, uint64_t first,
                                          jsprof_read_mark *out, uint64_t n);

/* Read the counters, in the order of their definition. */
JSPROF_READ_API int64_t jsprof_read_counters(const jsprof_read_events *e, uint64_t first,
                                             jsprof_read_counter *out, uint64_t n);

/* Read the values of all counters, in the order of the file. */
JSPROF_READ_API int64_t jsprof_read_values(const jsprof_read_events *e, uint64_t first,
                                           jsprof_read_value *out, uint64_t n);

/* Close the events. */
JSPROF_READ_API void jsprof_read_events_close(jsprof_read_events *e);

typedef struct jsprof_read_events_sum {
    size_t size;
    uint64_t marks, counters, values;
    uint64_t undefined; /* values of counters that nothing defines, which are skipped */
} jsprof_read_events_sum;

/* Count the events. */
JSPROF_READ_API int jsprof_read_events_of(const jsprof_read_events *e,
                                          jsprof_read_events_sum *out);

/* The durations in ns of the marks of one group and name, or the values of one counter. */
typedef struct jsprof_read_spread {
    size_t size;
    bool is_counter;
    const char *group, *name;
    const char *message; /* of marks, where they are grouped by it, too; else "" */
    uint64_t n;
    double total, min, mean;
    double median, p95; /* of these values, the nearest rank */
    double max, last;   /* last: of a counter in the order of time, of marks in that of the file */
} jsprof_read_spread;

/* Read the spreads of marks by group and name, then of counters as defined. */
JSPROF_READ_API int64_t jsprof_read_spreads(jsprof_read_events *e, uint64_t first,
                                            jsprof_read_spread *out, uint64_t n);

/* Do the same, but with marks by group, name and message. Of one name, the most frequent message
 * comes first. */
JSPROF_READ_API int64_t jsprof_read_message_spreads(jsprof_read_events *e, uint64_t first,
                                                    jsprof_read_spread *out, uint64_t n);

/* What the host counted exactly, of one process; filters have no effect on it. */
typedef struct jsprof_read_calls jsprof_read_calls;
typedef struct jsprof_read_counted {
    size_t size;
    int32_t process;
    bool has_others;   /* other processes of the capture counted, too */
    bool has_time, has_bytes, has_edges; /* what was counted at any time, besides calls */
    uint64_t calls;        /* of all functions */
    uint64_t own_ns;       /* the cost of counting, which the functions' times do not have */
    uint64_t collector_ns; /* garbage collection, which they have */
    uint64_t inside_ns;    /* the time in all functions */
    uint64_t bytes;        /* that were allocated */
    uint64_t threads, threads_waiting; /* waiting: that did not run since the last change */
    /* calls of functions, and over edges, that the tables had no room for; calls too deep to be
     * timed; functions left without having been entered; events of another thread */
    uint64_t functions_lost, edges_lost, too_deep, underflows, foreign;
    uint64_t clock_back;   /* steps of the clock backwards, which count as 0 */
    uint64_t clock_off_ppm; /* how far the processor's counter was off */
    uint64_t beyond_ns;    /* the cost of counting beyond the time that was measured */
    int64_t time;          /* as of when */
    const char *command;   /* the process's command line; "": unknown */
    bool has_counts;       /* calls were counted at any time */
    bool is_over;          /* the recording came to its end */
} jsprof_read_counted;
/* When it changed what is counted. */
typedef struct jsprof_read_counting {
    size_t size;
    int64_t time;
    bool has_counts, has_time, has_bytes, has_edges; /* from then on; none of them: nothing */
} jsprof_read_counting;
typedef struct jsprof_read_called { /* a function */
    size_t size;
    const char *name, *file, *kind;
    uint32_t line;
    uint64_t calls, self_ns, total_ns, self_bytes, total_bytes;
    const char *shown;  /* "name (file:line)" */
    uint64_t each_ns;   /* the total of one call */
    double self_share;  /* self as a part of the time in all functions */
    uint32_t id;        /* its number in the capture */
    bool is_rest;       /* all functions beyond the table */
} jsprof_read_called;
typedef struct jsprof_read_edge { /* calls from one function to another, by their numbers here */
    size_t size;
    uint32_t caller, callee;
    uint64_t calls, total_ns, total_bytes;
    uint64_t each_ns;
} jsprof_read_edge;

/* Read what was counted into memory. -ENODATA: nothing was. */
JSPROF_READ_API int jsprof_read_calls_open(jsprof_read_calls **out, jsprof_reader *r,
                                           jsprof_read_error *error);

/* Describe what was counted, and what was lost. */
JSPROF_READ_API int jsprof_read_calls_of(const jsprof_read_calls *c, jsprof_read_counted *out);

/* Read the functions, in no order, also those that were not called. */
JSPROF_READ_API int64_t jsprof_read_called_rows(const jsprof_read_calls *c, uint64_t first,
                                                jsprof_read_called *out, uint64_t n);

/* Read the edges, in no order. */
JSPROF_READ_API int64_t jsprof_read_edges(const jsprof_read_calls *c, uint64_t first,
                                          jsprof_read_edge *out, uint64_t n);

/* Read the changes of what was counted, in the order of the file. */
JSPROF_READ_API int64_t jsprof_read_countings(const jsprof_read_calls *c, uint64_t first,
                                              jsprof_read_counting *out, uint64_t n);

/* Read what of the records of calls the last jsprof_read_calls_open of this reader could not read,
 * also where that has failed. */
JSPROF_READ_API int64_t jsprof_read_calls_defects(const jsprof_reader *r, uint64_t first,
                                                  jsprof_read_defect *out, uint64_t n);

typedef struct jsprof_read_calls_filter { /* as the options of `jsprof calls` */
    size_t size;
    const char *only, *file; /* expressions; NULL: any */
    double min;       /* a part of the time in all functions, or without times of all calls */
    const char *sort; /* "self" (NULL), "total", "calls", "each", "bytes", "name" */
} jsprof_read_calls_filter;

/* Choose functions, and the edges from or to them; all others have no figures from now on. */
JSPROF_READ_API int jsprof_read_calls_select(jsprof_read_calls *c,
                                             const jsprof_read_calls_filter *filter,
                                             jsprof_read_error *error);

/* Read the numbers of functions that have figures, the largest first by the filter's `sort`. */
JSPROF_READ_API int64_t jsprof_read_called_order(jsprof_read_calls *c, uint64_t first,
                                                 uint32_t *out, uint64_t n);

/* Do the same with edges. */
JSPROF_READ_API int64_t jsprof_read_edge_order(jsprof_read_calls *c, uint64_t first, uint32_t *out,
                                               uint64_t n);

/* Close the calls. */
JSPROF_READ_API void jsprof_read_calls_close(jsprof_read_calls *c);

/* Functions of two captures by their exact figures. One is the same in both if its name, file and
 * line are, or else its name and file, in their order. */
typedef struct jsprof_read_calls_comparison jsprof_read_calls_comparison;
typedef struct jsprof_read_call_change { /* [0] before, [1] after */
    size_t size;
    const char *name, *file, *kind, *shown; /* after, if it is there */
    uint32_t line;
    bool is_there[2];  /* it has figures */
    uint64_t calls[2], self_ns[2], total_ns[2], self_bytes[2], total_bytes[2];
} jsprof_read_call_change;

/* The greatest change of `sort` comes first; see jsprof_read_calls_filter. A function that has the
 * part `min` in one of them is there with its figures of both. Close it before them. */
JSPROF_READ_API int jsprof_read_calls_compare(jsprof_read_calls_comparison **out,
                                              const jsprof_read_calls *before,
                                              const jsprof_read_calls *after, const char *sort,
                                              double min, jsprof_read_error *error);

/* Read the functions that have the part `min`. */
JSPROF_READ_API int64_t jsprof_read_call_changes(const jsprof_read_calls_comparison *c,
                                                 uint64_t first, jsprof_read_call_change *out,
                                                 uint64_t n);

/* Close the comparison. */
JSPROF_READ_API void jsprof_read_calls_compare_close(jsprof_read_calls_comparison *c);

/* -- 8. Compare ------------------------------------------------------------- */

/* Functions of two captures by their shares of what counts in each. A function is the same in
 * both if its name is, but for the line. */
typedef struct jsprof_read_comparison jsprof_read_comparison;
typedef struct jsprof_read_change { /* [0] before, [1] after */
    size_t size;
    const char *name, *module, *kind;
    double share[2], total_share[2];
    uint64_t self[2], total[2], samples[2]; /* samples: of self */
    double chance, total_chance; /* how likely chance alone changes the share as much */
    /* It does so with less than 5 percent for all functions together. */
    bool is_real, is_total_real;
    double times, total_times; /* so many times as many samples make it real; 0: too many */
} jsprof_read_change;
typedef struct jsprof_read_folder { /* of a program that was in two: "/a/v1/", "/a/v2/" */
    size_t size;
    const char *before, *after;
} jsprof_read_folder;

/* The greatest change of self comes first, or with sort = "total" of total. If the same program
 * was in two folders, both readers show its files without these from now on. Texts live until
 * either reader is closed. */
JSPROF_READ_API int jsprof_read_compare(jsprof_read_comparison **out, jsprof_reader *before,
                                        jsprof_reader *after, const char *sort,
                                        jsprof_read_error *error);

/* Read the functions of both captures. */
JSPROF_READ_API int64_t jsprof_read_changes(const jsprof_read_comparison *c, uint64_t first,
                                            jsprof_read_change *out, uint64_t n);

/* Describe all that counts before (0) or after (1). -EINVAL: another side. */
JSPROF_READ_API int jsprof_read_compared(const jsprof_read_comparison *c, int side,
                                         jsprof_read_sum *out);

/* Read the folders without which files are shown from now on. */
JSPROF_READ_API int64_t jsprof_read_folders(const jsprof_read_comparison *c, uint64_t first,
                                            jsprof_read_folder *out, uint64_t n);

/* Close the comparison. */
JSPROF_READ_API void jsprof_read_compare_close(jsprof_read_comparison *c);

/* -- 9. Tasks, their runs, and the turns of loops ---------------------------- */

/* Of the whole capture: filters and the span of time have no effect on them. A capture may have
 * any of them without the others, such as a run of a task whose record was lost; then the number
 * of what is missing is JSPROF_READ_NONE. A parent has a lower number than its children. */
#define JSPROF_READ_NONE 0xFFFFFFFFu
typedef struct jsprof_read_tasks jsprof_read_tasks;
typedef struct jsprof_read_tasks_sum {
    size_t size;
    uint64_t tasks, runs, turns;
    uint64_t stall_ns; /* the recorder kept only turns that took longer; 0: all */
    /* what the recorder lost, and what it counted as errors of the host */
    uint64_t lost, ends_unmatched, runs_left, runs_deep, wrong_handles;
    /* what is not as it should be in the capture */
    uint64_t unknown;  /* runs of tasks that it lacks, */
    uint64_t before;   /* of these the ones of tasks that were made before it began */
    uint64_t repeated, orphans, crossing, malformed;
} jsprof_read_tasks_sum;
typedef struct jsprof_read_task {
    size_t size;
    uint64_t number;        /* in its process */
    int64_t time, done;     /* made, and said to be done; done INT64_MIN: it was not */
    int32_t pid, tid;       /* where it was made */
    uint32_t parent;        /* the task that ran then */
    uint32_t n_runs;
    const char *kind, *name;
    uint32_t stack;         /* on which it was made: equal stacks have one number; or
                               JSPROF_READ_NONE */
} jsprof_read_task;
typedef struct jsprof_read_run {
    size_t size;
    int64_t time, duration; /* of one that is open: at least */
    int64_t inner;          /* the part in which runs inside it ran */
    int64_t delay;          /* since its task was ready; -1: unknown */
    int32_t pid, tid;
    uint32_t task;          /* its number here */
    uint32_t by;            /* the task that made it ready; its parent, if nothing did */
    uint32_t outer, turn;   /* the run around it, and the turn in which it began */
    uint32_t depth;         /* runs around it */
    bool is_open;           /* it has no end in the capture */
    bool is_left;           /* it ended because a run or a turn around it ended */
} jsprof_read_run;
typedef struct jsprof_read_turn { /* a long one is a stall */
    size_t size;
    int64_t time, duration;
    int64_t inner;          /* the part in which a loop inside it ran */
    int32_t pid, tid;
    uint32_t depth;         /* turns around it */
} jsprof_read_turn;

/* Read the tasks, runs and turns into memory. */
JSPROF_READ_API int jsprof_read_tasks_open(jsprof_read_tasks **out, jsprof_reader *r,
                                           jsprof_read_error *error);

/* Count tasks, runs and turns, and what was lost of them. */
JSPROF_READ_API int jsprof_read_tasks_of(const jsprof_read_tasks *t, jsprof_read_tasks_sum *out);

/* Read the tasks, by process, then by number. */
JSPROF_READ_API int64_t jsprof_read_task_rows(const jsprof_read_tasks *t, uint64_t first,
                                              jsprof_read_task *out, uint64_t n);

/* Read the runs, by thread, then by time, outer ones first. */
JSPROF_READ_API int64_t jsprof_read_runs(const jsprof_read_tasks *t, uint64_t first,
                                         jsprof_read_run *out, uint64_t n);

/* Read the turns, in the same order. */
JSPROF_READ_API int64_t jsprof_read_turns(const jsprof_read_tasks *t, uint64_t first,
                                          jsprof_read_turn *out, uint64_t n);

/* Read the frames on which a task was made, the innermost first. */
JSPROF_READ_API int64_t jsprof_read_task_frames(const jsprof_read_tasks *t, uint32_t task,
                                                uint64_t first, jsprof_read_frame *out,
                                                uint64_t n);

/* Close the tasks. */
JSPROF_READ_API void jsprof_read_tasks_close(jsprof_read_tasks *t);

/* -- 10. What loops ran, what kept them, and who asked for it ------------------ */

/* Runs in groups. They count if their thread is chosen, and in the span of time that was loaded. */
typedef struct jsprof_read_run_groups jsprof_read_run_groups;
typedef struct jsprof_read_run_group {
    size_t size;
    const char *kind, *name; /* "": the group has several */
    uint64_t task;           /* its number, if each group is a task */
    int32_t pid, tid;        /* of a task where it was made, of a thread itself; else 0 */
    bool is_unknown;         /* runs of tasks that the capture lacks */
    uint64_t made;           /* tasks of the group that the capture has */
    uint64_t open, left;     /* runs without an end; ended by one around them */
    double self;             /* ns in which no run inside these ran */
    uint64_t runs;
    double total, mean, median, p95, max; /* ns of a run */
    uint64_t delays;         /* of how many runs the delay is known */
    double delay_median, delay_p95, delay_max;
} jsprof_read_run_group;
typedef struct jsprof_read_run_groups_sum {
    size_t size;
    uint64_t tasks;          /* of the capture */
    uint64_t runs;           /* of all groups */
    double self;
    uint64_t turns;          /* 0: the host reported none */
    double turn_median, turn_p95, turn_max; /* ns, without loops inside them */
} jsprof_read_run_groups_sum;

/* order->by: "name" (default; the kind too), "kind", "task", "thread"; order->sort: "self",
 * "total", "runs", "mean", "95%", "max", "delay". NULL: the defaults. -ENODATA: no tasks. */
JSPROF_READ_API int jsprof_read_run_groups_open(jsprof_read_run_groups **out, jsprof_reader *r,
                                                const jsprof_read_order *order,
                                                jsprof_read_error *error);

/* Add up all groups, and describe the turns. */
JSPROF_READ_API int jsprof_read_run_groups_of(const jsprof_read_run_groups *g,
                                              jsprof_read_run_groups_sum *out);

/* Read the groups, as `order` sorts them. */
JSPROF_READ_API int64_t jsprof_read_run_group_rows(const jsprof_read_run_groups *g,
                                                   uint64_t first, jsprof_read_run_group *out,
                                                   uint64_t n);

/* Close the groups. */
JSPROF_READ_API void jsprof_read_run_groups_close(jsprof_read_run_groups *g);

/* Turns that took too long, or where the host reports none, outermost runs. */
typedef struct jsprof_read_stalls jsprof_read_stalls;
typedef struct jsprof_read_stall { /* or several: n, total and the times are of all of them */
    size_t size;
    uint64_t n;
    int64_t time, duration;  /* of the worst; of one that is open: at least */
    int64_t total;
    int32_t pid, tid;
    const char *cause;       /* "function", "collection", "blocking", "processor", "unknown" */
    int64_t in_function, in_collection, in_blocking, in_processor, in_unknown; /* ns */
    const char *function;    /* the VM's innermost with most of the cause's time; NULL: none */
    const char *call;        /* what it was blocked in; NULL: nothing, or unknown */
    const char *kind, *name; /* of the task of its longest run; NULL: none */
    uint32_t stack;          /* with most of the cause's time; JSPROF_READ_NONE: none */
    bool is_open;
} jsprof_read_stall;
typedef struct jsprof_read_stalls_sum {
    size_t size;
    uint64_t turns, stalls, groups;
    int64_t over, longest;
    int64_t kept;            /* the recorder kept only turns that took longer; 0: all */
    bool is_of_runs;         /* outermost runs are counted as turns */
} jsprof_read_stalls_sum;

/* Turns of at least `over` count, which is as "50ms"; NULL: those that the recorder kept, or if it
 * kept all, "16ms". -ENODATA: no tasks. */
JSPROF_READ_API int jsprof_read_stalls_open(jsprof_read_stalls **out, jsprof_reader *r,
                                            const char *over, jsprof_read_error *error);

/* Count turns, stalls and groups. */
JSPROF_READ_API int jsprof_read_stalls_of(const jsprof_read_stalls *s,
                                          jsprof_read_stalls_sum *out);

/* Read the stalls one by one, the longest first. */
JSPROF_READ_API int64_t jsprof_read_stall_rows(const jsprof_read_stalls *s, uint64_t first,
                                               jsprof_read_stall *out, uint64_t n);

/* Do the same with those of equal cause, function, call and task in one row. */
JSPROF_READ_API int64_t jsprof_read_stall_groups(const jsprof_read_stalls *s, uint64_t first,
                                                 jsprof_read_stall *out, uint64_t n);

/* Close the stalls. */
JSPROF_READ_API void jsprof_read_stalls_close(jsprof_read_stalls *s);

/* Chains of tasks: a task, its maker, the maker of that one, and so on. Chains with equal names
 * of tasks and of functions are one. A link that repeats itself is one link. */
typedef struct jsprof_read_chains jsprof_read_chains;
typedef struct jsprof_read_chain {
    size_t size;
    uint64_t tasks, runs;
    double total;            /* ns of these runs */
    int64_t delay;           /* the longest of a run; -1: unknown */
    uint32_t n_links;
    bool is_cut;             /* it goes on, too far or into tasks that the capture lacks */
} jsprof_read_chain;
typedef struct jsprof_read_link {
    size_t size;
    uint32_t what;           /* a number in jsprof_read_task_kinds */
    uint32_t times;          /* it repeats itself so often at most */
    const char *kind, *name;
} jsprof_read_link;
typedef struct jsprof_read_ready { /* runs that another task than their maker made ready */
    size_t size;
    uint32_t what;           /* as in jsprof_read_link */
    const char *kind, *name;
    uint64_t runs;
} jsprof_read_ready;
typedef struct jsprof_read_alike { /* the functions of a stack by which chains differ */
    size_t size;
    bool is_vm;              /* those of the VM alone, of a stack that has some */
    uint32_t most;           /* so many, the innermost; 0: all */
} jsprof_read_alike;
typedef struct jsprof_read_task_kind { /* all tasks of a kind and name */
    size_t size;
    const char *kind, *name;
    uint64_t tasks, runs;
    double total;            /* ns of these runs */
} jsprof_read_task_kind;

/* `which` is "#7" or a part of a kind and name; or a function, for the tasks in which it was
 * sampled; or a mark, for those that ran when it began: the first of these that there is. `alike`
 * may be NULL: chains differ by all functions. -ENODATA: no tasks. -ENOENT: none of them is
 * there. */
JSPROF_READ_API int jsprof_read_chains_open(jsprof_read_chains **out, jsprof_reader *r,
                                            const char *which,
                                            const jsprof_read_alike *alike,
                                            jsprof_read_error *error);

/* Read the chains, the one with the longest runs first. */
JSPROF_READ_API int64_t jsprof_read_chain_rows(const jsprof_read_chains *c, uint64_t first,
                                               jsprof_read_chain *out, uint64_t n);

/* Read the links of a chain; the task itself is the first. */
JSPROF_READ_API int64_t jsprof_read_links(const jsprof_read_chains *c, uint64_t chain,
                                          uint64_t first, jsprof_read_link *out, uint64_t n);

/* Read what made tasks of a chain ready, other than their makers: that of the most runs first. */
JSPROF_READ_API int64_t jsprof_read_ready_by(const jsprof_read_chains *c, uint64_t chain,
                                             uint64_t first, jsprof_read_ready *out,
                                             uint64_t n);

/* Read the frames on which the tasks of a link were made, the innermost first. */
JSPROF_READ_API int64_t jsprof_read_link_frames(const jsprof_read_chains *c, uint64_t chain,
                                                uint64_t link, uint64_t first,
                                                jsprof_read_frame *out, uint64_t n);

/* Read the kinds and names of tasks, by the numbers in `what`. */
JSPROF_READ_API int64_t jsprof_read_task_kinds(const jsprof_read_chains *c, uint64_t first,
                                               jsprof_read_task_kind *out, uint64_t n);

/* Close the chains. */
JSPROF_READ_API void jsprof_read_chains_close(jsprof_read_chains *c);

typedef struct jsprof_read_divergence { /* [0] before, [1] after */
    size_t size;
    bool is_same;      /* there is no such place */
    uint64_t at;       /* the number of the run there, in the order of time; the same in both */
    uint64_t runs[2];  /* all runs */
    uint32_t run[2];   /* of jsprof_read_runs; JSPROF_READ_NONE: no run is left */
    uint64_t other[2]; /* the number here of the run that the other one has there; runs[]: none */
} jsprof_read_divergence;

/* Find where the tasks of two captures first ran in another order. A task is the same in both if
 * its makers, kind, name and number among such tasks are. */
JSPROF_READ_API int jsprof_read_diverge(const jsprof_read_tasks *before,
                                        const jsprof_read_tasks *after,
                                        jsprof_read_divergence *out, jsprof_read_error *error);

/* -- 11. The records of the file ------------------------------------------------ */

/* All that the capture is made of, in the order of the file, whatever counts. Fields of other types
 * than the record's are 0 or "". */
typedef struct jsprof_read_records jsprof_read_records;
typedef struct jsprof_read_record {
    size_t size;
    uint64_t offset;      /* where it begins */
    uint32_t n_bytes;     /* with its head, */
    uint32_t n_body;      /* and without */
    int64_t time;
    int32_t process, cpu; /* cpu -1: unknown */
    /* "TIMESTAMP", "SAMPLE", "MAP", "PROCESS", "FORK", "EXIT", "JITMAP", "CTRDEF", "CTRSET",
     * "MARK", "META", "LOG", "FILE", "ALLOCATION", "OVERLAY" */
    const char *type;
    bool has_fields;      /* records of this type have some of those below, */
    bool is_readable;     /* and they could be read */
    uint32_t n_parts;     /* addresses of a SAMPLE, names of a JITMAP */
    /* The path of a MAP or FILE, the command line of a PROCESS, the name of a MARK, the key of a
     * META, the domain of a LOG; and the build id of a MAP, the message of a MARK, the text of a
     * META or LOG. */
    const char *name, *text;
    const char *group;    /* of a MARK */
    uint64_t number;      /* of a SAMPLE, from 0 */
    uint64_t begin, end;  /* of a MAP, in memory */
    uint64_t in_file;     /* where a MAP begins there */
    int64_t duration;     /* of a MARK */
    const void *data;     /* of a FILE; the piece that this record has */
    uint64_t n_data;
    uint64_t weight, cpu_ns, cut; /* of a SAMPLE; cut: frames missing at the inner end */
    uint64_t asleep_ns;   /* of a SAMPLE: how long the thread has slept */
    uint64_t descriptor;  /* of the system call in which it sleeps, + 1; 0: none */
    const char *state, *state_name; /* as of jsprof_read_stack, and for people; "unknown" */
    const char *detail;
    int32_t thread;       /* of a SAMPLE */
    int32_t child;        /* of a FORK */
    bool has_weight;      /* weight and cpu_ns are in the file */
    bool has_state;
    bool is_call;         /* detail is a system call */
    bool is_last;         /* of a FILE */
} jsprof_read_record;
typedef struct jsprof_read_part {
    size_t size;
    uint64_t number;      /* the address, innermost first, or the number of a counter */
    uint64_t bits;        /* of a counter's value: an int64_t or a double */
    uint64_t line;        /* of an address; 0: unknown */
    const char *name;     /* of an address NULL: none */
    const char *group, *text; /* of a counter that is defined; text: what it is */
    const char *module;   /* the file of native code; "": none */
    uint64_t in_module;   /* the address as an offset there */
    bool is_real;         /* the counter's values are doubles */
    bool is_marker;       /* no address, but says that those after it are */
    bool is_kernel;       /* ... of the kernel */
    bool is_loop;         /* in an interpreter's own code */
} jsprof_read_part;

/* Begin at the first record. */
JSPROF_READ_API int jsprof_read_records_open(jsprof_read_records **out, jsprof_reader *r,
                                             jsprof_read_error *error);

/* Store the next record. Return 1, 0 at the end, or -ENOMEM. */
JSPROF_READ_API int jsprof_read_records_next(jsprof_read_records *of, jsprof_read_record *out);

/* Store the next part of that record. Return 1, 0 after the last one, or -ENOMEM. */
JSPROF_READ_API int jsprof_read_parts_next(jsprof_read_records *of, jsprof_read_part *out);

/* Close the records. */
JSPROF_READ_API void jsprof_read_records_close(jsprof_read_records *of);

#ifdef __cplusplus
}
#endif

#endif
