/* jsprof.h - profile an interpreter or JIT host from inside. The whole API.
 *
 * SPDX-License-Identifier: MIT
 *
 * The smallest host:
 *
 *     jsprof *prof; jsprof_thread *me;
 *     if (jsprof_open(&prof, NULL) < 0) ...;
 *     if (jsprof_thread_attach(prof, "main", &me) < 0) ...;
 *     if (jsprof_start(prof) < 0) ...;
 *         jsprof_push(me, fn->name, fn->file, line);
 *         ... interpret fn ...
 *         jsprof_pop(me);
 *     jsprof_close(prof);
 *
 * Errors.   int functions return 0 (or a count) or a negative errno, never set
 *           errno, never print, never abort. A failed call has changed nothing.
 *           jsprof_strerror() gives one line for each.
 * Memory.   "Borrowed" pointers stay the caller's and must live as long as the
 *           comment says. Everything else is copied before the call returns.
 * Units.    _ns is nanoseconds, hz is per second, _bytes is bytes.
 * Threads.  Every declaration ends in one of three words:
 *             JSPROF_COLD     any thread; may lock, allocate, do I/O;
 *                             never from a signal handler
 *             JSPROF_OWNER    only the thread that attached; never locks,
 *                             allocates or makes a system call
 *             JSPROF_SIGSAFE  any thread, and also from a signal handler
 * Stack.    A cold function needs 12 KiB of its caller's stack. Our thread has a stack of its
 *           own size, of which on_drain may use 128 KiB. A sample is taken on the thread's
 *           alternate signal stack, or else on the stack that it interrupts. There the kernel
 *           saves the processor's registers: 1.5 to 4 KiB on x86-64 (12 where AMX is used), 5 on
 *           aarch64. Our part needs 4 KiB, and 8 more with callbacks of the host; with less the
 *           sample is lost and counted in lost_stack, and nothing is overwritten. But the
 *           kernel looks at nothing: a thread without an alternate stack must leave the
 *           kernel's frame and 512 bytes on each of its stacks, at any time. `make bench` prints
 *           what both take here. Small coroutine stacks want an alternate stack of 16 KiB.
 * Fork.     The child of fork() holds an inert copy: every call on it but
 *           jsprof_close and jsprof_thread_detach answers -ECHILD, nothing is
 *           written to the parent's file, and the child may open its own. With
 *           JSPROF_CHILDREN the session goes on there, into a file of its own.
 *           The host's pthread_atfork handlers may call any of these functions
 *           (the first jsprof_open registers ours: not there); no lock is held
 *           while they run.
 */
#ifndef JSPROF_H
#define JSPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSPROF_VERSION 100 /* major * 10000 + minor * 100 + patch */
#define JSPROF_VERSION_STRING "0.1.0"

#define JSPROF_API __attribute__((visibility("default")))
#define JSPROF_COLD
#define JSPROF_OWNER
#define JSPROF_SIGSAFE

#ifdef __cplusplus
extern "C" {
#endif

/* -- 1. A session --------------------------------------------------------- */

/* One recording: a set of threads, a timer rate, a capture file. */
typedef struct jsprof jsprof;

enum jsprof_clock {
    JSPROF_CLOCK_CPU = 0,  /* CPU time of each thread; idle threads stay asleep */
    JSPROF_CLOCK_WALL = 1, /* elapsed time; also shows where threads wait */
};

enum {
    /* Options.flags: someone else's handler owns the signal. Without this,
     * start answers -EBUSY; with it, signals that are not ours go on to it. */
    JSPROF_CHAIN = 1u << 0,
    /* Options.flags: write to `fd` (duplicated) instead of opening `path`. A pipe, a socket or
     * a terminal is never waited for longer than jsprof_stop and jsprof_close say, also when
     * it is in blocking mode; its flags stay as they are. */
    JSPROF_USE_FD = 1u << 1,
    /* Options.flags: refuse (-ELOOP) a `path` whose last part is a symbolic link. */
    JSPROF_NOFOLLOW = 1u << 2,
    /* Options.flags: VM frames only, the C stack is not unwound. */
    JSPROF_NO_NATIVE = 1u << 3,
    /* Options.flags: also tell registered code to /tmp/perf-PID.map, for perf. */
    JSPROF_PERF_MAP = 1u << 4,
    /* Options.flags: also write jit-PID.dump beside the capture, for perf inject. */
    JSPROF_JITDUMP = 1u << 5,
    /* Options.flags: a capture many times smaller, whose samples stand in a file inside it
     * that jsprof reads and Sysprof does not; jsprof convert --to syscap turns it back. */
    JSPROF_COMPACT = 1u << 6,
    /* Options.flags: start no thread in a program that has only one. From the second thread
     * on glibc's malloc and stdio take locks, which an interpreter that allocates feels. What
     * was sampled is then read and written by the sampled thread itself, in our handler, where
     * the signal found it in code that could have called any function: not in the C library,
     * nor the loader, nor in us, unless it waits in a system call; nor in what is between the
     * program and the C library (a preload, fakeroot, an allocator), where no wait counts.
     * What it samples while it is elsewhere, or before it fell asleep, waits in the ring until
     * it is sampled again, stops or flushes; so does what it samples on a stack that is not the
     * thread's own. A thread is started all the same where the program has others or attaches
     * a second one, has an alternate signal stack at that time, is static or brings its
     * allocator along, with JSPROF_NO_NATIVE, and where a write to the file may block: a pipe,
     * unless O_NONBLOCK. */
    JSPROF_NO_THREAD = 1u << 7,
    /* Options.flags: the session goes on in the children of fork(), each into a file of its
     * own: that of `path` with the child's pid, or PATH.PID. There it is as after open, start
     * and attach of the thread that forked, before fork returns: the session's and that
     * thread's pointers stay good, its entries, its stack, code and counters are there. Not
     * there are listings, exact calls, other threads, and all code where another thread, of
     * the host's or ours, was using the registry of code at that moment: register it again.
     * A child closes it as its parent does; one that executes another program leaves an empty
     * file. Where the child gets no timer or thread, the session is stopped there. With
     * JSPROF_USE_FD the flag does nothing. */
    JSPROF_CHILDREN = 1u << 8,
};

/* How to record. Zero means the default, so `{ .size = sizeof(o) }` is enough.
 * New fields only ever go at the end; `size` says which ones you know. */
typedef struct jsprof_options {
    size_t      size;        /* sizeof(jsprof_options) */
    const char *path;        /* capture file, %p is the pid; default jsprof-%p.syscap */
    uint32_t    hz;          /* expirations a second and thread, 1..10000; default 1000. Samples
                              * take a quarter of a thread's time at most, 10000 of them a
                              * second, in all sessions together: above, one stands for more */
    int         clock;       /* enum jsprof_clock; default CPU */
    uint32_t    max_depth;   /* VM, and C, frames kept per sample, 1..1000; default 512. Of
                              * deeper stacks the innermost and the outermost are kept, and
                              * a frame "[frames cut]" lies between them */
    uint32_t    ring_bytes;  /* per thread, 16 KiB..1 GiB, rounded up; default 512 KiB */
    uint32_t    label_bytes; /* arena for names, 4 KiB..8 MiB; default 8 MiB, touched as used */
    int         signo;       /* default SIGPROF; see jsprof_start */
    uint32_t    flags;       /* JSPROF_CHAIN, ... */
    int         fd;          /* with JSPROF_USE_FD */
    /* Called before what was sampled is read, several times a second while something is: by
     * our thread, in our handler with JSPROF_NO_THREAD, or by who stops, flushes and closes.
     * It may call jsprof_mark and jsprof_counter..., nothing else of ours. NULL: nothing. */
    void      (*on_drain)(void *data);
    void       *on_drain_data;
} jsprof_options;

/* Create the capture file and a session that is not yet running. A relative path is of the
 * folder where the process is now.
 *
 * Two sessions never write one file, in one process or in several. An open session holds a
 * lock (flock) on its file, if that is a regular file or a named pipe. While that is held,
 * or where the file has what this process recorded before it executed its present program,
 * open takes a name of its own: PATH.PID, or PATH.PID.2 and so on. Else it writes over what
 * is there. jsprof_path says where it writes. The library does not lock `fd`.
 *
 * The default path is a name that others can guess, and that of a perf map and jitdump: what
 * lies there must be a plain file of this process's user, with no second name.
 *
 * -EINVAL: an option out of range or an unknown flag; -ENOMEM; -EAGAIN: the process has no
 * thread-specific key left (PTHREAD_KEYS_MAX); -ETXTBSY: another session
 * writes the file, and it is a pipe, a link, or in a folder that takes no other file;
 * -EEXIST, -ELOOP: something else lies under the default path or that of a perf map; or
 * open's own errno for the path. jsprof_error_text says more. */
JSPROF_API int jsprof_open(jsprof **out, const jsprof_options *options) JSPROF_COLD;

/* The capture's absolute path, until close; relative where the system does not name the
 * folder; NULL with JSPROF_USE_FD. What it points to is another path in a child where the
 * session goes on. *is_other, unless that is NULL, is true where it is not
 * the path that was asked for, because that file is in use: say so to the user. */
JSPROF_API const char *jsprof_path(const jsprof *p, bool *is_other) JSPROF_COLD;

/* Arm the timers of every attached thread. Idempotent. -EBUSY: another handler
 * owns the signal; -EAGAIN: no timers or threads left; -EPERM: refused; -EOVERFLOW: see
 * jsprof_thread_attach.
 *
 * Do not set the signal to SIG_DFL while a session runs: the next one of ours ends the
 * process, and nobody can prevent that. Where none came, our thread notices within 0.2 s
 * and puts the handler back; handlers that had the signal before are then called no more.
 * A host that can not promise this samples on SIGURG, whose default action is to do
 * nothing. While our handler is there, signals of other senders do not end the process:
 * they are ignored, or go on with JSPROF_CHAIN. Where a sandbox lets no timer be stopped,
 * the handler stays after close. */
JSPROF_API int jsprof_start(jsprof *p) JSPROF_COLD;

/* Disarm, drain and flush. May be followed by start. Idempotent. The errno of
 * a failed write (-ENOSPC, -EPIPE, ...) comes back here and stays in the stats.
 * -ESTALE: another program has cut the file, removed it or written to it; nothing is
 * written from then on, and what was sampled since counts in lost_write.
 * -EAGAIN: a pipe took nothing for two seconds, samples wait for flush or close. A pipe that
 * takes something, however slowly, is waited for. */
JSPROF_API int jsprof_stop(jsprof *p) JSPROF_COLD;

/* Stop, complete the file, give everything back. Threads that are still
 * attached become inert and may detach at any later time. NULL is fine. -EAGAIN: a pipe took
 * nothing for two seconds, and nor did it take the last words, which say what was lost, for
 * two more.
 * Other threads may be in start, stop, flush, attach, stats and calls of this session, or
 * close it as well: those under way are waited for, later ones answer -EINVAL, as they do
 * for any session that is not open. All else that takes the session must have ended. */
JSPROF_API int jsprof_close(jsprof *p) JSPROF_COLD;

/* Write what was sampled so far; the drain does so by itself every second. Errors as
 * stop, but nothing is waited for. */
JSPROF_API int jsprof_flush(jsprof *p) JSPROF_COLD;

/* In a signal handler: may it call any function, malloc say, or jsprof_close? True where
 * the interrupted code is not in the C library, the loader or this library, or waits in a
 * system call. A preload, or what has a function of the C library in its place, counts as the
 * C library, and then no wait does. False where it can not be told, as in a static program.
 * What locks of its own the host holds it must know itself, and whether what was interrupted
 * is itself a handler, which may have interrupted malloc. */
JSPROF_API bool jsprof_callable(const void *ucontext) JSPROF_SIGSAFE;

/* Open and start as the environment asks: JSPROF=FILE (%p is the pid), JSPROF_HZ,
 * JSPROF_CLOCK=cpu|wall, JSPROF_COMPACT=0|1, JSPROF_CHILDREN=0|1. 1: started, *out is the
 * session; 0: JSPROF is unset, or the program is setuid, *out is NULL; -EINVAL: a value is
 * malformed; or the errors of open and start. jsprof_error_text has a sentence for each,
 * with the variable and its value. A relative FILE is of the folder where the process was
 * when this library was loaded: before the program could go to another one. */
JSPROF_API int jsprof_start_from_env(jsprof **out) JSPROF_COLD;

/* What was kept and what was not, in timer expirations. Always:
 * expirations = kept + lost_ring + lost_paused + lost_late + lost_write + lost_stack +
 *               lost_blocked + lost_undelivered */
typedef struct jsprof_stats {
    size_t   size;          /* set by the caller: sizeof(jsprof_stats) */
    uint64_t expirations;   /* periods of the timer that went by while threads were sampled,
                             * by their own clocks */
    uint64_t samples;       /* sample frames written */
    uint64_t kept;          /* expirations that those stand for (their weights) */
    uint64_t lost_ring;     /* the drain was late, the ring was full */
    uint64_t lost_paused;   /* between jsprof_thread_pause and _resume */
    uint64_t lost_late;     /* arrived after stop; after detach nothing is counted */
    uint64_t lost_write;    /* the file could not take them; the file says so too, as far as
                             * what it has can still be overwritten */
    uint64_t lost_stack;    /* too little stack was left to sample on */
    uint64_t frames_cut;    /* frames beyond max_depth or beyond the host's capacity */
    uint64_t labels_lost;   /* frames named "[label lost]": the arena was full */
    uint64_t labels_cut;    /* frames whose name was longer than 1023 bytes, cut there */
    uint64_t frames_bad;    /* host entries without a name, half of a stack, or whose C frame
                             * is gone: they keep their order, but lose their address */
    uint64_t underflows;    /* pops of an empty stack */
    uint64_t handler_ns;    /* time spent in the handler, all threads; 0: not measured */
    int      write_error;   /* 0, or the last negative errno of writing the capture */
    /* How the walks over the C stack ended: */
    uint64_t stop_end;        /* at the outermost frame */
    uint64_t stop_full;       /* max_depth frames, and the outermost too far away */
    uint64_t stop_no_table;   /* in code without unwind information */
    uint64_t stop_stack;      /* the next frame would not have been further out */
    uint64_t stop_unreadable; /* at memory that can not be read */
    uint64_t stop_rule;       /* at unwind information that is not understood */
    uint64_t marks_lost;      /* marks and values of counters that are not in the file */
    /* Went by unseen; no function is charged with that time: */
    uint64_t lost_blocked;     /* the thread blocked the signal, or the host ignored it or
                                * gave it to another handler, which did not pass it on */
    uint64_t lost_undelivered; /* due, but the signal had not come before detach or stop: on
                                * the CPU clock it waits for the next tick of the scheduler */
} jsprof_stats;

/* -EINVAL: size is 0 or unknown. */
JSPROF_API int jsprof_stats_get(jsprof *p, jsprof_stats *out) JSPROF_COLD;

/* -- 2. Frames and functions ---------------------------------------------- */

/* What a frame is; views group and colour by it. */
enum jsprof_kind {
    JSPROF_KIND_VM = 0,     /* interpreted function */
    JSPROF_KIND_JIT = 1,    /* compiled by a JIT */
    JSPROF_KIND_LABEL = 2,  /* something the host does: a section, a native method */
    JSPROF_KIND_GC = 3,     /* garbage collection */
    JSPROF_KIND_NATIVE = 4, /* C function */
    JSPROF_KIND_SYNTH = 5,  /* made by jsprof itself, "[...]" */
};

/* How label and detail become one name; or one of these into a frame's kind. */
enum jsprof_join {
    JSPROF_JOIN_SPACE = 0,      /* "label detail" */
    JSPROF_JOIN_PAREN = 1 << 8, /* "label (detail)" */
    JSPROF_JOIN_DOT = 2 << 8,   /* "label.detail" */
    JSPROF_JOIN_GET = 3 << 8,   /* "get label.detail" */
    JSPROF_JOIN_SET = 4 << 8,   /* "set label.detail" */
};

/* Or this too: the frame begins a new activation of the interpreter's loop. */
enum { JSPROF_FRAME_ENTRY = 1 << 16 };

/* Or, from a walker, no frame but registers: a C function called into compiled code
 * that is not registered, and the C stack goes on there: `pc` is the return address
 * in it, `sp` and `detail` its stack and frame pointer behind the call. */
enum { JSPROF_FRAME_CALLER = 1 << 17 };

/* A function of the host, named once. Lives until jsprof_function_free and
 * belongs to no session, so it may serve many. */
typedef struct jsprof_function jsprof_function;

/* Shown as "name (file:line)"; file may be NULL, line 0. Everything is copied.
 * -ENOMEM, -EINVAL (no name). */
JSPROF_API int jsprof_function_new(jsprof_function **out, const char *name, const char *file,
                                   uint32_t line, enum jsprof_kind kind) JSPROF_COLD;

/* The function must be on no thread's stack: the one thing a host must not do. With
 * JSPROF_DEBUG defined before this header is included, that is looked for on the calling
 * thread's stacks and those of its sessions' other threads, and ends the process with a
 * line that names function and thread. NULL is fine. What was counted of the function
 * stays in the tables, under its name. */
JSPROF_API void jsprof_function_free(jsprof_function *f) JSPROF_COLD;
JSPROF_API void jsprof_function_free_checked(jsprof_function *f) JSPROF_COLD;
#ifdef JSPROF_DEBUG
#define jsprof_function_free(f) jsprof_function_free_checked(f)
#endif

/* One frame of a host's stack. Every pointer is borrowed while the frame is
 * there; names are copied inside the sample. Zero what you do not know. */
typedef struct jsprof_frame {
    const jsprof_function *function; /* or NULL, and then: */
    const char *label;               /* the name; may be "" or NULL if detail is not */
    const char *detail;              /* second part: file, dynamic string; may be "", NULL */
    uintptr_t   sp;                  /* an address inside this activation's C frame */
    uint64_t    pc;                  /* the host's own program counter, 0: none */
    uint32_t    line;                /* current line, from 1 */
    uint32_t    kind;                /* enum jsprof_kind | jsprof_join | JSPROF_FRAME_ENTRY */
} jsprof_frame;

/* -- 3. Threads ----------------------------------------------------------- */

/* An entry that lives in the host's own C frame. */
typedef struct jsprof_link {
    struct jsprof_link    *up;
    const jsprof_function *function;
    /* Current line and program counter (0: none), which the host stores: both in one
     * store of 8 bytes, where a sample must never meet one without the other. */
    uint32_t               line, pc;
} jsprof_link;

/* The head is public so that push and pop can be inlined; the rest is not. What inline
 * code looks at is as fixed as a function's arguments: these fields and their order, that a
 * function begins with its number, 32 bits, which is the index into `counts`, and that 0
 * there means "never". */
typedef struct jsprof_thread {
    jsprof_link *volatile top;   /* linked entries, innermost first */
    jsprof_frame     *frames;    /* array entries, outermost first */
    uint32_t          capacity;
    volatile uint32_t depth;     /* may exceed capacity; the excess is not kept, and the
                                  * sample's innermost frame is "[deeper frames cut]" */
    volatile uint32_t underflows;
    volatile uint32_t counting;  /* JSPROF_CALLS_... that are on, and bits of the library's */
    /* Where its calls are counted, by function; not NULL while any are. */
    uint64_t         *counts;
    void             *calls;     /* the rest */
} jsprof_thread;

/* The calling thread joins. `name` is copied. When the session runs, sampling
 * begins at once. A thread that exits is detached by itself; one that ends by the raw
 * system call, within a second or so (without a thread of ours: at the next start, stop or
 * flush). While it blocks the signal it is not sampled: that time is lost_blocked.
 * -ENOTSUP: it was made by the raw system call, the C library does not know it;
 * -EALREADY: it did so before; -EAGAIN: no timers left (RLIMIT_SIGPENDING); -EPERM;
 * -ENOMEM; -EOVERFLOW: the thread has an alternate signal stack that does not hold what
 * the kernel saves for a signal, so any signal on it would end the process. One that comes
 * later is looked at by jsprof_start, if its own thread calls that. */
JSPROF_API int jsprof_thread_attach(jsprof *p, const char *name, jsprof_thread **out) JSPROF_COLD;

/* Same thread as attach; frames still pushed are forgotten. NULL is fine.
 * -EPERM: called by another thread. */
JSPROF_API int jsprof_thread_detach(jsprof_thread *t) JSPROF_COLD;

/* Between the two, expirations are counted in lost_paused and nothing of the
 * host is read. They nest. NULL does nothing. */
JSPROF_API void jsprof_thread_pause(jsprof_thread *t) JSPROF_OWNER;
JSPROF_API void jsprof_thread_resume(jsprof_thread *t) JSPROF_OWNER;

/* -- 4. The stack, form (a): ours ----------------------------------------- */

/* For all of these t == NULL does nothing, so a host needs no `if (profiling)`.
 * They may be mixed on one thread; frames are ordered by stack address. */

/* Array entries, for hosts whose interpreter does not recurse on the C stack.
 * `label` and `file` are borrowed until the pop. */
static inline void jsprof_push(jsprof_thread *t, const char *label, const char *file,
                               uint32_t line) JSPROF_OWNER;
static inline void jsprof_pop(jsprof_thread *t) JSPROF_OWNER;
static inline void jsprof_enter(jsprof_thread *t, const jsprof_function *f) JSPROF_OWNER;
static inline void jsprof_leave(jsprof_thread *t) JSPROF_OWNER;

/* The current line of the innermost array entry, and its program counter. */
static inline void jsprof_line(jsprof_thread *t, uint32_t line) JSPROF_OWNER;
static inline void jsprof_pc(jsprof_thread *t, uint64_t pc) JSPROF_OWNER;

/* After longjmp or an exception: back to an earlier value of t->depth. */
static inline void jsprof_leave_to(jsprof_thread *t, uint32_t depth) JSPROF_OWNER;

/* Linked entries, for hosts that recurse on the C stack: a third of the price.
 * `link` is a local variable of the caller. After longjmp, leave the link of the
 * outermost frame that is gone. */
static inline void jsprof_link_enter(jsprof_thread *t, jsprof_link *link,
                                     const jsprof_function *f) JSPROF_OWNER;
static inline void jsprof_link_leave(jsprof_thread *t, const jsprof_link *link) JSPROF_OWNER;

/* Each form tests t on the way in and on the way out. Where a call is so short that two
 * tests are felt while nobody profiles, a host tests once: the body is written once and
 * compiled twice, plainly and between the hooks, and this chooses.
 *
 *     static JSPROF_BODY value run_body(vm *vm, code *c)  { ...calls run()... }
 *     static JSPROF_ASIDE value run_hooked(vm *vm, code *c)
 *     {
 *         jsprof_link link;
 *         jsprof_link_enter(vm->t, &link, c->function);
 *         value v = run_body(vm, c);
 *         jsprof_link_leave(vm->t, &link);
 *         return v;
 *     }
 *     value run(vm *vm, code *c)
 *     {
 *         return JSPROF_OFF(vm->t) ? run_body(vm, c) : run_hooked(vm, c);
 *     }
 */
#define JSPROF_BODY  inline __attribute__((always_inline))
#define JSPROF_ASIDE __attribute__((noinline))
#define JSPROF_OFF(t) __builtin_expect(!(t), 1) /* clang forgets it in a function */

/* -- 5. The stack, form (b): the host's own array ------------------------- */

/* Fill *out from one entry. Return 1: a frame; 0: no frame, but out->sp, when
 * set, is the stack address of the frames above it; -1: unreadable, counted.
 * It, or a walker, finds 8 KiB of stack at least: where there is less the sample is
 * lost, and counted in lost_stack. */
typedef int (*jsprof_decode_sigsafe_fn)(void *host, const void *entry, jsprof_frame *out);

enum { JSPROF_NO_FIELD = -1 };

/* Where the entries are. Entry 0 is the outermost frame. The counter and the
 * array pointer are read anew in every sample: a host that moves its array
 * stores the new pointer before it frees the old array. */
typedef struct jsprof_stack {
    size_t      size;           /* sizeof(jsprof_stack) */
    const void *depth;          /* borrowed: address of the depth counter */
    const void *entries;        /* borrowed: address of the pointer to entry 0 */
    const void *capacity;       /* borrowed: address of a uint32_t; NULL: see limit */
    uint32_t    limit;          /* entries in the array, where capacity is NULL; 0: unknown */
    uint32_t    depth_bytes;    /* 4 or 8 */
    uint32_t    stride;         /* bytes from one entry to the next */
    uint32_t    kind;           /* kind and join of frames that are read by offsets */
    /* Either offsets in an entry (JSPROF_NO_FIELD where there is none) ... */
    int32_t     label_offset;   /* const char * */
    int32_t     detail_offset;  /* const char * */
    int32_t     sp_offset;      /* void * */
    int32_t     line_offset;    /* uint32_t */
    int32_t     pc_offset;      /* uint64_t */
    int32_t     reserved;
    /* ... or a callback, which must be signal-safe: no locks, no allocation. */
    jsprof_decode_sigsafe_fn decode_sigsafe;
    void       *host;           /* given to it */
} jsprof_stack;

/* The calling thread's VM stack from now on; NULL: none. The descriptor is
 * copied. -EINVAL: no counter, no entries, or neither label nor callback; -EPERM:
 * called by another thread. */
JSPROF_API int jsprof_thread_set_stack(jsprof_thread *t, const jsprof_stack *stack) JSPROF_COLD;

/* -- 6. The stack, form (c): a walker ------------------------------------- */

/* Called in the handler with the interrupted registers (a ucontext_t); writes
 * up to `max` frames, innermost first, each with its sp, and returns how many
 * there were (more than `max`: the excess is counted). Signal-safe. */
typedef uint32_t (*jsprof_walk_sigsafe_fn)(void *host, const void *ucontext,
                                           jsprof_frame *out, uint32_t max);

/* Beside (a) or (b); NULL: none. -EPERM: called by another thread. */
JSPROF_API int jsprof_thread_set_walker(jsprof_thread *t, jsprof_walk_sigsafe_fn walk,
                                        void *host) JSPROF_COLD;

/* -- 7. Native frames, compiled code, interpreters ------------------------- */

/* From this offset of a range on, until the next row's. Offsets are from the
 * range's start, rows ascend. */
typedef struct jsprof_code_row {
    uint32_t offset;
    int32_t  cfa;   /* CFA = stack pointer + this, or frame pointer + this */
    int16_t  ra_at; /* return address is at CFA + this; 0: in the link register */
    int16_t  fp_at; /* the caller's frame pointer is at CFA + this; 0: unchanged */
    uint32_t from_fp; /* not 0: CFA counts from the frame pointer */
} jsprof_code_row;

typedef struct jsprof_code_line {
    uint32_t offset; /* from here on, until the next one's; ascending */
    uint32_t line;
} jsprof_code_line;

typedef struct jsprof_code_pc {
    uint64_t pc;     /* the host's, as in its function's listing */
    uint32_t offset; /* as above */
    uint32_t reserved;
} jsprof_code_pc;

/* Compiled code; or, of a function of kind GC, the runtime's own code that collects.
 * Everything is copied but `function`, which lives on. */
typedef struct jsprof_code {
    size_t                  size;     /* sizeof(jsprof_code) */
    const void             *start;
    size_t                  length;
    const jsprof_function  *function; /* or NULL, and then: */
    const char             *name;
    const jsprof_code_line *lines;    /* or NULL */
    const jsprof_code_row  *rows;     /* how to unwind it; NULL: by frame pointer */
    uint32_t                n_lines;
    uint32_t                n_rows;
    const jsprof_code_pc   *pcs;      /* or NULL */
    uint32_t                n_pcs;
    uint32_t                reserved;
} jsprof_code;

/* The range holds this function from now on; what was registered in the same bytes
 * is gone. Samples are told apart by time, so addresses may be reused at once.
 * Call before the code can run, and remove after it can not. -EINVAL, -ENOMEM;
 * remove and move: -ENOENT, nothing registered starts there. */
JSPROF_API int jsprof_code_add(jsprof *p, const jsprof_code *code) JSPROF_COLD;
JSPROF_API int jsprof_code_remove(jsprof *p, const void *start) JSPROF_COLD;
JSPROF_API int jsprof_code_move(jsprof *p, const void *from, const void *to) JSPROF_COLD;

/* The C code of an interpreter's loop. Its native frames are marked, views hide
 * them; and where VM frames have no stack address, each native activation of the
 * loop takes one run of them, from a frame with JSPROF_FRAME_ENTRY to the next. */
JSPROF_API int jsprof_interpreter_add(jsprof *p, const void *start, size_t length) JSPROF_COLD;

/* One operation of a function's bytecode. */
typedef struct jsprof_listing_row {
    uint64_t        pc;        /* ascending, never 0 */
    const char     *text;      /* the operation's name first, then its operands */
    const uint64_t *targets;   /* pcs that it may jump to; NULL where n_targets is 0 */
    uint32_t        n_targets; /* JSPROF_LISTING_TARGETS at most */
    uint32_t        line;      /* 0: unknown */
    bool            ends;      /* it never goes on to the row behind it */
} jsprof_listing_row;

enum { JSPROF_LISTING_TARGETS = 4096 };

/* The bytecode of a function. Everything is copied. */
typedef struct jsprof_listing {
    size_t                    size; /* sizeof(jsprof_listing) */
    const jsprof_function    *function;
    const jsprof_listing_row *rows;
    uint32_t                  n_rows;
    uint32_t                  reserved;
} jsprof_listing;

/* From now on the pc of this function's frames is sampled: the capture holds its listing
 * and which rows were met, for `jsprof annotate`. Functions are told apart by their
 * shown names. -EEXIST: one of the same name has another listing, which stays, and the
 * capture says so; -E2BIG: listings would take more than 32 MiB; -EINVAL: pcs that do not
 * ascend, a text or targets missing; -ENOMEM. */
JSPROF_API int jsprof_listing_add(jsprof *p, const jsprof_listing *listing) JSPROF_COLD;

/* The rest of an interpreter's C code: views hide its native frames too, but it takes
 * no VM frames. */
JSPROF_API int jsprof_interpreter_hide(jsprof *p, const void *start, size_t length) JSPROF_COLD;

/* A C stack of a coroutine. Borrowed while a thread stands on it or on one that was
 * resumed from it. `low` is never stepped over; where a sample or jsprof_stack_switch
 * finds too little stack left above it the one is counted in lost_stack, and after the
 * other, counted in frames_bad, walks end with the stack that was switched to. */
typedef struct jsprof_cstack {
    const struct jsprof_cstack *resumer; /* NULL: the thread's own stack */
    const void *low, *high;              /* its memory, high exclusive */
} jsprof_cstack;

/* The thread stands on this stack from now on; NULL: on its own again. Call right
 * before the switch, from a function that is still waiting there when it comes back.
 * Frames on the stacks of its resumers are further out, wherever these lie in memory: the
 * walk goes on where each of them called this. */
JSPROF_API void jsprof_stack_switch(jsprof_thread *t, const jsprof_cstack *stack) JSPROF_OWNER;

/* -- 8. Marks and counters -------------------------------------------------- */

/* Nanoseconds of the clock that marks stand on. */
JSPROF_API uint64_t jsprof_now(void) JSPROF_SIGSAFE;

/* Something happened from `begin_ns` (a jsprof_now() of then; 0: a moment) until now,
 * whether the session runs or not: shown in timelines and by `jsprof list`. Group (23
 * bytes are kept), name (39) and message (4095) are copied, message may be NULL. Takes
 * a lock for the time of a copy, never waits for the file. -ENOBUFS: more wait than are
 * kept (1 MiB), it is counted in stats.marks_lost; -ENOMEM. */
JSPROF_API int jsprof_mark(jsprof *p, uint64_t begin_ns, const char *group, const char *name,
                           const char *message) JSPROF_COLD;

enum jsprof_counter_type { JSPROF_COUNTER_WHOLE = 0, JSPROF_COUNTER_REAL = 1 };

/* A figure that changes over time. Returns its number, from 1, which belongs to the
 * session; the same group and name (31 bytes each are kept) have the same. `what` (51)
 * says more, or is NULL. -EEXIST: it has the other type; -ENOSPC: 4095 are there;
 * -ENOBUFS, -ENOMEM as above. */
JSPROF_API int jsprof_counter(jsprof *p, const char *group, const char *name, const char *what,
                              enum jsprof_counter_type type) JSPROF_COLD;

/* Its value from now on, made to its type; written when it changes. -ENOENT: no such
 * counter; -ENOBUFS, -ENOMEM as above. */
JSPROF_API int jsprof_counter_set(jsprof *p, int counter, int64_t value) JSPROF_COLD;
JSPROF_API int jsprof_counter_set_real(jsprof *p, int counter, double value) JSPROF_COLD;

/* -- 9. A stack on demand --------------------------------------------------- */

/* One frame of a backtrace. `name` is NULL for a native frame without a name, and
 * stays valid until the session is closed. */
typedef struct jsprof_backtrace_frame {
    const char *name;
    uint64_t    pc;   /* native address or JIT code; 0: a VM frame */
    uint32_t    line; /* 0: unknown */
    uint32_t    kind; /* enum jsprof_kind */
} jsprof_backtrace_frame;

/* The calling thread's stack now, C, VM and JIT frames in their true order, innermost
 * first: for error reports. `t` is the calling thread's; `ucontext` is what a signal
 * handler was given, or NULL for "here". Returns the number of frames written, at
 * most `max`. While the thread is paused there are native frames only. -EINVAL, also
 * after close; -EPERM: not this thread's; -EBUSY: a sample of this very thread was
 * interrupted; -EOVERFLOW: less stack is left than a sample needs. */
JSPROF_API int jsprof_backtrace(jsprof_thread *t, const void *ucontext,
                                jsprof_backtrace_frame *out, uint32_t max) JSPROF_SIGSAFE;

/* The same as text, a line a frame, with write(2). 0, or as above, or write's errno. */
JSPROF_API int jsprof_backtrace_print(jsprof_thread *t, const void *ucontext,
                                      int fd) JSPROF_SIGSAFE;

/* -- 10. Exact calls -------------------------------------------------------- */

/* What is told of every enter and leave (linked or array), beside the samples. Each
 * can be on without the others. */
enum {
    JSPROF_CALLS_COUNT = 1, /* how often each function was entered */
    JSPROF_CALLS_TIME = 2,  /* its self and total time */
    JSPROF_CALLS_ALLOC = 4, /* what jsprof_alloc said: self and total bytes */
    JSPROF_CALLS_EDGES = 8, /* who called whom, how often; with time, how long */
    JSPROF_CALLS_ALL = 15,
    JSPROF_CALLS_USUAL = 3, /* counts and time, which has the shortest way */
};

/* From now on, for all threads of the session, those that attach later too; 0: none. The
 * session need not be started. Functions that are already on a thread's stack get time
 * and bytes from here on. -EINVAL: an unknown bit; -ENOMEM: nothing has changed. */
JSPROF_API int jsprof_calls_set(jsprof *p, uint32_t modes) JSPROF_COLD;

/* `bytes` were allocated: credited to the innermost function, and once to each that is
 * open. */
static inline void jsprof_alloc(jsprof_thread *t, size_t bytes) JSPROF_OWNER;

/* The innermost entry's function ends here and `f` takes its place: its caller is the
 * caller of the one that ended, and one leave ends it. */
static inline void jsprof_tail_call(jsprof_thread *t, const jsprof_function *f) JSPROF_OWNER;
static inline void jsprof_link_tail_call(jsprof_thread *t, jsprof_link *link,
                                         const jsprof_function *f) JSPROF_OWNER;

/* A section is something that the host does (collect, parse, compile, convert a string)
 * and behaves like a function. Time in sections of JSPROF_KIND_GC is also summed up. */
static inline void jsprof_section_begin(jsprof_thread *t,
                                        const jsprof_function *section) JSPROF_OWNER;
static inline void jsprof_section_end(jsprof_thread *t) JSPROF_OWNER;

/* While time is counted, jsprof_stack_switch stops the time of what is open on stacks
 * that the new one was not resumed from, and goes on with what was open on the new one.
 * Array entries: switch first, then bring `depth` and `frames` to the new stack's by
 * hand; an entry keeps its distance from the depth at which its stack was switched to. A
 * coroutine that is thrown away while suspended is forgotten by this: */
JSPROF_API void jsprof_stack_forget(jsprof_thread *t, const jsprof_cstack *stack) JSPROF_OWNER;

/* Text is borrowed until the session is closed. */
typedef struct jsprof_calls_row {
    const char *name, *file; /* not terminated */
    uint32_t    name_len, file_len;
    uint32_t    id;          /* 0: [other functions], 1: [outside], 2: [no function] */
    uint32_t    line;
    uint32_t    kind;        /* enum jsprof_kind */
    uint32_t    reserved;
    uint64_t    calls;
    uint64_t    self_ns, total_ns;       /* own cost of counting taken out */
    uint64_t    self_bytes, total_bytes;
} jsprof_calls_row;

typedef struct jsprof_calls_edge {
    uint32_t caller, callee; /* ids; 0 and 0: the rest, for which there was no room */
    uint64_t calls, total_ns;
} jsprof_calls_edge;

/* Summed over all threads that are or were attached, from the first jsprof_calls_set. */
typedef struct jsprof_calls {
    size_t             size;    /* set by the caller: sizeof(jsprof_calls) */
    jsprof_calls_row  *rows;    /* by id */
    jsprof_calls_edge *edges;
    size_t             n_rows, n_edges;
    uint32_t           modes;   /* that are on now */
    uint32_t           threads; /* that have a table */
    uint32_t           waiting; /* of them not seen since the last change of modes: what
                                 * is on their stacks is not in the rows yet; or stopped
                                 * in the middle of an event: rows are of two moments */
    uint32_t           clock_off; /* parts per million by which the processor's counter
                                   * strays; above 1000 do not trust any time */
    uint64_t           calls;     /* sum over the rows */
    uint64_t           inside_ns; /* the sum of all self_ns, but for `negative_ns` */
    uint64_t           own_ns;    /* what counting took, by calibration; in no row */
    uint64_t           gc_ns;     /* in sections of JSPROF_KIND_GC, outermost ones */
    uint64_t           negative_ns; /* where that was more than was measured: shown as 0 */
    uint64_t           functions_lost; /* calls in row 0 */
    uint64_t           edges_lost;     /* calls in edge 0 -> 0 */
    uint64_t           depth_lost;     /* calls too deep to be timed for themselves */
    uint64_t           underflows;     /* leaves without an enter */
    uint64_t           clock_back;     /* the clock went backwards: 0 was taken */
    uint64_t           foreign; /* events on another thread's stack, or while one of the
                                 * same thread was interrupted: not counted */
} jsprof_calls;

/* The tables now; also while threads run, of which each row is then of its own moment.
 * jsprof_calls_free gives the arrays back. -EINVAL, -ENOMEM, -ENOENT: nothing was ever
 * counted. */
JSPROF_API int jsprof_calls_snapshot(jsprof *p, jsprof_calls *out) JSPROF_COLD;
JSPROF_API void jsprof_calls_free(jsprof_calls *calls) JSPROF_COLD;

/* What the inline hooks call, for who has no compiler to inline them. They count, and
 * leave the stack as it is; `link` is NULL for array entries. Right before an entry is
 * pushed; before the entries above `depth` (array) go, before or after `link` and all
 * inside of it do; before an entry's function is replaced. */
JSPROF_API void jsprof_count_enter(jsprof_thread *t, const jsprof_function *f,
                                   jsprof_link *link) JSPROF_OWNER;
JSPROF_API void jsprof_count_leave(jsprof_thread *t, const jsprof_link *link,
                                   uint32_t depth) JSPROF_OWNER;
JSPROF_API void jsprof_count_tail(jsprof_thread *t, const jsprof_function *f,
                                  const jsprof_link *link) JSPROF_OWNER;
JSPROF_API void jsprof_count_alloc(jsprof_thread *t, size_t bytes) JSPROF_OWNER;

/* Of the linked entry alone, where `counting` is JSPROF_CALLS_USUAL and `link` is filled. This
 * pushes it, the other finds it popped. No argument may be NULL but `f`. */
JSPROF_API void jsprof_timed_enter(jsprof_thread *t, const jsprof_function *f,
                                   jsprof_link *link) JSPROF_OWNER;
JSPROF_API void jsprof_timed_leave(jsprof_thread *t, const jsprof_link *link) JSPROF_OWNER;

/* -- 11. The library ------------------------------------------------------- */

JSPROF_API int         jsprof_version(void) JSPROF_SIGSAFE;
JSPROF_API const char *jsprof_strerror(int err) JSPROF_SIGSAFE; /* static text */

/* The same for the calling thread's last jsprof_open or jsprof_start_from_env, where that
 * answered `err`, but with the variable, option or file, its value, and what is allowed.
 * Written to `text`, cut to `size` bytes (300 hold what is not a long path), and returned. */
JSPROF_API const char *jsprof_error_text(int err, char *text, size_t size) JSPROF_COLD;

/* -- Inline bodies -------------------------------------------------------- */

/* What is counted now. */
static inline uint32_t jsprof_counting(const jsprof_thread *t)
{
    /* ORDER: acquire, pairs with the release of who switches it on, maybe another thread:
     * the tables are there. */
    return __atomic_load_n(&t->counting, __ATOMIC_ACQUIRE);
}

/* The same, for who calls the library then, which looks at it again. As an atomic it would
 * cost two registers; that is what a sanitizer of threads is told not to look at. */
static inline __attribute__((no_sanitize_thread)) uint32_t
jsprof_counting_now(const jsprof_thread *t)
{
    return t->counting;
}

/* Something is counted. Nothing but calls, of a function that was counted before: here. */
static inline void jsprof_counted(jsprof_thread *t, const jsprof_function *f,
                                  jsprof_link *link, uint32_t counting)
{
    if (counting == JSPROF_CALLS_COUNT && f) {
        uint64_t *counter = &t->counts[*(const uint32_t *)(const void *)f];
        uint64_t before = *counter; /* this thread alone writes it */
        if (__builtin_expect(before != 0, 1)) {
            /* ORDER: relaxed. Who reads wants a statistic. */
            __atomic_store_n(counter, before + 1, __ATOMIC_RELAXED);
            return;
        }
    }
    jsprof_count_enter(t, f, link);
}

static inline jsprof_frame *jsprof_frame_next(jsprof_thread *t)
{
    return t->depth < t->capacity ? &t->frames[t->depth] : NULL;
}

static inline void jsprof_push(jsprof_thread *t, const char *label, const char *file,
                               uint32_t line)
{
    if (!t)
        return;
    jsprof_frame *f = jsprof_frame_next(t);
    if (f) {
        f->function = NULL;
        f->label = label;
        f->detail = file;
        f->sp = (uintptr_t)__builtin_frame_address(0);
        f->pc = 0;
        f->line = line;
        f->kind = (uint32_t)JSPROF_KIND_VM | (uint32_t)JSPROF_JOIN_PAREN;
    }
    /* ORDER: signal fence only. The one reader is this thread's own handler, so
     * the compiler must keep the frame before the depth; the CPU already does. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    t->depth = t->depth + 1;
}

static inline void jsprof_enter(jsprof_thread *t, const jsprof_function *function)
{
    if (!t)
        return;
    uint32_t counting = jsprof_counting(t);
    jsprof_frame *f = jsprof_frame_next(t);
    if (f) {
        f->function = function;
        f->label = NULL; /* an earlier push's, which may be gone: if function is NULL */
        f->detail = NULL;
        f->sp = (uintptr_t)__builtin_frame_address(0);
        f->pc = 0;
        f->line = 0;
        f->kind = 0;
    }
    if (counting)
        jsprof_counted(t, function, NULL, counting);
    /* ORDER: signal fence only; as in jsprof_push. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    t->depth = t->depth + 1;
}

static inline void jsprof_pop(jsprof_thread *t)
{
    if (!t)
        return;
    uint32_t depth = t->depth;
    if (jsprof_counting_now(t) > JSPROF_CALLS_COUNT)
        jsprof_count_leave(t, NULL, depth - 1);
    /* ORDER: signal fence only. Stores to the dying frame stay before this. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    if (depth)
        t->depth = depth - 1;
    else
        t->underflows = t->underflows + 1;
}

static inline void jsprof_leave(jsprof_thread *t)
{
    jsprof_pop(t);
}

static inline void jsprof_line(jsprof_thread *t, uint32_t line)
{
    if (t && t->depth - 1 < t->capacity)
        t->frames[t->depth - 1].line = line;
}

static inline void jsprof_pc(jsprof_thread *t, uint64_t pc)
{
    if (t && t->depth - 1 < t->capacity)
        t->frames[t->depth - 1].pc = pc;
}

static inline void jsprof_leave_to(jsprof_thread *t, uint32_t depth)
{
    if (!t)
        return;
    if (jsprof_counting_now(t) > JSPROF_CALLS_COUNT && depth < t->depth)
        jsprof_count_leave(t, NULL, depth);
    /* ORDER: signal fence only; as in jsprof_pop. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    if (depth <= t->depth)
        t->depth = depth;
    else
        t->underflows = t->underflows + 1;
}

static inline void jsprof_link_enter(jsprof_thread *t, jsprof_link *link,
                                     const jsprof_function *function)
{
    if (!t)
        return;
    uint32_t counting = jsprof_counting(t);
    link->up = t->top;
    /* ORDER: signal fence only. Else compilers gather the words in a vector, which takes
     * longer. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    link->function = function;
    link->line = 0;
    link->pc = 0;
    if (counting) {
        if (counting == (uint32_t)JSPROF_CALLS_USUAL) {
            jsprof_timed_enter(t, function, link);
            return;
        }
        jsprof_counted(t, function, link, counting);
    }
    /* ORDER: signal fence only; as in jsprof_push. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic push /* the host takes it off again before the link is gone */
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#endif
    t->top = link;
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC diagnostic pop
#endif
}

static inline void jsprof_link_leave(jsprof_thread *t, const jsprof_link *link)
{
    if (!t)
        return;
    /* ORDER: signal fence only; as in jsprof_pop. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    t->top = link->up;
    uint32_t counting = jsprof_counting_now(t);
    if (counting > JSPROF_CALLS_COUNT) {
        if (counting == (uint32_t)JSPROF_CALLS_USUAL)
            jsprof_timed_leave(t, link);
        else
            jsprof_count_leave(t, link, 0);
    }
}

static inline void jsprof_alloc(jsprof_thread *t, size_t bytes)
{
    if (t && jsprof_counting(t) & JSPROF_CALLS_ALLOC)
        jsprof_count_alloc(t, bytes);
}

static inline void jsprof_tail_call(jsprof_thread *t, const jsprof_function *f)
{
    if (!t)
        return;
    if (jsprof_counting(t))
        jsprof_count_tail(t, f, NULL);
    if (t->depth && t->depth <= t->capacity) {
        jsprof_frame *frame = &t->frames[t->depth - 1];
        frame->line = 0;
        frame->pc = 0;
        /* ORDER: signal fence only. No sample shows the new one with the old one's line. */
        __atomic_signal_fence(__ATOMIC_RELEASE);
        frame->function = f;
    }
}

static inline void jsprof_link_tail_call(jsprof_thread *t, jsprof_link *link,
                                         const jsprof_function *f)
{
    if (!t)
        return;
    if (jsprof_counting(t))
        jsprof_count_tail(t, f, link);
    link->line = 0;
    link->pc = 0;
    /* ORDER: signal fence only; as in jsprof_tail_call. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    link->function = f;
}

static inline void jsprof_section_begin(jsprof_thread *t, const jsprof_function *section)
{
    jsprof_enter(t, section);
}

static inline void jsprof_section_end(jsprof_thread *t)
{
    jsprof_leave(t);
}

#ifdef __cplusplus
}
#endif

#endif
