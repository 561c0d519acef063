/* session/thread.h - one thread of a session: its memory and its timer.
 *
 * All calls are made under the session's lock. A record has two holders, the attached
 * thread and the session. Its memory is freed when neither holds it any more, so a thread
 * may detach long after the session was closed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_THREAD_H
#define JSP_SESSION_THREAD_H

#include <sys/types.h>

#include "calls/table.h"
#include "event.h"
#include "looker.h"
#include "stalls.h"
#include "sigsafe/sample.h"
#include "tasks/tasks.h"

enum { JSP_THREAD_NAME = 64 };

/* Expirations that were due but sent no signal, so that the handler never learns of
 * them. */
struct jsp_unseen {
    uint64_t blocked, undelivered; /* up to the last disarming */
    /* blocked since then, as of the last look; valid while due_ns is still the next
     * expiration */
    uint64_t so_far;
    uint64_t due_ns;
};

/* What all threads of a session have in common. */
struct jsp_thread_setup {
    struct jsprof *session;  /* the threads only compare it */
    struct jsp_arena *arena; /* borrowed */
    struct jsp_jitrows *jit; /* borrowed */
    struct jsp_unwind_map *_Atomic *map; /* borrowed; NULL: VM frames only */
    struct jsp_ask *ask;     /* borrowed */
    jsp_live_find_sigsafe_fn find_sigsafe; /* see jsp_loaded_find */
    const volatile char *single; /* see jsp_alone_flag */
    uint32_t max_depth;
    uint32_t ring_words;     /* power of two */
    uint64_t period_ns;
    enum jsp_clock clock;
    int signo;
    struct jsp_looker *looker; /* borrowed; NULL: each thread gets a timer ... */
    bool events;               /* ... or, if the kernel gives one, an event; see event.h. With a
                                * looker, that looks at the rest of the time */
    bool user_events;          /* these bring no signal in the kernel */
    uint64_t *looks;           /* borrowed; by enum jsp_look, JSP_LOOK_CUT and JSP_LOOK_AGAIN are
                                * added to where there is no looker */
    struct jsp_alloc_table *allocs; /* NULL: allocations are not sampled */
    uint32_t alloc;                 /* bytes from one sample to the next */
    struct jsp_tasks_shared *tasks; /* borrowed */
    struct jsp_spares *spares;      /* borrowed; NULL: always new memory */
    /* does the drain's work in the handler; NULL: a thread does it */
    void (*drain_sigsafe)(struct jsp_sampled *, const void *);
};

/* What the drain needs of a thread to leave it out of a pass. It is not in the thread: a pass
 * over a thousand of them would read as many pages. */
struct jsp_thread_link {
    struct jsp_thread_link *next; /* next thread of the session */
    struct jsp_thread *thread; /* borrowed */
    uint32_t id;               /* number within the session, from 0 */
    /* The looker adds to it after each signal and each sample that it has stored itself. */
    _Atomic uint32_t news;

    /* Under the session's lock. */
    uint32_t seen;       /* `news` at the last pass that read the thread */
    bool is_known;       /* then no signal was under way: without news nothing has come since */
    bool is_fresh;       /* `counts` have changed, perhaps, since its line was written */
    uint8_t n_same;      /* passes in a row without news */
    uint64_t tails;      /* of both rings at that pass, added */
    uint64_t labels_cut; /* of the thread's counts */
};

struct jsp_thread {
    struct jsp_sampled sampled; /* first: what the handler and the host use */
    struct jsp_tasks tasks;

    /* Under the process lock. NULL after the session was closed. */
    struct jsprof *session;

    /* Constant after create (attach.c: `tally`). */
    size_t bytes;        /* of the record's mapping */
    pid_t tid;
    pid_t pid;
    uint32_t tally;      /* number of its slot in the output's tallies */
    clockid_t cpu_clock; /* this thread's clock; every thread can read it */
    const void *me;      /* result of jsp_calls_me() in that thread */
    char name[JSP_THREAD_NAME];

    /* Owned, until the session has released it; not in here, as jsp_thread_link. The first is used
     * while armed, if the session has a looker. */
    struct jsp_looked *looked;
    struct jsp_thread_link *link;

    /* Under the session's lock. */
    alignas(JSP_CACHELINE) struct jsp_thread *next, **at; /* the pointer that leads to it */
    bool owned;              /* the thread has not detached */
    bool listed;             /* the session has not released it */
    bool stuck; /* the thread is stopped inside its handler; never free the record */
    struct jsp_unseen unseen;
    uint64_t armed_at[JSP_N_CLOCKS];
    uint64_t armed_ns[JSP_N_CLOCKS]; /* time armed, without the current interval */
    uint64_t *looks;         /* as in the setup; NULL: the looker counts */
    uint64_t n_cut_before, n_again_before; /* what they count, when it was armed */
    bool is_scheduled;       /* its switches are counted, see sched.h */
    uint64_t delayed_ns;     /* time that it had waited for a processor before */
    uint64_t migrated;       /* how often it had gone to another one before */
    struct jsp_sched_ring *switches; /* owned; NULL: they are only counted */
    struct jsp_looker *looker;   /* borrowed; NULL: the thread has a timer or an event alone */
    struct jsp_counts counts; /* as of the drain's last pass */
    struct jsp_counts before;    /* counted for earlier files; not in `counts` */
    struct jsp_tasks_counts task_counts, tasks_written, tasks_before; /* the same of its tasks */
    uint64_t dropped; /* weights of samples outside of long turns, in stall mode */
    struct jsp_stall_list stalls;
    struct jsp_running_copy open_written; /* runs as last written as open */
    struct jsp_counts written;   /* as last written into the capture */
    struct jsp_calls *calls;  /* owned; NULL: its calls were never counted */
    /* owned: the looker's last record, for the drain; NULL: none */
    struct jsp_record *last;
};

/* Return 0 if the calling thread may be sampled, otherwise -ENOTSUP. A thread made by the
 * raw system call may share the thread-local variables of another thread. The C library
 * then takes it for that thread, and so would our handler. */
int jsp_thread_check(void);

/* Allocate the record of the calling thread, not armed. Returns 0, -ENOMEM or -EAGAIN. */
int jsp_thread_create(struct jsp_thread **out, const struct jsp_thread_setup *setup,
                      uint32_t id, const char *name);

/* Find the bounds of the calling thread's C stack, outside of which a link is garbage. If they
 * are unknown, leave them, so that every address passes. */
void jsp_thread_find_stack(struct jsp_vmstack *vm);

/* Make the record of the forking thread like new in the child, in the same memory. The
 * host's entries, descriptor and walker stay as they are. The thread's calls are not
 * counted any more. */
void jsp_thread_renew(struct jsp_thread *t, const struct jsp_thread_setup *setup);

/* Give the thread a timer, or let the looker sample it. Returns 0, -EAGAIN (no timer left),
 * -EPERM or -EINVAL; after an error the thread is not armed. */
int jsp_thread_arm(struct jsp_thread *t, const struct jsp_thread_setup *setup);

/* Set the timer of an armed thread again, when it may have stopped and its last signal
 * may be lost. */
void jsp_thread_rearm(struct jsp_thread *t);

/* Let no further sample begin, and wait for the one under way. */
void jsp_thread_disarm(struct jsp_thread *t);

/* Check whether a due signal waits because the thread blocks or ignores it or has another
 * handler for it. Not callable from a handler of the thread itself. */
void jsp_thread_look(struct jsp_thread *t);

/* Let the thread read nothing of the session any more, because the session ends. Waits
 * for a sample or jsprof_backtrace under way. */
void jsp_thread_seal(struct jsp_thread *t);

/* Copy the thread's counters as of one moment between two signals. Return false if the
 * thread is inside its handler; `patient` waits for it first, because there will be no
 * later call. */
bool jsp_thread_counts(struct jsp_thread *t, bool patient, struct jsp_counts *out);

/* Sum up the time armed until now, on each clock. */
void jsp_thread_armed_ns(const struct jsp_thread *t, uint64_t ns[JSP_N_CLOCKS]);

/* -- spare.c */

/* Give up one hold on the table of allocations, and free it after the last. NULL does nothing. */
void jsp_thread_release_allocs(struct jsp_alloc_table *table);

/* Free what the session's own threads have of this one. */
void jsp_thread_forget(struct jsp_thread *t);

/* Free the record, unless the host's thread or a list still holds it. */
void jsp_thread_release(struct jsp_thread *t);

/* Records of threads that have ended, for the next threads of the session. A new one has 2 MiB of
 * address space, of which a short thread uses 12 pages. To map and to unmap them takes longer
 * than to create and to join the thread. The child of a fork begins with an empty list. */
enum { JSP_SPARES = 64 };
struct jsp_spares {
    struct jsp_thread *first; /* owned; by `next` */
    uint32_t n;
    uint32_t least; /* of n since the last trim */
};

/* Return a record of this size as if it were new, with its `looked` and `link`; or NULL. */
struct jsp_thread *jsp_spare_take(struct jsp_spares *s, size_t bytes);

/* Keep the record, or release it. */
void jsp_spare_put(struct jsp_spares *s, struct jsp_thread *t);

/* Free all but so many. */
void jsp_spares_trim(struct jsp_spares *s, uint32_t most);

#endif
