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
 * Errors.   Functions of type int return 0 (or a count) or a negative errno. They never
 *           set errno and never abort; only jsprof_backtrace_print, jsprof_backtrace_json
 *           and the report of jsprof_crash_report write text. A failed call has changed
 *           nothing, except that stop, close and flush do their work and then report the
 *           error of the file. jsprof_strerror() returns one line of text for each errno.
 * Memory.   "Borrowed" memory stays the caller's and must stay valid as long as the
 *           comment says. The library copies everything else before the call returns.
 * Units.    _ns is nanoseconds, hz is per second, _bytes is bytes.
 * Threads.  Every declaration ends in one of three words:
 *             JSPROF_COLD     any thread; may lock, allocate, do I/O;
 *                             never from a signal handler
 *             JSPROF_OWNER    only the thread that attached; never locks,
 *                             allocates or makes a system call
 *             JSPROF_SIGSAFE  any thread, and also from a signal handler
 * Stack.    A cold function needs 12 KiB of its caller's stack. The library's own thread
 *           (the drain) has a stack of its own; on_drain may use 128 KiB of it. The
 *           handler takes a sample on the thread's alternate signal stack, or else on the
 *           stack that the signal interrupted. There the kernel first saves the
 *           processor's registers: 1.5 to 4 KiB on x86-64 (12 where AMX is used), 5 on
 *           aarch64. The handler then needs 4 KiB, and 8 more if the host has callbacks.
 *           With less, it drops the sample, counts it in lost_stack and overwrites
 *           nothing. But the kernel does not check for room. So a thread without an
 *           alternate stack must always leave room for the kernel's frame and 512 bytes
 *           on each of its stacks. `make bench` measures the kernel's frame and the
 *           handler's use of the stack. A thread with small coroutine stacks should have
 *           an alternate stack of 16 KiB.
 * Closed.   After jsprof_close a session must go to no function, not even to
 *           jsprof_mark, apart from those that jsprof_close names. A thread that is still
 *           attached keeps its jsprof_thread until it detaches or exits: there, all
 *           functions that take one stay valid and record nothing. Functions and handles
 *           of tasks belong to no session.
 * Fork.     The child of fork() holds an inert copy of the session. Calls on the session
 *           except jsprof_close return -ECHILD, as do jsprof_thread_set_stack and
 *           _set_walker, and nothing is written to the parent's file. Other calls on the
 *           thread (entries, labels, tasks, waits) return what they would in the parent
 *           and record nothing. The child may open its own session.
 *           With JSPROF_CHILDREN the session continues in the child and writes a file of
 *           its own. The host's pthread_atfork handlers may call any of these functions,
 *           because the library holds no lock while they run. One exception: they must
 *           not make the first jsprof_open of the process, which registers the library's
 *           own handlers.
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
    /* Elapsed time; also shows where threads wait. Threads that sleep get no signal. With
     * JSPROF_TIMER they do, and each signal interrupts a system call that waits. The kernel
     * restarts most of them, but poll, select, nanosleep, a wait with a timeout and some others
     * return early with EINTR: the host must try again with the time that is left. On both clocks a
     * thread that begins to wait may be interrupted just then (see JSPROF_PERF; with JSPROF_LOOKER
     * a signal may come up to 220 us late). On x86-64 most such calls are made again. Apart from
     * that, the CPU clock does not wake a thread that waits. */
    JSPROF_CLOCK_WALL = 1,
};

enum {
    /* Options.flags: share the signal with a handler that is already installed. The
     * library passes signals that are not its own to that handler. Without this flag
     * jsprof_start returns -EBUSY if there is such a handler. */
    JSPROF_CHAIN = 1u << 0,
    /* Options.flags: write to a duplicate of `fd` instead of opening `path`. The host may
     * close `fd` after jsprof_open. The library waits for a pipe, socket or terminal no
     * longer than jsprof_stop and jsprof_close describe, even if `fd` is in blocking mode.
     * The library does not change the flags of `fd`. */
    JSPROF_USE_FD = 1u << 1,
    /* Options.flags: refuse (-ELOOP) a `path` whose last part is a symbolic link. And keep
     * a capture there by an earlier session of this program, or of one that it forked: this
     * session uses another name. jsprof_start_from_env sets this flag. */
    JSPROF_NOFOLLOW = 1u << 2,
    /* Options.flags: record VM frames only; do not unwind the C stack. */
    JSPROF_NO_NATIVE = 1u << 3,
    /* Options.flags: also write registered code to /tmp/perf-PID.map, for perf. */
    JSPROF_PERF_MAP = 1u << 4,
    /* Options.flags: also write jit-PID.dump beside the capture, for perf inject. */
    JSPROF_JITDUMP = 1u << 5,
    /* Options.flags: make the capture many times smaller. It then stores its samples in
     * an embedded file that jsprof reads and Sysprof does not. `jsprof convert --to
     * syscap` turns it into a plain capture. */
    JSPROF_COMPACT = 1u << 6,
    /* Options.flags: start no thread in a program that has only one. (From the second
     * thread on, glibc's malloc and stdio take locks, which slows interpreters that
     * allocate.)
     *
     * The sampled thread then processes and writes its samples itself, in the signal
     * handler. It does so only when the signal interrupts code that could have called
     * any function. Code in the C library, the loader and this library does not qualify,
     * unless it waits in a system call. Code in an object that replaces functions of the C
     * library (a preload, fakeroot, an allocator) does not qualify either, and in a process
     * with such an object a waiting thread does not qualify. All other samples wait in the
     * ring until a later signal interrupts code that qualifies, or until the session stops
     * or flushes. The samples taken before the thread fell asleep wait in the same way, and
     * so do samples on a stack that is not the thread's own.
     *
     * The library starts its thread in spite of this flag if the program has other threads
     * or attaches a second one; if the thread that starts or attaches has an alternate
     * signal stack; if the program is static or has its own allocator; with
     * JSPROF_NO_NATIVE; or if a write to the file may block, as to a pipe without
     * O_NONBLOCK. */
    JSPROF_NO_THREAD = 1u << 7,
    /* Options.flags: continue the session in the children of fork(), each with a file of
     * its own: `path` with the child's pid for %p, or else PATH.PID. Before fork returns,
     * the child's session is open and started and the thread that forked is attached, as
     * they were in the parent. The host's pointers to the session and to that thread stay
     * valid.
     *
     * The child keeps that thread's entries and stack, the registered code and the
     * counters. It does not keep listings, exact calls and other threads. The child closes
     * its session as the parent does. A child that executes another program leaves an
     * empty file. If the child can get no timer or thread, its session is stopped. With
     * JSPROF_USE_FD the flag has no effect. With JSPROF_CONTROL the child listens as well; if it
     * can get no socket, nobody sees it. */
    JSPROF_CHILDREN = 1u << 8,
    /* Options.flags: let one thread of the library, the looker, look at all attached threads
     * once a period and send the signal to those that have a processor, in place of a timer
     * for each thread. This is the default where events are not allowed: see JSPROF_PERF and
     * JSPROF_TIMER. A CPU timer fires on the scheduler's tick only, which has 100 to 1000 a second,
     * and in step with a program that follows the tick; the looker takes as many samples of a
     * second of CPU time as `hz` asks for, at random moments. In exchange a sample means one more
     * wake of a thread, and each attached thread takes a descriptor.
     *
     * On the wall clock the looker samples a thread that sleeps from outside, so its system
     * calls do not return EINTR, except one that begins just when a signal was sent; on x86-64
     * the handler then makes most of such calls again. Threads in a
     * coroutine, with sampled allocations, with a walker or callback that needs their own thread
     * (see jsprof_thread_set_asleep_walker), or whose stack needs a frame pointer that nobody
     * knows, get a signal all the same.
     *
     * The library uses timers in spite of this flag with JSPROF_NO_THREAD, without /proc, or
     * if the system refuses the thread or the signals; `jsprof info` shows which it is. Threads
     * whose number exceeds a quarter of RLIMIT_NOFILE have no descriptor, and looks at them take
     * longer. */
    JSPROF_LOOKER = 1u << 9,
    /* Options.flags: only describe the program, for debuggers (jsprof-gdb.py), for
     * jsprof_backtrace and for jsprof_crash_report. There is no file, and jsprof_start
     * returns -EINVAL. Everything else works as in a session that has not started: threads
     * attach and keep their stacks, and code can be registered. A host that always wants its
     * stack in core files opens such a session at its start. */
    JSPROF_DESCRIBE = 1u << 10,
    /* Options.flags: record what the scheduler does. Counters of the group "scheduler" have, since
     * the start and about once a second: the process's voluntary and involuntary switches, the
     * microseconds for which attached threads have waited for a processor, their migrations, and
     * the mean frequency of the processors in MHz, where the system reports it. Where the kernel
     * allows perf_event_open for the process itself, each switch of the first 16 attached threads
     * is a mark, too: "slept" or "stopped", from the moment when the thread lost its processor
     * until it had one again. Elsewhere the states of samples on the wall clock with
     * JSPROF_LOOKER show them, as exactly as there are samples. The capture says which of the
     * two it is (METADATA jsprof.sched). A switch takes 100 bytes of the capture. */
    JSPROF_SCHED = 1u << 11,
    /* Options.flags: listen on a socket, so that `jsprof ps` lists the process, and its user and
     * root can look at it and record it: see docs/control.md. One thread of the library sleeps
     * there; NO_THREAD has no effect.
     *
     * Without `path` and `fd` the session has no file. It waits: jsprof_start samples nothing, but
     * lets `jsprof record PID` begin a recording, with the clock, rate and file of that command,
     * and jsprof_stop ends that. Until then marks are dropped, jsprof_path returns NULL, and the
     * session costs what attached threads cost. The options signo, max_depth, ring_bytes,
     * label_bytes and alloc hold for each recording. A child of fork does not listen; with
     * JSPROF_CHILDREN it does, on a socket of its own, and waits for a recording of its own.
     *
     * jsprof_open also returns -EPERM: the folder of the socket is another user's, or a link. */
    JSPROF_CONTROL = 1u << 12,
    /* Options.flags: give each thread a timer that sends the signal, in place of events and the
     * looker (JSPROF_PERF and JSPROF_LOOKER, which exclude this flag). So the library starts one
     * thread less and keeps no descriptor for a thread. */
    JSPROF_TIMER = 1u << 13,
    /* Options.flags: announce code of jsprof_code_add by gdb's JIT interface. Then gdb names and
     * unwinds it without jsprof-gdb.py, also in core files, and so does each debugger that knows
     * the interface. An announcement has the name and the rows, but no lines. It takes some
     * hundreds of bytes, and under a debugger a stop. */
    JSPROF_GDB_JIT = 1u << 14,
    /* Options.flags: sample each thread that runs by an event of the kernel's that counts its CPU
     * time (perf_event's task clock). This is the default on x86-64, unless JSPROF_LOOKER or
     * JSPROF_TIMER is set, or JSPROF_NO_THREAD on the wall clock, for which nobody would look at
     * threads that wait.
     * Each sample comes when it is due, on the thread's own processor: as many as `hz` asks for,
     * in step with nothing, and true for a thread that makes system calls, however short its turns
     * are. On the wall clock the looker samples the rest of the time: threads that sleep, without
     * a signal, and those that wait for a processor. It takes a descriptor a thread.
     *
     * A sample may be due in a system call that begins to wait. On x86-64 most such calls are made
     * again; else they return EINTR. `jsprof info` counts both.
     *
     * The kernel allows it where /proc/sys/kernel/perf_event_paranoid is 1 or less, and with
     * CAP_PERFMON; a sandbox may forbid it. Where that is 2, the event comes in user code alone;
     * a timer of the thread's CPU time, which expires with the scheduler's tick, brings the samples
     * of system calls, each with a weight. A page fault looks like other code there, and
     * half of a point of a hundred, of the signals themselves, goes to system calls. Elsewhere, and
     * where the host handles SIGURG without JSPROF_CHAIN, the looker samples (see JSPROF_LOOKER),
     * or with JSPROF_NO_THREAD a timer; a thread beyond the host's limit of descriptors is sampled
     * by the looker on the wall clock, else by a timer. `jsprof info` says which it is, and why. If
     * `signo` has its default, the signal is SIGURG: one may be under way when the process calls
     * exec, and SIGPROF would end the new program. */
    JSPROF_PERF = 1u << 15,
};

/* How to record. Zero means the default, so `{ .size = sizeof(o) }` is enough. Later
 * versions add fields only at the end; `size` states which fields the caller knows. */
typedef struct jsprof_options {
    size_t      size;        /* sizeof(jsprof_options) */
    const char *path;        /* capture file, %p is the pid; default jsprof-%p.syscap */
    uint32_t    hz;          /* timer expirations per second and thread, 1..10000; default
                              * 1000. All sessions together spend at most a quarter of a
                              * thread's time on samples and take at most 10000 a second;
                              * above that, one sample represents several expirations */
    int         clock;       /* enum jsprof_clock; default CPU */
    uint32_t    max_depth;   /* VM frames, and C frames, kept per sample, 1..1000; default
                              * 512. A deeper stack keeps its innermost and its outermost
                              * frames, with a frame "[frames cut]" between them */
    uint32_t    ring_bytes;  /* per thread, 16 KiB..1 GiB, rounded up; default 512 KiB, or
                              * 4 MiB with `alloc`, which take memory as they fill */
    uint32_t    label_bytes; /* arena for names, 4 KiB..8 MiB; default 8 MiB of address
                              * space, which takes memory as it fills */
    int         signo;       /* default SIGPROF, or SIGURG: see JSPROF_PERF, jsprof_start */
    uint32_t    flags;       /* JSPROF_CHAIN, ... */
    int         fd;          /* with JSPROF_USE_FD */
    /* The library calls this before it reads samples, several times a second while there
     * are any. It calls from its own thread, with JSPROF_NO_THREAD from the handler, or
     * from the thread that calls stop, flush or close. The callback may call jsprof_mark,
     * jsprof_counter and jsprof_counter_set..., but no other function of this library.
     * NULL: no callback. */
    void      (*on_drain)(void *data);
    void       *on_drain_data;
    uint32_t    alloc;       /* sample one in each so many bytes that jsprof_allocated
                              * reports, up to 1 GiB; 0: none; 1: JSPROF_ALLOC_USUAL */
    /* Stall mode: write only what happens in turns of a loop (jsprof_turn_begin) that take
     * longer than so many nanoseconds, up to an hour; 0: write everything. Outside of turns, an
     * outermost run of a task counts as one. Samples in quick turns, and between turns, count as
     * lost_quick. A mark is written if a long turn is open at a moment of it; a value of a
     * counter if it is set in one. */
    uint64_t    stalls;
    const char *vm;          /* with JSPROF_CONTROL: the interpreter and its version, at most 31
                              * bytes, for `jsprof ps`; copied. NULL: not known */
    /* Continuous mode: record for as long as the process runs, into files of this folder, which
     * is made if it is not there. NULL: no. See docs/fleet.md. Equal stacks of a thread become
     * one sample with the sum of their weights, a segment at a time, at the time of the
     * segment's last sample. The file has a segment after its end, and a process that is killed
     * loses the last one. There are no marks, counters' values and tasks. The default of hz is
     * 19 then, that of ring_bytes 256 KiB. Each segment has room for 4096 distinct stacks and
     * 8192 new frames; what does not fit counts as lost_fold.
     *
     * Excludes path, fd, alloc, stalls and the flags USE_FD, DESCRIBE, SCHED, CHILDREN, PERF_MAP
     * and JITDUMP; COMPACT is implied, and NO_THREAD has no effect. With CONTROL the recording
     * pauses while `jsprof record` or another command records. jsprof_start also returns the
     * errors of opening a file; jsprof_path returns NULL. */
    const char *continuous;
    uint32_t    segment_s;   /* seconds of a segment, 1 to 3600; default 10 */
    uint32_t    keep_s;      /* what to keep: seconds, 24 to 8640000; default a day. A file
                              * covers a 24th of it */
    uint32_t    keep_mib;    /* ... and at most so many MiB of files of this program, 1 to
                              * 1048576; default 64. A file has an 8th of it */
} jsprof_options;

enum { JSPROF_ALLOC_USUAL = 512 << 10 };

/* Set one option from text, for hosts with options on a command line. `name` is a field
 * (path, hz, clock, max_depth or depth, ring_bytes, label_bytes, signo, alloc, stalls,
 * continuous, segment_s or segment, keep_s or keep, keep_mib), or a flag without JSPROF_
 * (compact, children, control, no_thread, ..., but not use_fd), or source, which is
 * auto (none of the flags), perf, looker or timer (JSPROF_PERF, JSPROF_LOOKER, JSPROF_TIMER). The
 * function accepts capital letters, and - for _, and ignores the prefixes JSPROF_ and --profile-. A
 * number is whole and decimal, a clock is cpu or wall, or cpu,wall (wall with JSPROF_PERF: the
 * capture has both), a flag is 1 or 0, a limit of stalls has its unit: 16ms, 500us, 1s, and so have
 * segment and keep: 10s, 90m, 24h, 7d. The text of `path` and `continuous` must stay valid until
 * jsprof_open returns.
 * Threads may call this at the same time, each with its own *o.
 *
 * -EINVAL: there is no such option, its value is not allowed, or o->size is unknown. *o is
 * unchanged. jsprof_error_text then names the option as the caller spelt it, its value, and
 * the allowed values. */
JSPROF_API int jsprof_options_set(jsprof_options *o, const char *name,
                                  const char *value) JSPROF_COLD;

/* Create the capture file, and a session that does not run yet. `options` may be NULL: all
 * defaults. A relative path starts at the process's current folder.
 *
 * Two sessions never write one file, in one process or in several. An open session holds
 * a lock (flock) on its file, if that is a regular file or a named pipe. Open uses
 * another name (PATH.PID, or PATH.PID.2 and so on) if another session holds the lock, or
 * if this process wrote the file before it executed its present program, or, with
 * JSPROF_NOFOLLOW, if this program did. Otherwise it overwrites an existing file. jsprof_path
 * returns the name in use. The library does not lock `fd`.
 *
 * Other users can guess the default path and the paths of a perf map and a jitdump. If a
 * file exists there, it must be a plain file that belongs to this process's user and has
 * no second name.
 *
 * -EINVAL: an option is out of range, or a flag is unknown. -ENOMEM. -EAGAIN: the process
 * has no thread-specific key left (PTHREAD_KEYS_MAX). -ETXTBSY: another session writes
 * the file, and it is a pipe, a link, or in a folder where no other file can be created.
 * -EEXIST, -ELOOP: the default path or the path of a perf map exists and is not such a
 * plain file. Any other error is the errno of opening the path. jsprof_error_text gives
 * the details. */
JSPROF_API int jsprof_open(jsprof **out, const jsprof_options *options) JSPROF_COLD;

/* Return the capture's absolute path, valid until close. The path is relative if the
 * system can not name the folder, and NULL with JSPROF_USE_FD. In a child where the
 * session continues, the same pointer leads to the child's path. Unless is_other is NULL,
 * set *is_other: true if the requested file was in use and the path therefore differs from
 * the requested path. The host should then show the path to the user. */
JSPROF_API const char *jsprof_path(const jsprof *p, bool *is_other) JSPROF_COLD;

/* Arm the timers of every attached thread. Idempotent.
 *
 * -EBUSY: another handler owns the signal. -EAGAIN: no timers or threads left. -EPERM:
 * the system refuses to create a timer. -EOVERFLOW: see jsprof_thread_attach.
 *
 * The host must not set the signal to SIG_DFL while a session runs: the next signal of a
 * timer then ends the process, and no library can prevent that. If no signal comes first,
 * the drain notices within 0.2 s and installs the handler again; it no longer calls a
 * handler that had the signal before. A host that can not avoid SIG_DFL should sample on
 * SIGURG, whose default action is to do nothing.
 *
 * While the library's handler is installed, signals from other senders do not end the
 * process: the handler ignores them, or passes them on with JSPROF_CHAIN. If a sandbox
 * prevents the library from stopping a timer, the handler stays installed after close. */
JSPROF_API int jsprof_start(jsprof *p) JSPROF_COLD;

/* Disarm the timers, then process and write all samples. Start may follow. Idempotent.
 * Returns the errno of a failed write (-ENOSPC, -EPIPE, ...), which the stats also keep.
 *
 * -ESTALE: another program has cut, removed or written to the file. The library then
 * writes nothing more and counts later samples in lost_write. -EAGAIN: a pipe accepted
 * nothing for two seconds; the samples wait for flush or close. As long as a pipe accepts
 * some bytes, however slowly, the library continues to wait. */
JSPROF_API int jsprof_stop(jsprof *p) JSPROF_COLD;

/* Stop, complete the file and free everything, even if writing fails. Threads that are
 * still attached become inert and may detach at any later time. NULL does nothing. Errors
 * as jsprof_stop.
 *
 * -EAGAIN: a pipe accepted nothing for two seconds; the library then waited two more
 * seconds for it to accept the final account of losses, also in vain.
 *
 * During close, other threads may call start, stop, flush, attach, stats, calls and close
 * on this session. Close waits for calls in progress; later calls return -EINVAL, as for
 * any session that is not open. All other functions that take the session must have
 * returned.
 */
JSPROF_API int jsprof_close(jsprof *p) JSPROF_COLD;

/* Write the samples taken so far. The drain does this every second without being asked.
 * Errors as jsprof_stop, but this call does not wait for a pipe. */
JSPROF_API int jsprof_flush(jsprof *p) JSPROF_COLD;

/* Return true if the signal handler that calls this may call any function, such as malloc
 * or jsprof_close. It may if the interrupted code is not in the C library, the
 * loader or this library, or if that code waits in a system call. A preload, or any
 * object that replaces a function of the C library, counts as the C library; in a process
 * with such an object a waiting thread does not qualify. Return false if this can not be
 * determined, as in a static program.
 *
 * The host itself must check two more things: whether the interrupted code holds one of
 * the host's own locks, and whether the interrupted code is itself a signal handler, which
 * may have interrupted malloc. */
JSPROF_API bool jsprof_callable(const void *ucontext) JSPROF_SIGSAFE;

/* Open and start a session with options from the environment: JSPROF=FILE (%p is the pid),
 * JSPROF_HZ, JSPROF_CLOCK=cpu|wall|cpu,wall, JSPROF_COMPACT=0|1, JSPROF_CHILDREN=0|1,
 * JSPROF_ALLOC=BYTES, JSPROF_STALLS=TIME, JSPROF_DEPTH=FRAMES (max_depth), JSPROF_NO_THREAD=0|1,
 * JSPROF_SOURCE=auto|perf|looker|timer, JSPROF_SCHED=0|1, JSPROF_CONTROL=0|1, and JSPROF_CALLS=all
 * or some of count, time, alloc and edges with commas between, for jsprof_calls_set. In place of
 * JSPROF, JSPROF_CONTINUOUS=FOLDER, with JSPROF_SEGMENT=TIME, JSPROF_KEEP=TIME and JSPROF_KEEP_MIB.
 * A relative FILE or FOLDER starts at the folder that was current when the process loaded this
 * library. FILE must not be a symbolic link (-ELOOP).
 *
 * Return 1 if the session runs; *out is the session. With JSPROF_CONTROL=1 and without a place it
 * waits for `jsprof record`. Return 0 if none is set, or if the program is setuid; *out is NULL.
 *
 * -EINVAL: a value is malformed. Other errors as jsprof_open and jsprof_start; *out is NULL.
 * jsprof_error_text names the variable, its value and what is allowed. */
JSPROF_API int jsprof_start_from_env(jsprof **out) JSPROF_COLD;

/* Name the interpreter and its version for `jsprof ps` as jsprof_options.vm does, at any time: for
 * a host whose options come from the environment. A session that does not listen is seen by nobody;
 * then this does nothing. -EINVAL: NULL. */
JSPROF_API int jsprof_vm_set(jsprof *p, const char *vm) JSPROF_COLD;

/* The number of timer expirations that were kept and lost. This equation always holds:
 * expirations = kept + lost_ring + lost_paused + lost_late + lost_write + lost_stack +
 *               lost_blocked + lost_undelivered + lost_fold + lost_quick */
typedef struct jsprof_stats {
    size_t   size;          /* set by the caller: sizeof(jsprof_stats) */
    uint64_t expirations;   /* timer periods that passed while threads were sampled, by the
                             * threads' own clocks */
    uint64_t samples;       /* sample frames written */
    uint64_t kept;          /* sum of these samples' weights: the expirations they represent */
    uint64_t lost_ring;     /* the drain was late and the ring was full */
    uint64_t lost_paused;   /* between jsprof_thread_pause and _resume */
    uint64_t lost_late;     /* signals that arrived after stop; after detach, the library no
                             * longer counts them */
    uint64_t lost_write;    /* the file could not take them; the file records this too, if
                             * its existing bytes can still be overwritten */
    uint64_t lost_stack;    /* too little stack was left to sample on */
    uint64_t frames_cut;    /* frames beyond max_depth or beyond the host's capacity */
    uint64_t labels_lost;   /* frames named "[label lost]": the arena was full */
    uint64_t labels_cut;    /* frames whose name was cut after 1023 bytes */
    uint64_t frames_bad;    /* defects of the host's stack: entries without a name, unreadable
                             * entries and arrays, and entries whose C frame is gone. The
                             * last keep their place in the order, without their address */
    uint64_t underflows;    /* pops of an empty stack */
    uint64_t handler_ns;    /* time spent in the handler, all threads; 0: not measured */
    int      write_error;   /* 0, or the last negative errno of writing the capture */
    /* How the walks over the C stack ended: */
    uint64_t stop_end;        /* at the outermost frame */
    uint64_t stop_full;       /* at the limit of max_depth, before the outermost frame */
    uint64_t stop_no_table;   /* in code without unwind information */
    uint64_t stop_stack;      /* the next frame would not have been further out, or the
                               * thread's own stack ended at a return address of zero */
    uint64_t stop_unreadable; /* at memory that can not be read */
    uint64_t stop_rule;       /* at unwind information that the library does not understand */
    uint64_t marks_lost;      /* marks and counter values that are not in the file */
    /* Expirations that brought no signal, so that no function is charged with their time: */
    uint64_t lost_blocked;     /* the thread blocked the signal, or the host ignored it or
                                * gave it to another handler that did not pass it on */
    uint64_t lost_undelivered; /* due at detach or stop, but the signal had not arrived yet:
                                * on the CPU clock it waits for the scheduler's next tick */
    uint64_t lost_fold;        /* in continuous mode: there was no room for another stack */
    uint64_t lost_quick;       /* in stall mode: in no turn that took too long */
} jsprof_stats;

/* Fill *out. -EINVAL: size is 0 or unknown. */
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

/* Which of the host's interpreters or compilers runs a frame; add one of these to its kind, with
 * `|`. 0: not known. `jsprof report --by tier` sums them up. */
enum jsprof_tier {
    JSPROF_TIER_INTERPRETER = 1 << 4,
    JSPROF_TIER_BASELINE_INTERPRETER = 2 << 4, /* an interpreter that the JIT generates */
    JSPROF_TIER_BASELINE = 3 << 4,             /* compiled quickly */
    JSPROF_TIER_OPTIMIZED = 4 << 4,            /* compiled by an optimizing compiler */
    JSPROF_TIER_WASM = 5 << 4,                 /* WebAssembly, by whatever compiler */
};

/* How label and detail form one name. Add one of these to a frame's kind, with `|`. */
enum jsprof_join {
    JSPROF_JOIN_SPACE = 0,      /* "label detail" */
    JSPROF_JOIN_PAREN = 1 << 8, /* "label (detail)" */
    JSPROF_JOIN_DOT = 2 << 8,   /* "label.detail" */
    JSPROF_JOIN_GET = 3 << 8,   /* "get label.detail" */
    JSPROF_JOIN_SET = 4 << 8,   /* "set label.detail" */
};

/* Add this to a frame's kind where the frame begins a new activation of the interpreter's
 * loop. */
enum { JSPROF_FRAME_ENTRY = 1 << 16 };

/* With JSPROF_FRAME_ENTRY, on the innermost frame: the function is called, but has run nothing
 * so far, so the loop may not have been entered for it. */
enum { JSPROF_FRAME_CALLED = 1 << 19 };

/* Add this to a frame's kind if the frame is a C function without a name that begins at `pc`.
 * In the capture, the symbol that begins there takes the place of `label`, if the object has
 * one. The frame itself has no program counter then. */
enum { JSPROF_FRAME_SYMBOL = 1 << 20 };

/* Add this to the kind of a frame with label and detail if it knows where its function is
 * defined: the upper 32 bits of `pc` are that line (0: unknown), and the lower 32 bits the
 * program counter. The name then has the line after the detail, if there is one: with
 * JSPROF_JOIN_PAREN "label (detail:line)", like a jsprof_function. So two functions of one
 * name, such as lambdas, stay apart. Not with JSPROF_FRAME_SYMBOL. */
enum { JSPROF_FRAME_DEFINED = 1 << 21 };

/* A kind for walkers only: the entry is no frame but a set of registers. It marks a place
 * where a C function called into compiled code that is not registered, and the walk over
 * the C stack continues there. `pc` is the return address into that C function. `sp` and
 * `detail` are its stack pointer and its frame pointer after the call returns. */
enum { JSPROF_FRAME_CALLER = 1 << 17 };

/* With JSPROF_FRAME_CALLER: the interrupted instruction itself is in that code. The walk over
 * the C stack continues at these registers at once, whatever the unwind tables hold. */
enum { JSPROF_FRAME_NO_TABLE = 1 << 18 };

/* A function of the host, named once. It lives until jsprof_function_free and belongs to
 * no session, so one may serve many sessions. */
typedef struct jsprof_function jsprof_function;

/* Create a function, shown as "name (file:line)". `file` may be NULL and `line` 0. Copies
 * everything. -ENOMEM. -EINVAL: the name is empty or NULL, or the kind is unknown. */
JSPROF_API int jsprof_function_new(jsprof_function **out, const char *name, const char *file,
                                   uint32_t line, enum jsprof_kind kind) JSPROF_COLD;

/* Share a function among closures or other objects that run the same code: each of them takes
 * a hold and ends it with jsprof_function_free. Returns `f`; NULL does nothing. */
JSPROF_API jsprof_function *jsprof_function_ref(jsprof_function *f) JSPROF_COLD;

/* Free a function, or end one hold if there are more. The host must make sure that no thread's
 * stack contains it after the last hold. Counts of its calls stay in the tables, under its
 * name. NULL does nothing. */
JSPROF_API void jsprof_function_free(jsprof_function *f) JSPROF_COLD;

/* Do the same, but before the last hold ends, look for the function on the calling thread's
 * stacks and on those of other threads in the same sessions. If it is there, write a line with
 * the names of function and thread to stderr and abort. A host that defines JSPROF_DEBUG before
 * it includes this header calls this function in place of jsprof_function_free. */
JSPROF_API void jsprof_function_free_checked(jsprof_function *f) JSPROF_COLD;
#ifdef JSPROF_DEBUG
#define jsprof_function_free(f) jsprof_function_free_checked(f)
#endif

/* One row of a table of lines. */
typedef struct jsprof_code_line {
    uint32_t offset; /* the line applies from here up to the next one's offset; ascending */
    uint32_t line;
} jsprof_code_line;

/* Give a function its lines by program counter, in place of those that it had; n == 0: none.
 * Frames of the function that have a pc and the line 0 then get their line when the drain
 * reads the sample, so the host need not compute lines while it runs. The rows' offsets count
 * as the pc of the frames does; a pc before the first row has no line. Since pc 0 means "none",
 * a host that counts from 0 adds 1 to both. Copies the rows.
 *
 * The drain finds the rows by the function's shown name: the newest rows of a name count.
 * jsprof_backtrace does not look lines up.
 *
 * -EINVAL: f is NULL, rows is NULL though n is not 0, or offsets do not ascend. -ENOMEM. */
JSPROF_API int jsprof_function_lines(jsprof_function *f, const jsprof_code_line *rows,
                                     uint32_t n) JSPROF_COLD;

/* One frame of a host's stack. Every pointer is borrowed while the frame exists; the
 * handler copies names during the sample. Set unknown fields to zero. */
typedef struct jsprof_frame {
    const jsprof_function *function; /* NULL: the name is label and detail */
    const char *label;               /* the name; may be "" or NULL if detail is not */
    const char *detail;              /* second part: file, dynamic string; may be "", NULL */
    uintptr_t   sp;                  /* an address inside this activation's C frame */
    uint64_t    pc;                  /* the host's own program counter, 0: none */
    uint32_t    line;                /* current line, from 1; 0: see jsprof_function_lines */
    uint32_t    kind;                /* kind, tier, join and JSPROF_FRAME_..., with `|` */
} jsprof_frame;

/* -- 3. Threads ----------------------------------------------------------- */

/* An entry that lies in the host's own C frame. */
typedef struct jsprof_link {
    struct jsprof_link    *up; /* the next entry further out; the library stores it */
    const jsprof_function *function;
    /* Current line and program counter (0: none). The host stores them. To keep samples
     * from combining an old line with a new pc, it stores both at once, as 8 bytes. */
    uint32_t               line, pc;
} jsprof_link;

/* The first fields are public so that the compiler can inline push and pop; the rest is
 * private. Inline code depends on these fields and their order, so they are part of the
 * ABI. So are two more facts: a jsprof_function begins with its number (32 bits), which is
 * the index into `counts`; and 0 in `counts` means "never". */
typedef struct jsprof_thread {
    jsprof_link *volatile top;   /* linked entries, innermost first */
    jsprof_frame     *frames;    /* array entries, outermost first */
    uint32_t          capacity;
    volatile uint32_t depth;     /* may exceed capacity: the array does not hold the excess,
                                  * and the sample's innermost frame is
                                  * "[deeper frames cut]" */
    volatile uint32_t underflows;
    volatile uint32_t counting;  /* JSPROF_CALLS_... that are on, and private bits */
    /* Counts of calls, by function number. Not NULL while the library counts. */
    uint64_t         *counts;
    void             *calls;     /* private */
    int64_t           alloc_left;  /* bytes to the next sampled one; negative: past it */
    /* Sampled blocks that are not freed, by jsprof_alloc_home; NULL: allocations are not
     * sampled now. */
    const uint8_t    *alloc_homes;
} jsprof_thread;

/* Attach the calling thread. Copies `name` (at most 63 bytes; NULL: "thread"). If the
 * session runs, sampling begins at once. *out is valid until the thread detaches or exits.
 *
 * No thread can attach another one: the handler finds its memory through a thread-local
 * variable, which only the thread itself can set, and also the size of its stacks is known
 * only there. A host whose threads run already lets each of them attach where it next passes a
 * place of the host's own: when it takes the interpreter's lock, or checks for interrupts.
 *
 * A thread that exits detaches itself. If a thread ends by the raw system call, the library
 * detaches it within about a second; without the library's thread, at the next start, stop
 * or flush. While a thread blocks the signal it is not sampled: lost_blocked counts that
 * time.
 *
 * -ENOTSUP: the raw system call made this thread, and the C library does not know it.
 * -EALREADY: the thread is attached to this session. -EAGAIN: no timers left
 * (RLIMIT_SIGPENDING). -EPERM: the system refuses to create a timer. -ENOMEM. -EOVERFLOW:
 * the thread's alternate signal stack can not hold the kernel's frame for a signal, so any
 * signal on it would end the process. jsprof_start checks a stack that the thread sets
 * later, if the thread itself calls it. */
JSPROF_API int jsprof_thread_attach(jsprof *p, const char *name, jsprof_thread **out) JSPROF_COLD;

/* Detach the thread and drop frames that are still pushed. Call in the thread that
 * attached. NULL does nothing. -EPERM: called by another thread. */
JSPROF_API int jsprof_thread_detach(jsprof_thread *t) JSPROF_COLD;

/* Begin a pause: until the matching resume, the handler reads none of the host's data and
 * counts expirations in lost_paused. Pairs may nest. NULL does nothing. */
JSPROF_API void jsprof_thread_pause(jsprof_thread *t) JSPROF_OWNER;

/* End a pause. Without one, or with NULL, it does nothing. */
JSPROF_API void jsprof_thread_resume(jsprof_thread *t) JSPROF_OWNER;

/* Begin a wait for something of the host, such as a lock, a pool or a queue. Until the matching
 * end, samples have the state "host" and this name, whatever the kernel does with the thread
 * meanwhile; see `jsprof report --by state` and `--by syscall`.
 *
 * `what` is a short name for reports, not of each object but of their kind: "the heap lock". It
 * must stay unchanged until the matching end has returned; samples copy it. NULL or "": no name.
 * Pairs may nest; the outermost one names the wait. A begin without an end lasts until detach.
 * Begin and end do nothing with t == NULL, on another thread than the one that attached, and
 * after its detach. Both only store into t: they cost a few nanoseconds, take no lock, and a
 * signal handler on this thread may call them. */
JSPROF_API void jsprof_wait_begin(jsprof_thread *t, const char *what) JSPROF_OWNER;

/* End the innermost wait. Without a begin it does nothing. */
JSPROF_API void jsprof_wait_end(jsprof_thread *t) JSPROF_OWNER;

/* -- 4. The stack, form (a): ours ----------------------------------------- */

/* With t == NULL each of these functions does nothing, so a host needs no `if (profiling)`.
 * Array entries are for hosts whose interpreter does not recurse on the C stack. Linked entries
 * are for those that do, and cost a third of the time. A thread may use both together; the
 * library orders frames by stack address. */

/* Push an array entry with this name, file and current line. `label` and `file` are borrowed
 * until the pop. */
static inline void jsprof_push(jsprof_thread *t, const char *label, const char *file,
                               uint32_t line) JSPROF_OWNER;

/* Pop the innermost array entry. Without one, count in `underflows`. */
static inline void jsprof_pop(jsprof_thread *t) JSPROF_OWNER;

/* Push an array entry of a function. */
static inline void jsprof_enter(jsprof_thread *t, const jsprof_function *f) JSPROF_OWNER;

/* Do the same as jsprof_pop. */
static inline void jsprof_leave(jsprof_thread *t) JSPROF_OWNER;

/* Set the current line of the innermost array entry. */
static inline void jsprof_line(jsprof_thread *t, uint32_t line) JSPROF_OWNER;

/* Set the program counter of the innermost array entry; 0: none. */
static inline void jsprof_pc(jsprof_thread *t, uint64_t pc) JSPROF_OWNER;

/* Return to an earlier value of t->depth, after longjmp or an exception. A depth above the
 * current one changes nothing but `underflows`. */
static inline void jsprof_leave_to(jsprof_thread *t, uint32_t depth) JSPROF_OWNER;

/* Do the same as jsprof_push for a helper function, whose own C frame ends before the
 * entry does. `sp` is an address in a C frame that lives as long as the activation: a local
 * variable of the function that runs it, or its __builtin_frame_address(0). 0: unknown; the
 * frame then has the stack address of the entry further out. */
static inline void jsprof_push_at(jsprof_thread *t, const char *label, const char *file,
                                  uint32_t line, uintptr_t sp) JSPROF_OWNER;

/* Do the same as jsprof_enter, with `sp` as in jsprof_push_at. */
static inline void jsprof_enter_at(jsprof_thread *t, const jsprof_function *f,
                                   uintptr_t sp) JSPROF_OWNER;

/* Push a linked entry of a function. `link` is a local variable of the caller, not initialized. */
static inline void jsprof_link_enter(jsprof_thread *t, jsprof_link *link,
                                     const jsprof_function *f) JSPROF_OWNER;

/* Pop the linked entry `link` and all inside it. */
static inline void jsprof_link_leave(jsprof_thread *t, const jsprof_link *link) JSPROF_OWNER;

/* Make `link` the innermost entry again, after longjmp into the function that holds it: all
 * linked entries inside it are gone. Read none of them. NULL: no linked entry is left.
 * Does nothing if `link` is the innermost one. While time is counted, the calls inside it end
 * now. C++ code can use jsprof_scope at the end of this file, which also leaves its entry
 * when an exception passes. */
static inline void jsprof_link_unwind_to(jsprof_thread *t, jsprof_link *link) JSPROF_OWNER;

/* Each pair tests t twice: on entry and on exit. A host with very short calls may notice
 * two tests even while nobody profiles. Such a host can test once: it writes the body
 * once and compiles it twice, plain and between the hooks, and JSPROF_OFF chooses.
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
#define JSPROF_OFF(t) __builtin_expect(!(t), 1) /* clang ignores the hint in a function */

/* -- 5. The stack, form (b): the host's own array ------------------------- */

/* Fill *out from one entry. Return 1 if it is a frame. Return 0 if it is none; if the
 * callback then sets out->sp, the frames further in get that stack address. Return -1 if
 * the entry is unreadable; frames_bad counts it.
 *
 * A name that must be computed needs memory that stays unchanged until the sample ends: see
 * jsprof_scratch. One buffer must not hold the names of two frames of a sample, because the
 * library takes equal pointers for equal names.
 *
 * This callback and a walker have at least 8 KiB of stack. Where there is less, the
 * handler drops the sample and counts it in lost_stack. */
typedef int (*jsprof_decode_sigsafe_fn)(void *host, const void *entry, jsprof_frame *out);

enum { JSPROF_NO_FIELD = -1 };

/* Where the entries are. Entry 0 is the outermost frame. Every sample reads the counter
 * and the array pointer again: a host that moves its array stores the new pointer before
 * it frees the old array. realloc can not do this: it frees the array while the host still
 * points to it. So either allocate, copy, store, free; or call jsprof_thread_pause before
 * realloc and _resume after the pointers are stored. With an end pointer, always pause:
 * between the two stores the pointers belong to different arrays. Entries in memory that is
 * gone count in frames_bad; what they lead to must be valid, or be read with jsprof_read. A
 * negative depth, or one that exceeds a known capacity by more than 16777216, counts there, too,
 * and the sample has none of the entries.
 *
 * Zero every field that is not used, apart from the offsets with JSPROF_NO_FIELD. */
typedef struct jsprof_stack {
    size_t      size;           /* sizeof(jsprof_stack) */
    const void *depth;          /* borrowed: address of the depth counter; NULL: see end */
    const void *entries;        /* borrowed: address of the pointer to entry 0 */
    const void *capacity;       /* borrowed: address of a uint32_t; NULL: see limit */
    uint32_t    limit;          /* entries in the array, where capacity is NULL; 0: unknown */
    uint32_t    depth_bytes;    /* 4 or 8 */
    uint32_t    stride;         /* bytes from one entry to the next */
    uint32_t    kind;           /* kind, tier and join of frames that are read by offsets */
    /* Either offsets in an entry (JSPROF_NO_FIELD for a missing field) ... */
    int32_t     label_offset;   /* const char * */
    int32_t     detail_offset;  /* const char * */
    int32_t     sp_offset;      /* void * */
    int32_t     line_offset;    /* uint32_t */
    int32_t     pc_offset;      /* uint64_t */
    int32_t     reserved;
    /* ... or a callback, which must be signal-safe: no locks, no allocation. */
    jsprof_decode_sigsafe_fn decode_sigsafe;
    void       *host;           /* passed to the callback */
    /* In place of `depth`, borrowed: address of a pointer to the end of the entries. The entries
     * are none if that pointer is NULL. A pointer before entry 0, or between two entries, counts
     * in frames_bad, and the sample has none of the entries. */
    const void *end;
    uint32_t    end_is_last;    /* 1: it points to the innermost entry; 0: past that */
    int32_t     defined_offset; /* uint32_t, see JSPROF_FRAME_DEFINED; 0: none */
    /* In place of `depth`, `end`, `entries` and `capacity`, for hosts whose coroutines have a
     * stack each, borrowed: address of a pointer to the running coroutine's structure. The
     * offsets below lead to the same variables in that structure (JSPROF_NO_FIELD for a missing
     * one), and resumer_at to a pointer to the structure of the coroutine that resumed it
     * (NULL: none), whose frames are further out. The innermost 16 stacks are read. */
    const void *context;
    int32_t     depth_at, end_at, entries_at, capacity_at;
    int32_t     resumer_at;
    int32_t     reserved_at;
} jsprof_stack;

/* Set the calling thread's VM stack; NULL: none. Copies the descriptor. The addresses in
 * it must stay valid until the thread sets another stack or detaches.
 *
 * -EINVAL: no counter or end, both, no entries, or neither label nor callback. -EPERM: called
 * by another thread. */
JSPROF_API int jsprof_thread_set_stack(jsprof_thread *t, const jsprof_stack *stack) JSPROF_COLD;

/* Return `bytes` bytes, aligned to 8, in which a decode callback or a walker of this thread may
 * compute a name. They are the callback's until the sample ends. A sample has 64 KiB, which
 * take memory as they are used. NULL: they are used up, or no callback is running. */
JSPROF_API void *jsprof_scratch(jsprof_thread *t, size_t bytes) JSPROF_SIGSAFE;

/* Copy `bytes` bytes from an address that may be invalid, in a decode callback or a walker of
 * this thread. Return false if they can not be read, or if no callback is running; `to` may then
 * hold a part of them. A callback needs this where the signal may interrupt the host between
 * two stores: it then follows a pointer that is old, or was never stored, and a plain load would
 * end the process. The bytes may be those of a freed object, so compare them with something
 * before you trust them. A sample has 4096 reads outside the thread's own stack; each takes
 * a system call, which a program of one thread makes once for each page. */
JSPROF_API bool jsprof_read(jsprof_thread *t, void *to, const void *from,
                            size_t bytes) JSPROF_SIGSAFE;

/* -- 6. The stack, form (c): a walker ------------------------------------- */

/* Write up to `max` frames, innermost first, each with its sp. Return how many frames the
 * stack has; if that is more than `max`, frames_cut counts the excess. A walker may stop when
 * it has found one frame more than `max`, and return max + 1: a very deep stack then costs no
 * more than `max` frames, and frames_cut counts 1 for the rest. Labels must stay unchanged
 * until the sample ends, each in memory of its own. The handler calls
 * the walker with the interrupted registers (a ucontext_t), so it must be signal-safe. */
typedef uint32_t (*jsprof_walk_sigsafe_fn)(void *host, const void *ucontext,
                                           jsprof_frame *out, uint32_t max);

/* Set the calling thread's walker, which may be used together with (a) or (b); NULL:
 * none. -EPERM: called by another thread. */
JSPROF_API int jsprof_thread_set_walker(jsprof_thread *t, jsprof_walk_sigsafe_fn walk,
                                        void *host) JSPROF_COLD;

/* A thread that sleeps in a system call. */
typedef struct jsprof_asleep {
    size_t         size;   /* sizeof(jsprof_asleep) */
    jsprof_thread *reader; /* for jsprof_read and jsprof_scratch, in place of the thread */
    uintptr_t      pc, sp; /* where it continues; its other registers are unknown */
    /* The end of its innermost C frames that are functions of loaded objects: the address after the
     * return address of the last one. Compiled code may follow. 0: they are all of its C frames. */
    uintptr_t      plain_end;
} jsprof_asleep;

/* As a walker, but for a thread that sleeps, called by a thread of the library. It can not say for
 * how long: it may wake up, free what the walker reads, and end. So read all of its memory with
 * jsprof_read, or by the like; take no lock; change nothing that the thread's own walker uses. What
 * it returns is dropped if the thread moved meanwhile. Calls for the threads of a session do not
 * overlap. JSPROF_DECLINED: only the handler can read these frames. */
typedef uint32_t (*jsprof_walk_asleep_fn)(void *host, const jsprof_asleep *at,
                                          jsprof_frame *out, uint32_t max);
#define JSPROF_DECLINED UINT32_MAX

/* Set a walker for the calling thread's sleeps; NULL: none. It returns all frames of
 * jsprof_thread_set_walker and of a jsprof_stack with a callback. On the wall clock such a thread
 * gets a signal at each look while it sleeps, and poll or nanosleep return EINTR; with this walker
 * it gets none. A jsprof_stack without a callback needs none. When the call returns, no walker that
 * was set before runs any more. -EPERM: called by another thread. */
JSPROF_API int jsprof_thread_set_asleep_walker(jsprof_thread *t, jsprof_walk_asleep_fn walk,
                                               void *host) JSPROF_COLD;

/* -- 7. Native frames, compiled code, interpreters ------------------------- */

/* A row describes how to unwind the code from its offset up to the offset of the next row.
 * Offsets count from the range's start; rows ascend. CFA is the canonical frame address of
 * DWARF: the caller's stack pointer after the return. */
typedef struct jsprof_code_row {
    uint32_t offset;
    int32_t  cfa;   /* CFA = stack pointer (or frame pointer, see from_fp) + this */
    int16_t  ra_at; /* return address is at CFA + this; 0: in the link register */
    int16_t  fp_at; /* the caller's frame pointer is at CFA + this; 0: unchanged */
    uint32_t from_fp; /* not 0: CFA counts from the frame pointer */
} jsprof_code_row;

typedef struct jsprof_code_pc {
    uint64_t pc;     /* the host's program counter, as in its function's listing */
    uint32_t offset; /* as above */
    uint32_t reserved;
} jsprof_code_pc;

/* A range of compiled code. If `function` has JSPROF_KIND_GC, the range is the runtime's
 * own code that collects garbage. The library copies everything except `function`, which
 * must stay alive until the code is removed. */
typedef struct jsprof_code {
    size_t                  size;     /* sizeof(jsprof_code) */
    const void             *start;
    size_t                  length;
    const jsprof_function  *function; /* NULL: `name` names the code */
    const char             *name;
    const jsprof_code_line *lines;    /* or NULL */
    const jsprof_code_row  *rows;     /* how to unwind it; NULL: by frame pointer */
    uint32_t                n_lines;
    uint32_t                n_rows;
    const jsprof_code_pc   *pcs;      /* or NULL */
    uint32_t                n_pcs;
    uint32_t                reserved;
} jsprof_code;

/* Register compiled code before it can run, in place of whatever was registered in the same
 * bytes. The library resolves each sample by its time, so the host may reuse addresses at once.
 *
 * -EINVAL: no start, length, or name, or an array is NULL though its count is not 0.
 * -ENOMEM. */
JSPROF_API int jsprof_code_add(jsprof *p, const jsprof_code *code) JSPROF_COLD;

/* Remove code after it can no longer run. -ENOENT: no registered code starts there. */
JSPROF_API int jsprof_code_remove(jsprof *p, const void *start) JSPROF_COLD;

/* Report that code has moved. -EINVAL: `to` is NULL. -ENOENT: no registered code starts at
 * `from`. -ENOMEM. */
JSPROF_API int jsprof_code_move(jsprof *p, const void *from, const void *to) JSPROF_COLD;

/* Declare the C code of an interpreter's loop. The capture marks its native frames, and
 * views hide them. Where VM frames have no stack address, each native activation of the
 * loop takes one run of VM frames, from a frame with JSPROF_FRAME_ENTRY to the next. Frames
 * before the first one with JSPROF_FRAME_ENTRY come just outside of the first activation.
 *
 * With length 0 the range is the function that contains `start`, by the unwind table of its
 * object. Code that the compiler placed apart from it (gcc: NAME.cold) is a range of its own.
 *
 * -EINVAL: start is NULL. -ENOENT: length is 0, and no unwind table covers `start`. -ENOMEM.
 * -EAGAIN: length is 0, and other threads fork all the time. */
JSPROF_API int jsprof_interpreter_add(jsprof *p, const void *start, size_t length) JSPROF_COLD;

/* One operation of a function's bytecode. */
typedef struct jsprof_listing_row {
    uint64_t        pc;        /* ascending, never 0 */
    const char     *text;      /* the operation's name first, then its operands */
    const uint64_t *targets;   /* pcs that it may jump to; NULL where n_targets is 0 */
    uint32_t        n_targets; /* JSPROF_LISTING_TARGETS at most */
    uint32_t        line;      /* 0: unknown */
    bool            ends;      /* it never continues with the next row */
} jsprof_listing_row;

enum { JSPROF_LISTING_TARGETS = 4096 };

/* The bytecode of a function. The library copies everything. */
typedef struct jsprof_listing {
    size_t                    size; /* sizeof(jsprof_listing) */
    const jsprof_function    *function;
    const jsprof_listing_row *rows;
    uint32_t                  n_rows;
    uint32_t                  reserved;
} jsprof_listing;

/* Register a function's bytecode and start to sample the pc of its frames. The capture
 * then holds the listing and the rows that samples met, for `jsprof annotate`. Functions
 * are distinguished by their shown names.
 *
 * -EEXIST: a function of the same name has another listing; that one stays, and the
 * capture records the conflict. -E2BIG: the listings would take more than 32 MiB.
 * -EINVAL: pcs do not ascend, or a text or targets are missing. -ENOMEM. */
JSPROF_API int jsprof_listing_add(jsprof *p, const jsprof_listing *listing) JSPROF_COLD;

/* Declare other C code of an interpreter. Views hide its native frames too, but it takes
 * no VM frames. Errors as jsprof_interpreter_add. */
JSPROF_API int jsprof_interpreter_hide(jsprof *p, const void *start, size_t length) JSPROF_COLD;

/* Name the C function that begins at `start`, for a static function of a stripped library whose
 * name the host knows: one that it finds in a table of callbacks, for example. Its length comes
 * from the unwind tables. A function that has a symbol keeps that name, and so does one that a
 * sample met before. Copies the name, of which the capture keeps 511 bytes; the newest name of
 * a function counts.
 *
 * -EINVAL: no start, or no name. -ENOMEM. */
JSPROF_API int jsprof_symbol_add(jsprof *p, const void *start, const char *name) JSPROF_COLD;

/* Write the name of the C function that begins at `start`, from the symbol tables of the
 * process's objects, cut to `size` bytes with its zero. Exact calls of a C function that the
 * interpreter can not name get it so; in samples JSPROF_FRAME_SYMBOL has the same effect. Reads
 * the object's file, which takes about a millisecond.
 *
 * -EINVAL: no start, or no room. -ENOENT: no symbol begins there. -ENOMEM. */
JSPROF_API int jsprof_symbol_find(const void *start, char *name, size_t size) JSPROF_COLD;

/* A C stack of a coroutine. The structure must stay valid while a thread runs on this
 * stack, or on a stack that was resumed from it. The handler uses no memory below `low`:
 * with too little stack left above it, the handler drops the sample and counts it in
 * lost_stack. If jsprof_stack_switch finds too little stack left, frames_bad counts that,
 * and walks end at the outermost frame of the new stack. */
typedef struct jsprof_cstack {
    const struct jsprof_cstack *resumer; /* NULL: the thread's own stack */
    const void *low, *high;              /* its memory, high exclusive */
} jsprof_cstack;

/* Declare that the thread switches to this stack; NULL: back to its own stack. Call right
 * before the switch, from a function that has not returned when control comes back. Frames
 * on the stacks of its resumers are further out, wherever these lie in memory: the walk
 * continues where each resumer called this function. */
JSPROF_API void jsprof_stack_switch(jsprof_thread *t, const jsprof_cstack *stack) JSPROF_OWNER;

/* -- 8. Marks, counters and logs ----------------------------------------------- */

/* Return the time on the clock of marks, CLOCK_MONOTONIC, in nanoseconds. */
JSPROF_API uint64_t jsprof_now(void) JSPROF_SIGSAFE;

/* Record that something happened from `begin_ns` (an earlier jsprof_now(); 0: a moment)
 * until now, whether or not the session runs; a begin_ns in the future is taken for now.
 * Timelines and `jsprof list` show it. Copies group (at most 23 bytes), name (39) and message
 * (4095), and cuts longer text; message may be NULL. Holds a lock only while it copies, and never
 * waits for the file.
 *
 * -ENOBUFS: the queue (1 MiB) is full; stats.marks_lost counts the mark. -ENOMEM. */
JSPROF_API int jsprof_mark(jsprof *p, uint64_t begin_ns, const char *group, const char *name,
                           const char *message) JSPROF_COLD;

/* Keep a line of the program's log, with the time of this moment: Sysprof shows it among its logs.
 * `severity` is a level of GLib's log (4: error, 8: critical, 16: warning, 32: message, 64: info,
 * 128: debug). Copies domain (at most 31 bytes; NULL: none) and message (4095), and cuts longer
 * text. Errors and locks as jsprof_mark. */
JSPROF_API int jsprof_log(jsprof *p, uint16_t severity, const char *domain,
                          const char *message) JSPROF_COLD;

enum jsprof_counter_type { JSPROF_COUNTER_WHOLE = 0, JSPROF_COUNTER_REAL = 1 };

/* Define a figure that changes over time. Return its number, from 1, which belongs to the
 * session; the same group and name (at most 31 bytes each) return the same number. `what`
 * (at most 51 bytes) describes the figure, or is NULL. Longer text is cut.
 *
 * -EEXIST: the counter has the other type. -ENOSPC: 4095 counters exist. -ENOBUFS,
 * -ENOMEM as above. */
JSPROF_API int jsprof_counter(jsprof *p, const char *group, const char *name, const char *what,
                              enum jsprof_counter_type type) JSPROF_COLD;

/* Set a counter's value, converted to its type. The capture stores it when it changes.
 * -ENOENT: no such counter. -ENOBUFS, -ENOMEM as above. */
JSPROF_API int jsprof_counter_set(jsprof *p, int counter, int64_t value) JSPROF_COLD;

/* Do the same with a real value. A whole counter drops the fraction; it gets the nearest limit
 * for a value out of range, and 0 for NaN. */
JSPROF_API int jsprof_counter_set_real(jsprof *p, int counter, double value) JSPROF_COLD;

/* -- 9. Tasks and turns of a loop ------------------------------------------- */

/* A task is something that a program schedules: a timer, a callback, a promise's reaction, a
 * message. The host says where it is made, where each of its runs begins and ends, and so the
 * capture has what ran when, for how long, and who caused it. A handle is a number. It holds no
 * memory, and the host may copy, keep or forget it; 0 is no task. */
typedef uint64_t jsprof_task;

enum {
    /* Flags of jsprof_task_new: do not keep the stack of this moment. */
    JSPROF_TASK_NO_STACK = 1u << 0,
};

/* Make a task where it is scheduled. `kind` says in a word what it is ("timeout", "promise",
 * "io", "signal"), `name` which one; both are copied, and either may be NULL. Names should be
 * of the code, not of each object: the session keeps every distinct one. The task that runs on
 * this thread now is its parent. Unless `flags` has JSPROF_TASK_NO_STACK, the capture has the
 * stack of this moment, stored once for each distinct stack; the thread must then have as much
 * stack left as a sample needs, and expirations of the timer meanwhile count as lost_paused.
 *
 * Return the handle, which any thread of the session may use, or 0 if `t` is NULL or no thread
 * of an open session. While the session does not run, tasks get numbers but are not recorded. */
JSPROF_API jsprof_task jsprof_task_new(jsprof_thread *t, const char *kind, const char *name,
                                       uint32_t flags) JSPROF_OWNER;

/* Do the same for a task whose name is that of a function. */
JSPROF_API jsprof_task jsprof_task_new_of(jsprof_thread *t, const char *kind,
                                          const jsprof_function *f, uint32_t flags) JSPROF_OWNER;

/* Begin a run of the task on this thread. It may run many times, on any thread, and runs may be
 * inside each other; samples belong to the innermost one. A run of task 0 is one whose maker
 * nobody knows.
 *
 * Nothing that a host does wrong is followed; the account in the capture counts it: an end
 * without a begin on this thread (tasks_unmatched), runs left inside another (tasks_left), runs
 * inside 64 others, which have no record (tasks_deep), handles of other sessions, and calls in
 * a signal handler that interrupted such a call (tasks_foreign). */
JSPROF_API void jsprof_task_begin(jsprof_thread *t, jsprof_task task) JSPROF_OWNER;

/* End the task's innermost run on this thread, and the runs inside it, which a jump has left. */
JSPROF_API void jsprof_task_end(jsprof_thread *t, jsprof_task task) JSPROF_OWNER;

/* From now on the task could run: its promise is settled, its timer is due, its message came.
 * Reports show the delay until it runs, and the task that runs now as what made it ready. Without
 * this call a task is ready when it is made. */
JSPROF_API void jsprof_task_ready(jsprof_thread *t, jsprof_task task) JSPROF_OWNER;

/* The task will be ready after `in_ns`: a timer was set. Then its delay is how much later than that
 * it runs. A timer that repeats is set anew for each run, before or after the run. A negative time:
 * it was ready so long ago, for a host that learns it only when the timer runs. */
JSPROF_API void jsprof_task_due(jsprof_thread *t, jsprof_task task, int64_t in_ns) JSPROF_OWNER;

/* The task will not run again: it was cancelled, or its object is freed. Optional. */
JSPROF_API void jsprof_task_done(jsprof_thread *t, jsprof_task task) JSPROF_OWNER;

/* Return the innermost task that runs on this thread, or 0. */
JSPROF_API jsprof_task jsprof_task_running(jsprof_thread *t) JSPROF_OWNER;

/* Begin a turn of the thread's event loop, right after a wait for events. A loop that runs inside
 * a turn has turns of its own; its time is not the outer turn's. */
JSPROF_API void jsprof_turn_begin(jsprof_thread *t) JSPROF_OWNER;

/* End the innermost turn, right before the next wait, and the runs that began in it. */
JSPROF_API void jsprof_turn_end(jsprof_thread *t) JSPROF_OWNER;

/* -- 10. Labels and traces ---------------------------------------------------- */

/* A label says in whose behalf a thread works: a route, a tenant, a test. A sample has the labels
 * that its thread had, for `jsprof report --by label`, --label route=/login, and engines.
 *
 * A label set inside a level covers the one of the same key outside, and ends with the level: push
 * begins one, pop ends it, and a run of a task is one, too (jsprof_task_begin). A run begins with
 * the labels under which its task was made, in place of the thread's; a run of task 0 keeps the
 * thread's. Labels end when the thread detaches.
 *
 * Keys and values should be UTF-8; each run of other bytes becomes U+FFFD. The library copies them:
 * keys of at most 63 bytes, values of at most 255, longer ones are cut. All labels of a thread
 * have 1024 bytes, and each takes 4 in addition to its key and value. 250 levels can be open; those
 * inside them are one with the innermost, and their push sets no label. What was cut, refused or
 * wrong is counted in the capture, and `jsprof info` shows it.
 *
 * A handler of the host's may call these functions, too, but not usefully while it interrupts one
 * of them. A call takes less than 100 ns, and a sample costs nothing more while no label is set. */

/* Set a label; value NULL: remove it, whatever is set outside. t == NULL does nothing.
 *
 * -EINVAL: the key is NULL or "". -EPERM: `t` is another thread's, or detached. -ENOSPC: there is
 * no room; the label is not set. -EBUSY: a signal handler called during such a call. */
JSPROF_API int jsprof_label_set(jsprof_thread *t, const char *key,
                                const char *value) JSPROF_OWNER;

/* Begin a level, with this label, or with none if the key is NULL or "". Return what pop needs. */
JSPROF_API uint32_t jsprof_label_push(jsprof_thread *t, const char *key,
                                      const char *value) JSPROF_OWNER;

/* End the level whose push returned `before`, and all levels inside it, which a jump may have left.
 * Count a level that is not open, or that began outside of the task's run, and change nothing. */
JSPROF_API void jsprof_label_pop(jsprof_thread *t, uint32_t before) JSPROF_OWNER;

/* Set the ids of the trace for which the thread works, as W3C Trace Context has them; span_id may
 * be NULL. trace_id NULL: none. They belong to the level, like a label, and take 28 bytes of its
 * room. Errors as jsprof_label_set.
 *
 * Where the host, or a library that it loaded before the thread attached, has the thread-local
 * variable otel_thread_ctx_v1 of OpenTelemetry's draft (OTEP 4947), samples take the ids from it
 * for as long as the host has set none here. */
JSPROF_API int jsprof_trace_set(jsprof_thread *t, const uint8_t trace_id[16],
                                const uint8_t span_id[8]) JSPROF_OWNER;

/* -- 11. A stack on demand -------------------------------------------------- */

/* One frame of a backtrace. `name` is NULL for a native frame without a name, and
 * stays valid until the session is closed. */
typedef struct jsprof_backtrace_frame {
    const char *name;
    uint64_t    pc;   /* native address or JIT code; 0: a VM frame */
    uint32_t    line; /* 0: unknown */
    uint32_t    kind; /* enum jsprof_kind */
} jsprof_backtrace_frame;

/* Write the calling thread's stack, for error reports: C, VM and JIT frames in their true
 * order, innermost first. Return the number of frames written, at most `max`. `t` belongs
 * to the calling thread. `ucontext` is the argument of a signal handler, or NULL for
 * "here". While the thread is paused there are native frames only.
 *
 * -EINVAL: a bad argument, or the session is closed. -EPERM: `t` belongs to another
 * thread. -EBUSY: the call interrupted a sample of this thread. -EOVERFLOW: less stack is
 * left than a sample needs. */
JSPROF_API int jsprof_backtrace(jsprof_thread *t, const void *ucontext,
                                jsprof_backtrace_frame *out, uint32_t max) JSPROF_SIGSAFE;

/* Print the same as text with write(2), one line per frame. Return 0, the errors above,
 * or the errno of write. */
JSPROF_API int jsprof_backtrace_print(jsprof_thread *t, const void *ucontext,
                                      int fd) JSPROF_SIGSAFE;

/* Write the same as one line of JSON:
 * {"thread":TID,"frames":[{"kind":"vm","name":TEXT,"line":N,"pc":"0x..."}, ...]}, innermost first.
 * "kind" is vm, jit, label, gc, native or synth; members that are not known are missing. Bytes of
 * a name that are not UTF-8 become U+FFFD. */
JSPROF_API int jsprof_backtrace_json(jsprof_thread *t, const void *ucontext,
                                     int fd) JSPROF_SIGSAFE;

enum { JSPROF_CRASH_JSON = 1 };

/* Report faults: on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT the process writes to `fd` a line
 * with the signal, then the stack of the thread that it hit, like jsprof_backtrace_print or, with
 * JSPROF_CRASH_JSON, jsprof_backtrace_json, then the stacks of all other attached threads, 1,024
 * at most. Then the action follows that the signal had before: the host's handler, or the end of
 * the process with its core. A thread that does not answer within 0.2 s has a line that says so.
 *
 * `fd` is borrowed until the next call, and should not block. -1 ends the reports; a later call
 * changes `fd`. A host that handles faults itself, as for guard pages, installs its handlers
 * afterwards and calls from them the ones that it found. A thread whose stack is used up can
 * report only on an alternate stack: the calling thread, if it is attached, and threads that
 * attach later get one of 64 KiB until they detach, unless they have one.
 *
 * -EINVAL: a bad argument. -EBADF: `fd` is not open. */
JSPROF_API int jsprof_crash_report(int fd, uint32_t flags) JSPROF_COLD;

/* -- 12. Sampled allocations ------------------------------------------------- */

/* Report what the host's allocator did, if the option `alloc` is set: the library then takes
 * the stack of some allocations. Each byte is sampled with the same probability, whatever the
 * size of its block, so sums over the samples are not biased. While the session does not run,
 * or without the option, each function tests one field.
 *
 * The calling thread is the one that attached as `t`, and it may be anywhere in the host except
 * in a signal handler. NULL as `t` or `block` does nothing. A sample needs as much stack as one
 * of the timer. The timer's expirations during a sample count as lost_paused.
 *
 * If the innermost frame of the host's stack is of JSPROF_KIND_SYNTH and its name begins with
 * "[new ", it is the block's type. Views hide it like the allocator, except with --native. */
static inline void jsprof_allocated(jsprof_thread *t, const void *block,
                                    size_t bytes) JSPROF_OWNER;

/* Report a block that is about to be freed; any thread of the session may have allocated it.
 * Sampled blocks that no thread frees while the session runs count as live. */
static inline void jsprof_freed(jsprof_thread *t, const void *block) JSPROF_OWNER;

/* Report a block that has moved. Where a block grows, also report the bytes that it grew by as
 * allocated; a block that shrinks counts as live in full until it is freed. */
static inline void jsprof_moved(jsprof_thread *t, const void *from, const void *to) JSPROF_OWNER;

/* Sample this allocation: jsprof_allocated has counted `alloc_left` below 0. This and the next two
 * functions need a `t`, and are called only while its `alloc_homes` is not NULL. */
JSPROF_API void jsprof_sample_allocated(jsprof_thread *t, const void *block,
                                        size_t bytes) JSPROF_OWNER;

/* Do the work of jsprof_freed for a block that may have been sampled. */
JSPROF_API void jsprof_sample_freed(jsprof_thread *t, const void *block) JSPROF_OWNER;

/* Do the work of jsprof_moved for a block that may have been sampled. */
JSPROF_API void jsprof_sample_moved(jsprof_thread *t, const void *from,
                                    const void *to) JSPROF_OWNER;

/* -- 13. Exact calls -------------------------------------------------------- */

/* The library can count these at every enter and leave (linked or array), in addition to
 * the samples. Each can be on without the others. */
enum {
    JSPROF_CALLS_COUNT = 1, /* how often each function was entered */
    JSPROF_CALLS_TIME = 2,  /* its self and total time */
    JSPROF_CALLS_ALLOC = 4, /* self and total bytes, as reported by jsprof_alloc */
    JSPROF_CALLS_EDGES = 8, /* who called whom, how often; with time, how long */
    JSPROF_CALLS_ALL = 15,
    JSPROF_CALLS_USUAL = 3, /* counts and time, the fastest way to measure time */
};

/* Set what is counted from now on, in all threads of the session, including threads that
 * attach later; 0: nothing. The session need not be started. Functions that are already
 * on a thread's stack get time and bytes from this moment.
 *
 * -EINVAL: an unknown bit. -ENOMEM: nothing has changed. */
JSPROF_API int jsprof_calls_set(jsprof *p, uint32_t modes) JSPROF_COLD;

/* Set which of the modes `jsprof calls --on` of another process may switch on and off
 * (JSPROF_CONTROL). In a new session these are all. A host whose engine does not enter and leave
 * functions by this library, or only if it was started to, calls this with 0 or with the modes that
 * it counts: then the command fails in one line, where it would show 0 calls.
 *
 * -EINVAL: an unknown bit. */
JSPROF_API int jsprof_calls_allow(jsprof *p, uint32_t modes) JSPROF_COLD;

/* Report an allocation of `bytes`. It counts for the innermost function's self, and once
 * for the total of each open function. */
static inline void jsprof_alloc(jsprof_thread *t, size_t bytes) JSPROF_OWNER;

/* Replace the innermost array entry's function, which ends here, by `f`. The caller of `f` is
 * the caller of the function that ended, and one leave ends `f`. */
static inline void jsprof_tail_call(jsprof_thread *t, const jsprof_function *f) JSPROF_OWNER;

/* Do the same for the innermost linked entry, `link`. */
static inline void jsprof_link_tail_call(jsprof_thread *t, jsprof_link *link,
                                         const jsprof_function *f) JSPROF_OWNER;

/* Enter a section as an array entry: something that the host does (collect, parse, compile,
 * convert a string). A section behaves like a function. `gc_ns` also sums up the time in
 * sections of JSPROF_KIND_GC. */
static inline void jsprof_section_begin(jsprof_thread *t,
                                        const jsprof_function *section) JSPROF_OWNER;

/* Leave the innermost section. */
static inline void jsprof_section_end(jsprof_thread *t) JSPROF_OWNER;

/* Drop the open calls of a coroutine that the host destroys while it is suspended.
 *
 * While the library counts time, jsprof_stack_switch stops the time of functions that are
 * open on stacks from which the new stack was not resumed, and continues the time of
 * those open on the new stack. With array entries, switch first; then set `depth` and
 * `frames` to those of the new stack. An entry is identified by its distance from the
 * depth at the moment of the switch to its stack. */
JSPROF_API void jsprof_stack_forget(jsprof_thread *t, const jsprof_cstack *stack) JSPROF_OWNER;

/* Exact calls of hosts that keep a stack of their own, which the library reads by a descriptor
 * or a walker. These functions count; they push nothing, and samples do not show them. `key`
 * identifies one activation: the address of its frame, for example. Two open calls of one
 * thread's C stack should have different keys.
 *
 * Every sequence is allowed and gives times that add up. Order is checked, and `underflows`
 * counts what is wrong:
 *   leave of a call that is not the innermost one ends the calls inside it, too, and counts
 *     each of these;
 *   leave, leave_through, unwind_to and tail of a key that is not open count 1. Leave,
 *     leave_through and unwind_to then change nothing; tail enters.
 * A key that is open twice means the innermost of the two. A call that was open before
 * counting began is not known, so its leave counts 1, too. */

/* Enter `f`. */
static inline void jsprof_call_enter(jsprof_thread *t, const jsprof_function *f,
                                     const void *key) JSPROF_OWNER;

/* Leave this call. */
static inline void jsprof_call_leave(jsprof_thread *t, const void *key) JSPROF_OWNER;

/* End this call and all calls inside it: an exception or longjmp leaves its frame. */
static inline void jsprof_call_leave_through(jsprof_thread *t, const void *key) JSPROF_OWNER;

/* End all calls inside this one, which is the innermost again: an exception or longjmp
 * arrives in its frame. */
static inline void jsprof_call_unwind_to(jsprof_thread *t, const void *key) JSPROF_OWNER;

/* Replace the function of this call, which is the innermost one, by `f`. */
static inline void jsprof_call_tail(jsprof_thread *t, const jsprof_function *f,
                                    const void *key) JSPROF_OWNER;

/* One function. Its text stays valid until the session is closed. */
typedef struct jsprof_calls_row {
    const char *name, *file; /* not terminated */
    uint32_t    name_len, file_len;
    uint32_t    id;          /* 0: [other functions], 1: [outside], 2: [no function] */
    uint32_t    line;
    uint32_t    kind;        /* enum jsprof_kind */
    uint32_t    reserved;
    uint64_t    calls;
    uint64_t    self_ns, total_ns;       /* without the estimated cost of counting */
    uint64_t    self_bytes, total_bytes;
} jsprof_calls_row;

typedef struct jsprof_calls_edge {
    uint32_t caller, callee; /* ids; 0 and 0: calls for which the table had no room */
    uint64_t calls, total_ns;
} jsprof_calls_edge;

/* Sums over all threads that are or were attached, since the first jsprof_calls_set. */
typedef struct jsprof_calls {
    size_t             size;    /* set by the caller: sizeof(jsprof_calls) */
    jsprof_calls_row  *rows;    /* by id */
    jsprof_calls_edge *edges;
    size_t             n_rows, n_edges;
    uint32_t           modes;   /* the modes that are on now */
    uint32_t           threads; /* number of threads that have a table */
    uint32_t           waiting; /* number of threads with incomplete figures. Either the
                                 * thread made no call since the last change of modes, and
                                 * the rows lack the functions on its stack; or it stopped
                                 * during an event, and its rows mix two moments */
    uint32_t           clock_off; /* error of the processor's counter, in parts per million;
                                   * above 1000, no time here is reliable */
    uint64_t           calls;     /* sum over the rows */
    uint64_t           inside_ns; /* the sum of all self_ns, minus `negative_ns` */
    uint64_t           own_ns;    /* the estimated cost of counting; in no row */
    uint64_t           gc_ns;     /* time in outermost sections of JSPROF_KIND_GC */
    uint64_t           negative_ns; /* the amount by which that estimate exceeded the
                                     * measured time, in rows shown as 0 */
    uint64_t           functions_lost; /* calls in row 0 */
    uint64_t           edges_lost;     /* calls in edge 0 -> 0 */
    uint64_t           depth_lost;     /* calls too deep to have a time of their own */
    uint64_t           underflows;     /* leaves without an enter; of calls by key, also
                                        * enters that ended without a leave */
    uint64_t           clock_back;     /* steps of the clock that went backwards, taken as 0 */
    uint64_t           foreign; /* events that were dropped: a thread reported them on another
                                 * thread's stack, or a signal handler reported them
                                 * during another event of the same thread */
} jsprof_calls;

/* Copy the tables. Threads may run meanwhile; the rows are then of different moments. Free
 * the arrays with jsprof_calls_free. -EINVAL: out->size is unknown. -ENOMEM. -ENOENT: the
 * session never counted. */
JSPROF_API int jsprof_calls_snapshot(jsprof *p, jsprof_calls *out) JSPROF_COLD;

/* Free the arrays of a snapshot and set all but its size to 0. NULL does nothing. */
JSPROF_API void jsprof_calls_free(jsprof_calls *calls) JSPROF_COLD;

/* The functions that the inline hooks call, for hosts without a C compiler that inlines.
 * They count and do not change the stack, apart from jsprof_timed_enter. `link` is NULL for array
 * entries. Array entries are told apart by t->depth, so a host that does not keep its entries in
 * t->frames uses jsprof_call_enter instead. */

/* Count an enter, right before the host pushes the entry. */
JSPROF_API void jsprof_count_enter(jsprof_thread *t, const jsprof_function *f,
                                   jsprof_link *link) JSPROF_OWNER;

/* Count a leave: of array entries, before those above `depth` are popped; of linked entries, before
 * or after `link` and all inside it are popped. */
JSPROF_API void jsprof_count_leave(jsprof_thread *t, const jsprof_link *link,
                                   uint32_t depth) JSPROF_OWNER;

/* Count a tail call, before the host replaces the entry's function by `f`. */
JSPROF_API void jsprof_count_tail(jsprof_thread *t, const jsprof_function *f,
                                  const jsprof_link *link) JSPROF_OWNER;

/* Count an allocation, as jsprof_alloc does. */
JSPROF_API void jsprof_count_alloc(jsprof_thread *t, size_t bytes) JSPROF_OWNER;

/* Count what jsprof_link_unwind_to does, right after `link` became t->top. */
JSPROF_API void jsprof_count_unwind(jsprof_thread *t, const jsprof_link *link) JSPROF_OWNER;

/* What jsprof_count_call counts. */
enum jsprof_call_event {
    JSPROF_CALL_ENTER = 0,
    JSPROF_CALL_LEAVE = 1,
    JSPROF_CALL_LEAVE_THROUGH = 2,
    JSPROF_CALL_UNWIND_TO = 3,
    JSPROF_CALL_TAIL = 4,
};

/* Count an event of the calls by key. `f` is read by enter and tail only. */
JSPROF_API void jsprof_count_call(jsprof_thread *t, enum jsprof_call_event event,
                                  const jsprof_function *f, uintptr_t key) JSPROF_OWNER;

/* Count the enter of `link`, which the caller has filled, and push it. Only while `counting` is
 * JSPROF_CALLS_USUAL; no argument except `f` may be NULL. */
JSPROF_API void jsprof_timed_enter(jsprof_thread *t, const jsprof_function *f,
                                   jsprof_link *link) JSPROF_OWNER;

/* Count the leave of `link`, after the caller has popped it; otherwise as jsprof_timed_enter. */
JSPROF_API void jsprof_timed_leave(jsprof_thread *t, const jsprof_link *link) JSPROF_OWNER;

/* -- 14. Debuggers ----------------------------------------------------------- */

/* A debugger can run no code of a core file, so it reads the stack by these tables: names with
 * addresses, offsets and sizes. The library has one, jsprof_debug. A host with a walker or a
 * decode callback may have another, and a Python file that walks by it: docs/debugger.md. A
 * table needs no call at run time. Debuggers find it by its section, also in a stripped
 * program. Later versions add names; `version` changes only if a name changes its meaning.
 *
 *     static const jsprof_debug_fact facts[] = {
 *         { "walk", (const void *)my_walk }, { "frame.up", (const void *)8 }, ...
 *     };
 *     JSPROF_DEBUG_SECTION const jsprof_debug_table my_debug =
 *         JSPROF_DEBUG_TABLE("myhost", facts);
 */
typedef struct jsprof_debug_fact {
    char        name[24]; /* with its zero */
    const void *value;    /* an address, or a number */
} jsprof_debug_fact;

typedef struct jsprof_debug_table {
    char     magic[8];   /* "jsprof@D" */
    uint32_t version;    /* JSPROF_DEBUG_VERSION */
    uint32_t size;       /* sizeof(jsprof_debug_table) */
    char     host[16];   /* whose facts these are: "jsprof", or the name of the Python file */
    uint32_t fact_bytes; /* sizeof(jsprof_debug_fact) */
    uint32_t n;
    const jsprof_debug_fact *facts;
} jsprof_debug_table;

enum { JSPROF_DEBUG_VERSION = 1 };
#define JSPROF_DEBUG_TABLE(host, facts)                                                        \
    { { 'j', 's', 'p', 'r', 'o', 'f', '@', 'D' }, JSPROF_DEBUG_VERSION,                        \
      sizeof(jsprof_debug_table), host, sizeof(jsprof_debug_fact),                             \
      sizeof(facts) / sizeof *(facts), facts }
#ifdef __has_attribute
#if __has_attribute(retain)
#define JSPROF_DEBUG_SECTION __attribute__((section("jsprof_tables"), used, retain))
#endif
#endif
#ifndef JSPROF_DEBUG_SECTION
#define JSPROF_DEBUG_SECTION __attribute__((section("jsprof_tables"), used))
#endif

/* The library's own table. */
JSPROF_API extern const jsprof_debug_table jsprof_debug;

/* -- 15. The library ------------------------------------------------------- */

/* Return JSPROF_VERSION of the library that is loaded. */
JSPROF_API int         jsprof_version(void) JSPROF_SIGSAFE;
/* Return static text for an errno. */
JSPROF_API const char *jsprof_strerror(int err) JSPROF_SIGSAFE;

/* Describe the error `err` that the calling thread's last jsprof_open, jsprof_options_set or
 * jsprof_start_from_env returned: the variable, option or file, its value, and what is
 * allowed. For any other error the text is that of jsprof_strerror. Writes to `text`, cut
 * to `size` bytes (300 are enough except for a long path), and returns it. */
JSPROF_API const char *jsprof_error_text(int err, char *text, size_t size) JSPROF_COLD;

/* -- Inline bodies -------------------------------------------------------- */

/* Return what is counted now. */
static inline uint32_t jsprof_counting(const jsprof_thread *t)
{
    /* ORDER: acquire, pairs with the release of the thread that switches counting on: the
     * tables exist. */
    return __atomic_load_n(&t->counting, __ATOMIC_ACQUIRE);
}

/* Return the same without an atomic load, which would cost two registers. Use it only if
 * the library then reads `counting` again. The thread sanitizer does not check this read. */
static inline __attribute__((no_sanitize_thread)) uint32_t
jsprof_counting_now(const jsprof_thread *t)
{
    return t->counting;
}

/* Count an enter in the usual case of counts alone, of a function that was counted before.
 * Return false in any other case. */
static inline bool jsprof_counted_once(jsprof_thread *t, const jsprof_function *f,
                                       uint32_t counting)
{
    if (counting == JSPROF_CALLS_COUNT && f) {
        uint64_t *counter = &t->counts[*(const uint32_t *)(const void *)f];
        uint64_t before = *counter; /* only this thread writes it */
        if (__builtin_expect(before != 0, 1)) {
            /* ORDER: relaxed. Readers want a statistic. */
            __atomic_store_n(counter, before + 1, __ATOMIC_RELAXED);
            return true;
        }
    }
    return false;
}

/* Count an enter. Only the usual case is inline. */
static inline void jsprof_counted(jsprof_thread *t, const jsprof_function *f,
                                  jsprof_link *link, uint32_t counting)
{
    if (!jsprof_counted_once(t, f, counting))
        jsprof_count_enter(t, f, link);
}

/* Return the place of the next array entry, or NULL if the array is full. */
static inline jsprof_frame *jsprof_frame_next(jsprof_thread *t)
{
    return t->depth < t->capacity ? &t->frames[t->depth] : NULL;
}

static inline void jsprof_push_at(jsprof_thread *t, const char *label, const char *file,
                                  uint32_t line, uintptr_t sp)
{
    if (!t)
        return;
    jsprof_frame *f = jsprof_frame_next(t);
    if (f) {
        f->function = NULL;
        f->label = label;
        f->detail = file;
        f->sp = sp;
        f->pc = 0;
        f->line = line;
        f->kind = (uint32_t)JSPROF_KIND_VM | (uint32_t)JSPROF_JOIN_PAREN;
    }
    /* ORDER: signal fence only. The only reader is this thread's own handler, so the
     * compiler must keep the frame before the depth; the CPU already does. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    t->depth = t->depth + 1;
}

static inline void jsprof_push(jsprof_thread *t, const char *label, const char *file,
                               uint32_t line)
{
    jsprof_push_at(t, label, file, line, (uintptr_t)__builtin_frame_address(0));
}

static inline void jsprof_enter_at(jsprof_thread *t, const jsprof_function *function,
                                   uintptr_t sp)
{
    if (!t)
        return;
    uint32_t counting = jsprof_counting(t);
    jsprof_frame *f = jsprof_frame_next(t);
    if (f) {
        f->function = function;
        f->label = NULL; /* an earlier push may have stored a pointer that is now invalid */
        f->detail = NULL;
        f->sp = sp;
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

static inline void jsprof_enter(jsprof_thread *t, const jsprof_function *function)
{
    jsprof_enter_at(t, function, (uintptr_t)__builtin_frame_address(0));
}

static inline void jsprof_pop(jsprof_thread *t)
{
    if (!t)
        return;
    uint32_t depth = t->depth;
    if (jsprof_counting_now(t) > JSPROF_CALLS_COUNT)
        jsprof_count_leave(t, NULL, depth - 1);
    /* ORDER: signal fence only. Stores to the popped frame stay before this. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    if (depth)
        t->depth = depth - 1;
    else
        /* ORDER: relaxed. Only this thread stores it. */
        __atomic_store_n(&t->underflows, t->underflows + 1, __ATOMIC_RELAXED);
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
        /* ORDER: relaxed. Only this thread stores it. */
        __atomic_store_n(&t->underflows, t->underflows + 1, __ATOMIC_RELAXED);
}

static inline void jsprof_link_enter(jsprof_thread *t, jsprof_link *link,
                                     const jsprof_function *function)
{
    if (!t)
        return;
    uint32_t counting = jsprof_counting(t);
    link->up = t->top;
    /* ORDER: signal fence only. Without it compilers gather the words in a vector, which
     * takes longer. */
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
#pragma GCC diagnostic push /* the host pops it before the link is gone */
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

static inline void jsprof_link_unwind_to(jsprof_thread *t, jsprof_link *link)
{
    if (!t || t->top == link)
        return;
    /* ORDER: signal fence only; as in jsprof_pop. */
    __atomic_signal_fence(__ATOMIC_RELEASE);
    t->top = link;
    if (jsprof_counting_now(t) > JSPROF_CALLS_COUNT)
        jsprof_count_unwind(t, link);
}

static inline void jsprof_call_enter(jsprof_thread *t, const jsprof_function *f,
                                     const void *key)
{
    uint32_t counting = t ? jsprof_counting(t) : 0;
    if (counting && !jsprof_counted_once(t, f, counting))
        jsprof_count_call(t, JSPROF_CALL_ENTER, f, (uintptr_t)key);
}

/* Report an event that only open calls need. */
static inline void jsprof_call_event(jsprof_thread *t, enum jsprof_call_event event,
                                     const void *key)
{
    if (t && jsprof_counting_now(t) > JSPROF_CALLS_COUNT)
        jsprof_count_call(t, event, NULL, (uintptr_t)key);
}

static inline void jsprof_call_leave(jsprof_thread *t, const void *key)
{
    jsprof_call_event(t, JSPROF_CALL_LEAVE, key);
}

static inline void jsprof_call_leave_through(jsprof_thread *t, const void *key)
{
    jsprof_call_event(t, JSPROF_CALL_LEAVE_THROUGH, key);
}

static inline void jsprof_call_unwind_to(jsprof_thread *t, const void *key)
{
    jsprof_call_event(t, JSPROF_CALL_UNWIND_TO, key);
}

static inline void jsprof_call_tail(jsprof_thread *t, const jsprof_function *f,
                                    const void *key)
{
    uint32_t counting = t ? jsprof_counting(t) : 0;
    if (counting && !jsprof_counted_once(t, f, counting))
        jsprof_count_call(t, JSPROF_CALL_TAIL, f, (uintptr_t)key);
}

enum { JSPROF_ALLOC_HOMES = 1 << 14 };

/* Return the place of a block in alloc_homes. */
static inline uint32_t jsprof_alloc_home(const void *block)
{
    return (uint32_t)((uint64_t)(uintptr_t)block * UINT64_C(0x9E3779B97F4A7C15) >> 50);
}

/* Return alloc_homes. */
static inline const uint8_t *jsprof_alloc_homes(const jsprof_thread *t)
{
    /* ORDER: acquire, pairs with the thread that starts the session: the table exists. */
    return __atomic_load_n(&t->alloc_homes, __ATOMIC_ACQUIRE);
}

static inline void jsprof_allocated(jsprof_thread *t, const void *block, size_t bytes)
{
    if (!t || !jsprof_alloc_homes(t) || !block)
        return;
    /* ORDER: relaxed. Only this thread stores it; for others it is a statistic. */
    int64_t left = __atomic_load_n(&t->alloc_left, __ATOMIC_RELAXED) - (int64_t)bytes;
    __atomic_store_n(&t->alloc_left, left, __ATOMIC_RELAXED); /* ORDER: as above */
    if (__builtin_expect(left < 0, 0))
        jsprof_sample_allocated(t, block, bytes);
}

/* Return true if the block may have been sampled. */
static inline bool jsprof_alloc_may_know(const jsprof_thread *t, const void *block)
{
    const uint8_t *homes = t ? jsprof_alloc_homes(t) : NULL;
    /* ORDER: relaxed. The program orders this call after the one that allocated the block. */
    return homes && __atomic_load_n(&homes[jsprof_alloc_home(block)], __ATOMIC_RELAXED);
}

static inline void jsprof_freed(jsprof_thread *t, const void *block)
{
    if (__builtin_expect(jsprof_alloc_may_know(t, block), 0))
        jsprof_sample_freed(t, block);
}

static inline void jsprof_moved(jsprof_thread *t, const void *from, const void *to)
{
    if (__builtin_expect(from != to && jsprof_alloc_may_know(t, from), 0))
        jsprof_sample_moved(t, from, to);
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
        /* ORDER: signal fence only, so that no sample shows the new function with the
         * old line. */
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

/* A linked entry in C++: it is entered where this local variable is defined, and left at the
 * end of its block, also when an exception passes. After longjmp, which runs no destructors,
 * call unwind_to() of the scope that is the innermost again. With t == nullptr it does
 * nothing. */
class jsprof_scope {
public:
    jsprof_scope(jsprof_thread *t, const jsprof_function *f) : thread_(t)
    {
        jsprof_link_enter(thread_, &link_, f);
    }
    ~jsprof_scope()
    {
        jsprof_link_leave(thread_, &link_);
    }
    jsprof_scope(const jsprof_scope &) = delete;
    jsprof_scope &operator=(const jsprof_scope &) = delete;
    void unwind_to()
    {
        jsprof_link_unwind_to(thread_, &link_);
    }
    void tail_call(const jsprof_function *f)
    {
        jsprof_link_tail_call(thread_, &link_, f);
    }
    jsprof_link &link() /* to store its line and pc */
    {
        return link_;
    }

private:
    jsprof_thread *thread_;
    jsprof_link link_;
};
#endif

#endif
