/* session/thread.h - one thread of a session: its memory and its timer.
 *
 * All calls under the session's lock. A record has two holders, the thread that
 * attached and the session; its memory goes when neither holds it, so a thread
 * may detach long after the session was closed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_THREAD_H
#define JSP_SESSION_THREAD_H

#include <sys/types.h>

#include "calls/table.h"
#include "sigsafe/sample.h"

enum { JSP_THREAD_NAME = 64 };

/* Expirations that were due and of which no signal came. The handler knows nothing of them. */
struct jsp_unseen {
    uint64_t blocked, undelivered; /* up to the last disarming */
    uint64_t so_far; /* blocked since, as of the last look, if due_ns is still the next one */
    uint64_t due_ns;
};

/* How a session wants its threads. */
struct jsp_thread_setup {
    struct jsprof *session;  /* only compared, and called back through by its owner */
    struct jsp_arena *arena; /* borrowed */
    struct jsp_jitrows *jit; /* borrowed */
    struct jsp_unwind_map *_Atomic *map; /* borrowed; NULL: VM frames only */
    struct jsp_ask *ask;     /* borrowed */
    jsp_live_find_sigsafe_fn find_sigsafe; /* see jsp_loaded_find */
    uint32_t max_depth;
    uint32_t ring_words;     /* power of two */
    uint64_t period_ns;
    enum jsp_clock clock;
    int signo;
    void (*offer_sigsafe)(struct jsp_sampled *, const void *); /* NULL: none */
};

struct jsp_thread {
    struct jsp_sampled sampled; /* first: what the handler and the host see */

    /* Constant after create. */
    struct jsprof *session;
    size_t bytes;        /* of this mapping */
    pid_t tid;
    pid_t pid;
    uint32_t id;         /* of the session, from 0 */
    uint32_t tally;      /* its slot in the output's tallies */
    clockid_t cpu_clock; /* this thread's, readable by all */
    const void *me;      /* jsp_calls_me() there */
    char name[JSP_THREAD_NAME];

    /* Under the session's lock. */
    struct jsp_thread *next; /* of the session */
    bool owned;              /* the thread has not detached */
    bool listed;             /* the session has not let go */
    bool stuck;              /* stopped inside the handler: never freed */
    uint64_t armed_at[JSP_N_CLOCKS];
    uint64_t armed_ns[JSP_N_CLOCKS]; /* while it was armed, closed intervals */
    struct jsp_unseen unseen;
    struct jsp_counts counts; /* as of the drain's last pass */
    struct jsp_counts told;   /* as last written into the capture */
    struct jsp_calls *calls;  /* owned; NULL: they were never counted */
};

/* May the calling thread be sampled? One that was made by the raw system call may share the
 * thread-local variables of another thread: then the C library takes it for that one, and
 * so would our handler. -ENOTSUP. */
int jsp_thread_check(void);

/* Memory for the calling thread, not armed. -ENOMEM, -EAGAIN. */
int jsp_thread_create(struct jsp_thread **out, const struct jsp_thread_setup *setup,
                      uint32_t id, const char *name);

/* In the child of a fork, of the thread that forked: as after create, in the same memory, with
 * the host's entries, descriptor and walker as they are. Its calls are not counted. */
void jsp_thread_renew(struct jsp_thread *t, const struct jsp_thread_setup *setup);

/* Give it a timer. -EAGAIN: none left, -EPERM, -EINVAL; nothing is armed then. */
int jsp_thread_arm(struct jsp_thread *t, const struct jsp_thread_setup *setup);

/* Set the timer anew, if there is one: it may send nothing any more, and what it sent may
 * be gone. */
void jsp_thread_rearm(struct jsp_thread *t);

/* No sample begins after this; one that is under way is waited for. */
void jsp_thread_disarm(struct jsp_thread *t);

/* Look whether what is due waits for a signal that the thread blocks, ignores or has given
 * to another handler. Not in a handler of the thread itself. */
void jsp_thread_look(struct jsp_thread *t);

/* The session goes away: nothing of it will be read from the thread any more, not for
 * jsprof_backtrace either, which is waited for. */
void jsp_thread_seal(struct jsp_thread *t);

/* Its counters at one moment between two signals. `patient`: wait for it, for no later
 * look will come. False: the thread is in the handler. */
bool jsp_thread_counts(struct jsp_thread *t, bool patient, struct jsp_counts *out);

/* Time armed until now, on each clock. */
void jsp_thread_armed_ns(const struct jsp_thread *t, uint64_t ns[JSP_N_CLOCKS]);

/* Frees it if nobody holds it any more. */
void jsp_thread_release(struct jsp_thread *t);

#endif
