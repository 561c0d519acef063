/* session/session.h - the life of a session. Any thread; jsprof.h defines what each call
 * promises to a host.
 *
 * `lock` guards the list of threads and the records popped from their rings. The output
 * belongs to the drain thread while there is one, otherwise to the holder of `lock`.
 * The drain appends under `lock` but writes to the file without it, so a slow file
 * never stops a host's attach or detach. Without a drain thread, a sampled thread does
 * the drain's work now and then, in its handler and under `lock`: see alone/alone.h.
 * `change` is taken before `lock` and held during a whole start or stop, so that two of
 * them never overlap. A close begins when no other call is inside the session, see
 * live.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SESSION_H
#define JSP_SESSION_SESSION_H

#include <pthread.h>

#include "alone/alone.h"
#include "calls/calls.h"
#include "file.h"
#include "image/objects.h"
#include "keep.h"
#include "marks.h"
#include "sched.h"
#include "output.h"
#include "perfmap.h"
#include "thread.h"

/* The checked jsprof_options with their defaults, except the path or descriptor. */
struct jsp_session_setup {
    int fd;                /* owned by the session after success, like `file`; -1: none */
    /* the file of `fd`, emptied as the last step that can fail; NULL: `fd` is a copy of
     * the host's descriptor */
    struct jsp_file *file;
    uint32_t hz, max_depth, ring_bytes, label_bytes;
    uint32_t alloc; /* 0: allocations are not sampled */
    uint64_t stall_ns; /* 0: no stall mode */
    enum jsp_clock clock;
    bool chain, native, perf_map, dump, compact, alone, children, looker, perf, describe, sched,
        gdb_jit;
    bool dormant; /* it has no file until jsp_session_record: `fd` is -1 */
    uint32_t calls_refused; /* modes that nobody else may set; under `lock` once it is open */
    /* owned, like `file`: of a continuous recording, with `dormant`; NULL: none */
    struct jsp_keeper *keeper;
    void (*on_drain)(void *data);
    void *on_drain_data;
    int signo;
};

struct jsprof {
    /* Constant after open (make.c; child.c in the child of a fork). */
    pid_t pid;
    bool chain;
    bool native;
    size_t slots_bytes, label_bytes; /* sizes of the arena's two mappings */
    void (*on_drain)(void *data);
    void *on_drain_data;
    struct jsp_file *file; /* owned; NULL: the host gave a descriptor */

    /* Set by open, and for each recording of a dormant session while it is stopped, under
     * `change` and `lock`. */
    uint32_t hz;
    struct jsp_session_setup given; /* `given.file` is `file` above */
    struct jsp_thread_setup setup;  /* `setup.looker` is set by start */
    uint64_t forks_before; /* forks of the process before the recording, or the session */

    /* Each has a lock or rules of its own, in its header. */
    struct jsp_arena arena;
    struct jsp_alone alone;     /* JSPROF_NO_THREAD */
    struct jsp_objects objects; /* used by the drain; handlers read its map */
    struct jsp_codes codes;
    struct jsp_perfmap perf;    /* under the lock of `codes` */
    struct jsp_marks marks;
    struct jsp_calls_session calls;

    /* Under the process lock, see live.h. */
    struct jsprof *_Atomic live_next;
    uint32_t n_inside; /* calls on the session under way */
    bool closing;

    struct jsp_looker looker; /* its list has a lock of its own */
    struct jsp_sleeper sleeper; /* for the looker */
    struct jsp_thread *hand;    /* owned, while the looker has a sleeper */
    pthread_mutex_t change, lock;
    /* Under `change`: the host started it; see jsp_session_record; and the recording is the
     * continuous one. */
    bool wanted, recording, keeping;
    pthread_cond_t served_cond; /* flushing callers wait for it */
    struct jsp_ask ask;         /* its bell wakes the drain */
    struct jsp_tasks_shared tasks;

    /* Under `lock`. */
    bool running;
    bool draining;          /* there is a drain thread that was not joined yet */
    bool quit;              /* the drain has to finish */
    pthread_t drain;        /* valid while there is a drain thread */
    uint64_t asked, served; /* numbers of flushes */
    struct jsp_thread *threads;
    struct jsp_thread_link *links; /* of the same threads */
    struct jsp_spares spares;
    uint32_t n_left; /* threads that have left and are still on the lists */
    uint32_t n_ids;
    struct jsp_sched sched;
    struct jsp_counts gone; /* sums over the forgotten threads */
    bool builds;            /* the session ran at the last pass: rows will be used */
    uint64_t labels_lost_before, stray_before, tags_gone_before; /* for an earlier file */
    /* during this pass, no thread was inside its handler; not asked while nothing waits for it */
    bool quiet;
    uint64_t fullest;       /* words in the fullest ring, as this pass found it */
    uint32_t heard;         /* the bell before the last pass */
    uint64_t flushed_ns;
    uint64_t gone_ns;       /* time of the last search for threads that are gone */
    uint32_t gone_turn, gone_threads; /* such searches, and threads at the last one */
    /* samples that began earlier are read, and their handlers have returned */
    uint64_t quiet_ns;
    int write_error;        /* a copy of the writer's last error */
    int flush_error; /* result of the last flush; if it is not 0, data still wait */
    /* samples and expirations appended but not in the file yet */
    struct jsp_tally unwritten;

    char looks[JSP_LOOKS_TEXT]; /* of a looker that has ended; "": they are in the capture */

    /* a thread is stopped inside its handler and may read anything of the session */
    bool stuck;
    struct jsprof *kept; /* next kept session, see session.c */

    /* Used by the drain only. */
    struct jsp_output output;
    uint64_t reported; /* bytes appended when the account was last written */
    bool is_idle;      /* nothing had changed since then */
    uint64_t fold_ns;  /* between two flushes of a continuous recording; 0: it is none */
    bool described;    /* its file has a line of the session */
    uint64_t looked_ns;     /* time of the last look at the loaded objects */
    /* when handlers may ask again; length of the rest after a look that found nothing */
    uint64_t rested_ns, pause_ns;
    uint64_t popped[8 + 6 * JSP_FRAMES_RUN + JSP_TAGS_BYTES / 8];
};

/* -- session.c */

/* Open a session and put it on the list of live sessions. Return 0 or a negative errno; then
 * it has taken over nothing of the setup. */
int jsp_session_open(struct jsprof **out, const struct jsp_session_setup *setup);

/* Stop and complete the recording, and free the session. Return 0, the errors of jsp_live_end
 * (then it goes on), or an error of writing (then it is closed nevertheless). */
int jsp_session_close(struct jsprof *p);

/* -- last.c */

/* Append all that waits, and the last account, whose sums *counts gets, after the session was
 * halted. */
void jsp_session_last(struct jsprof *p, struct jsp_counts *counts);

/* Complete the file, except for closing it. Return 0 or an error of writing. */
int jsp_session_complete(struct jsprof *p, const struct jsp_counts *counts);

/* -- make.c */

/* Make a session that is zeroed except for its arena. Return 0 or -ENOMEM. */
int jsp_session_new(struct jsprof **out, uint32_t label_bytes);

/* Fill a new session, but do not put it on the list of live sessions. Return 0, -ENOMEM or the
 * errors of jsp_session_open; after an error, free it. */
int jsp_session_fill(struct jsprof *p, const struct jsp_session_setup *setup);

/* Free everything but the output, which is closed. */
void jsp_session_free(struct jsprof *p);

/* Make what stall mode needs, unless it is there or there is no limit. 0 or -ENOMEM. */
int jsp_session_slots(struct jsprof *p, uint64_t stall_ns);

/* Write the frames that describe a new capture. */
void jsp_session_describe(struct jsprof *p);

/* -- begin.c */

/* Note that the host has started the session, and run it or, if it records itself, begin its
 * first file. A dormant one waits for a recording. Return 0 or a negative errno. */
int jsp_session_start(struct jsprof *p);

/* Note that the host has stopped the session, and halt it. Return 0 or an error of writing. */
int jsp_session_stop(struct jsprof *p);

/* -- run.c */

/* Do the work of start. The caller holds `change`. */
int jsp_session_run(struct jsprof *p);

/* Stop the session for a close, when no other call on it is under way. */
int jsp_session_halt(struct jsprof *p);

/* Write what waits, on the drain's thread if there is one. Return 0 or an error of writing. */
int jsp_session_flush(struct jsprof *p);

/* Fill *out with the counters of all threads, gone ones included. Return 0, -EINVAL or
 * -ECHILD, as jsp_live_enter. */
int jsp_session_stats(struct jsprof *p, jsprof_stats *out);

/* Set the modes in which calls are counted. Return 0 or a negative errno. */
int jsp_session_calls(struct jsprof *p, uint32_t modes);

/* Copy the counts of calls. Return 0 or a negative errno. */
int jsp_session_calls_snapshot(struct jsprof *p, jsprof_calls *out);

/* Change the modes that another process may set. */
int jsp_session_calls_allow(struct jsprof *p, uint32_t modes);

/* Set the modes that another process asks for, as far as it may. -EOPNOTSUPP: it may set none
 * of them. */
int jsp_session_calls_ask(struct jsprof *p, uint32_t modes);

/* -- begin.c, retarget.c: recordings of a dormant session, one after another, each into a file of
 * its own
 *
 * The host opens the session without a file, attaches its threads and starts it. From then on
 * somebody else may record. */
struct jsp_session_aim {
    int fd;
    uint32_t hz;
    enum jsp_clock clock;
    bool looker, compact;
    uint64_t fold_ns; /* 0: do not fold */
    uint64_t most_bytes; /* of the file before its end; 0: any number */
    uint64_t stall_ns; /* only turns that take longer; 0: what the host chose */
    bool tasks, alloc; /* refuse the recording if it would have none of them */
};

/* Begin a recording, which takes over `fd`, also if it fails. -EBUSY: the session is not dormant,
 * or there is a recording. -ENOTCONN: the host has not started it, or has stopped it.
 * -ENODATA: nobody reported a task or a turn of a loop, as `tasks` and `stall_ns` need;
 * -EOPNOTSUPP: the host samples no allocations. Other errors as start. */
int jsp_session_record(struct jsprof *p, const struct jsp_session_aim *aim);

/* End the recording and complete its file; *stats gets its counts. -ENOENT: there is none. Errors
 * as stop. */
int jsp_session_record_end(struct jsprof *p, jsprof_stats *stats);

/* For continuous.c, which holds `change`: begin a recording, whatever else records. Errors as
 * jsp_session_record. */
int jsp_session_aim(struct jsprof *p, const struct jsp_session_aim *aim);

/* For continuous.c, which holds `change`: end the recording. Return 0 or an error of writing. */
int jsp_session_aim_end(struct jsprof *p);

/* -- continuous.c: a dormant session that records itself, into one file after another
 *
 * A thread of the library, the keeper, begins the next file when one is old or large enough. While
 * somebody else records the session, it pauses. The caller of begin and end holds `change`. */
struct jsp_keeper {
    /* Constant: recordings that others ask for have options of their own. */
    uint32_t hz;
    enum jsp_clock clock;
    bool looker;

    /* Under `change`. */
    struct jsp_keep keep;
    uint64_t began_ns;     /* when the file began */
    uint64_t stranded;     /* expirations that a removed file did not take: for the next account */
    bool runs;             /* there is a thread */
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool quit, rung;       /* under `lock` */
};

/* -- keeper.c */

/* Return a keeper for the setup, or NULL without memory. */
struct jsp_keeper *jsp_keeper_new(void);

/* Free the keeper, after its session was closed or could not be opened. NULL does nothing. */
void jsp_keeper_free(struct jsp_keeper *k);

/* Return true if the file is large enough, or gone. The caller holds `lock`, like that of look. */
bool jsp_keeper_is_due(const struct jsprof *p);

/* Wake the keeper. */
void jsp_keeper_ring(struct jsp_keeper *k);

/* Wake the keeper if its file is due, after a flush. The caller holds `lock`. */
void jsp_keeper_look(struct jsprof *p);

/* Begin the first file, or that after a pause, and start the thread. Return 0, or an error of
 * opening the file, of start or of making a thread. */
int jsp_continuous_begin(struct jsprof *p);

/* Complete the file, if there is one, and let the keeper rest. Errors as stop. */
int jsp_continuous_end(struct jsprof *p);

/* End the thread and the recording, before the session is closed; nobody else is in the session.
 * Errors as stop. */
int jsp_continuous_quit(struct jsprof *p);

struct jsp_session_brief {
    bool is_dormant, is_wanted, is_recording;
    uint32_t threads; /* attached */
    uint32_t hz;
    enum jsp_clock clock;
};

/* Fill *out for a list of sessions. Return 0, -EINVAL or -ECHILD, as jsp_live_enter. */
int jsp_session_brief(struct jsprof *p, struct jsp_session_brief *out);

/* Return the number of attached threads that have no sample since the recording began. */
uint32_t jsp_session_unsampled(struct jsprof *p);

/* -- attach.c */

/* Add a thread to the lists of the session. The caller holds `lock`. */
void jsp_session_list(struct jsprof *p, struct jsp_thread *t);

/* Attach the calling thread under this name. Return 0 or a negative errno; then nothing is
 * attached and *out is untouched. */
int jsp_session_attach(struct jsprof *p, const char *name, struct jsp_thread **out);

/* Detach the calling thread, which attached as `t`. Return 0, or -EPERM on another thread. In
 * a forked child, drop the copy. */
int jsp_session_detach(struct jsp_thread *t);

/* Return 0 if the calling thread attached as `t`, otherwise -EPERM, or -ECHILD after a
 * fork. */
int jsp_session_owns(const struct jsp_thread *t);

/* -- asleep.c */

/* Set the walker for the calling thread's sleeps. On return the looker is in none of the old
 * one. Return 0, or as jsp_session_owns. */
int jsp_session_set_asleep(struct jsp_thread *t, jsprof_walk_asleep_fn walk, void *host);

/* -- child.c: sessions that continue in the child of a fork, in files of their own.
 *
 * This happens only with JSPROF_CHILDREN. The child makes the session anew in the same
 * memory, so the host's pointers to it and to the thread that forked stay valid. A dormant
 * session waits there for a recording. The
 * session keeps the names, the host's entries, descriptor and walker, interpreters'
 * ranges, the host's symbols, the numbers of counters, and registered code: data of which
 * every moment is consistent. It loses listings, and the counts of calls. The child never
 * uses or frees the data of the parent's other threads.
 *
 * Call this after a fork, in the child's one thread, when the locks of the process are
 * new. If the session cannot continue, each call on it returns -ECHILD. */
void jsp_child_go_on(struct jsprof *p);

/* -- register.c: what a host registers. Each returns -ECHILD in the child of a fork */

/* Register a range of code with its name, lines and rows. Return 0 or a negative errno. */
int jsp_register_code(struct jsprof *p, const jsprof_code *code);

/* Note that the code which begins at `start` is gone. Return 0 or a negative errno. */
int jsp_register_remove(struct jsprof *p, uint64_t start);

/* Note that the code at `from` has moved. Return 0 or a negative errno. */
int jsp_register_move(struct jsprof *p, uint64_t from, uint64_t to);

/* Copy a listing for the capture. Return 0 or a negative errno. */
int jsp_register_listing(struct jsprof *p, const jsprof_listing *listing);

/* Name the native function that begins at `start`. Return 0 or a negative errno. */
int jsp_register_symbol(struct jsprof *p, uint64_t start, const char *name);

/* Note the range of an interpreter's loop. Return 0 or a negative errno. */
int jsp_register_loop(struct jsprof *p, uint64_t start, uint64_t length);

/* Note a range whose native frames are not stored. Return 0 or a negative errno. */
int jsp_register_hidden(struct jsprof *p, uint64_t start, uint64_t length);

/* -- warm.c: call each libc function that the handler calls once, outside of it. In a host
 * that links us statically and without -z now, the first call of each looks up its name:
 * this needs the dynamic linker's locks and stack, in a signal handler. The whole program
 * shares the name's slot. */
void jsp_warm_libc(void);

#endif
