/* tasks/tasks.h - what one thread reports of its tasks: made, run, done, and turns of a loop.
 *
 * The thread itself writes a record for each into a ring of its own, and the drain turns the
 * records into jsprof/tasks: see write.h. A task is a number and nothing else, so a million of
 * them take no memory here. The stack on which a task was made goes into the ring of samples,
 * once for each distinct stack: see stacks.h.
 *
 * A handle is a task's number and, in its upper 16 bits, a mark of the session that made it.
 * So a handle of another session is noticed, and none is ever followed.
 *
 *                        owner thread   session   drain
 *   jsp_tasks_init             -          yes       -
 *   jsp_tasks_renew            -          yes       -
 *   jsp_tasks_new             yes          -        -
 *   jsp_tasks_begin           yes          -        -
 *   jsp_tasks_end             yes          -        -
 *   jsp_tasks_ready           yes          -        -
 *   jsp_tasks_due             yes          -        -
 *   jsp_tasks_done            yes          -        -
 *   jsp_tasks_turn_begin      yes          -        -
 *   jsp_tasks_turn_end        yes          -        -
 *   jsp_tasks_now             yes          -        -
 *   jsp_tasks_pop              -           -       yes
 *   jsp_tasks_counts           -           -       yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TASKS_TASKS_H
#define JSP_TASKS_TASKS_H

#include "sigsafe/sample.h"
#include "stalls.h"

enum { JSP_TASKS_MARK_SHIFT = 48, JSP_TASKS_STACKS = 1 << 12, JSP_TASKS_TURNS = 16 };
#define JSP_TASKS_NUMBER ((UINT64_C(1) << JSP_TASKS_MARK_SHIFT) - 1)

/* What all threads of a session have in common. */
struct jsp_tasks_shared {
    _Atomic uint64_t last_task;  /* numbers from 1 */
    _Atomic uint64_t last_stack; /* the same */
    uint64_t mark;               /* in the upper bits of handles; constant */
    /* 0: no stall mode. The session sets it, `table` first, while no thread is armed; threads take
     * it over in their next call. */
    _Atomic uint64_t stall_ns;
    struct jsp_stalls_table *table; /* owned by the session; NULL: there was no stall mode yet */
    _Atomic uint64_t n_tags_gone; /* labels of tasks in long turns that were overwritten */
    _Atomic bool has_any; /* a thread has begun a run or a turn */
};

enum jsp_tasks_tag {
    JSP_TASKS_NEW,
    JSP_TASKS_RUN,
    JSP_TASKS_DONE,
    JSP_TASKS_TURN,
    JSP_TASKS_READY,
    JSP_TASKS_DUE,   /* it will be ready after a time */
    JSP_TASKS_STALL, /* a window that was long, for the drain */
};

/* A record in the ring. */
struct jsp_tasks_rec {
    uint32_t tag;   /* enum jsp_tasks_tag */
    uint32_t flags; /* of a run: JSP_WIRE_RUN_... */
    /* of a run or a turn: how many others are around it; of a task: the thread that made it, 0:
     * that of the ring */
    uint32_t depth;
    uint32_t stack; /* of a task: the stack on which it was made; 0: none */
    uint64_t task;  /* of a turn: the time of a loop inside it, in ns */
    /* of what is a moment: begin_ns alone; and end_ns is the task that made another one ready. When
     * that will be is in `depth` and, above 32 bits, `stack`: ns after the moment. */
    uint64_t begin_ns, end_ns;
    /* of a task only: */
    uint64_t parent;
    uint32_t kind, name; /* labels in the arena; kind 0: none */
    uint64_t n_tags;     /* bytes of its labels, which follow */
};

/* A task with the labels under which it was made. */
struct jsp_tasks_made {
    struct jsp_tasks_rec rec;
    uint8_t tags[JSP_TAGS_BYTES];
};
enum {
    JSP_TASKS_REC_WORDS = sizeof(struct jsp_tasks_rec) / 8,
    JSP_TASKS_REC_SHORT = offsetof(struct jsp_tasks_rec, parent) / 8,
};
_Static_assert(sizeof(struct jsp_tasks_rec) % 8 == 0, "whole words in the ring");

/* Errors of the host, and losses. */
struct jsp_tasks_counts {
    uint64_t lost;      /* records for which the ring had no room */
    /* ends of a task that does not run on this thread, and of turns that did not begin */
    uint64_t unmatched;
    uint64_t left;      /* runs that ended with a run or a turn around them */
    uint64_t deep;      /* runs and turns inside too many others: in no record */
    uint64_t foreign;   /* handles that the session did not make, and calls inside a call */
};

struct jsp_tasks_stack {
    uint64_t hash; /* 0: free */
    uint64_t number;
};

/* A turn that has begun. A loop may run inside a task of another one's turn: the outer turn's
 * own time ends where the first turn inside it begins, and goes on where the last one ends. */
struct jsp_tasks_turn {
    uint64_t begin_ns;
    uint64_t inner_ns, inner_end_ns; /* 0: none */
    uint32_t depth;                  /* of runs when it began */
    bool is_long;                    /* in stall mode: its part before a turn inside it was */
};

struct jsp_tasks {
    /* Constant after init. */
    struct jsp_sampled *self;
    struct jsp_tasks_shared *shared; /* borrowed; not read once self->closed is set */
    struct jsp_tasks_stack *stacks;  /* borrowed; JSP_TASKS_STACKS of them */

    /* Written by the owner thread. */
    ucontext_t asked;        /* registers of the call that makes a task */
    uint32_t n_stacks;
    uint32_t n_turns; /* inside each other; may exceed JSP_TASKS_TURNS */
    struct jsp_tasks_turn turns[JSP_TASKS_TURNS];
    struct jsp_tags_run tags[JSP_RUNNING_MOST]; /* what the runs found, by their depth */
    pid_t tid;
    struct jsp_stalls stalls;
    _Atomic uint64_t n_lost, n_unmatched, n_left, n_deep, n_foreign;
    struct jsp_names names;  /* its own, because the handler uses the other one */
    struct jsp_ring ring;
};

/* Lay out over zeroed memory; `words` and `stacks` are borrowed. */
struct jsp_tasks_memory {
    struct jsp_sampled *self;
    struct jsp_tasks_shared *shared;
    struct jsp_arena *arena;
    uint64_t *words;
    uint64_t n_words;
    struct jsp_tasks_stack *stacks;
    pid_t tid;
};
void jsp_tasks_init(struct jsp_tasks *k, const struct jsp_tasks_memory *memory);

/* Begin anew in the child of a fork: what runs goes on, and all stacks are new. */
void jsp_tasks_renew(struct jsp_tasks *k, pid_t tid);

/* What a new task is called. */
struct jsp_tasks_what {
    const char *kind, *name;     /* may be NULL */
    const jsprof_function *function; /* in place of name, unless NULL */
    bool has_stack;
};

/* Return the handle of a new task, or 0. The caller has stored its registers in k->asked if
 * there is to be a stack; the first C frame of it is dropped. */
uint64_t jsp_tasks_new(struct jsp_tasks *k, const struct jsp_tasks_what *what);

/* Begin a run of the task, inside the run that is open. A handle of another session counts as
 * foreign. */
void jsp_tasks_begin(struct jsp_tasks *k, uint64_t handle);

/* End the run of the task, and those inside it. */
void jsp_tasks_end(struct jsp_tasks *k, uint64_t handle);

/* Note that the task can run from now on. */
void jsp_tasks_ready(struct jsp_tasks *k, uint64_t handle);

/* Note that the task can run in `in_ns`. */
void jsp_tasks_due(struct jsp_tasks *k, uint64_t handle, int64_t in_ns);

/* Note that the task will not run any more. */
void jsp_tasks_done(struct jsp_tasks *k, uint64_t handle);

/* Begin a turn of an event loop. Turns may nest. */
void jsp_tasks_turn_begin(struct jsp_tasks *k);

/* End the innermost turn. */
void jsp_tasks_turn_end(struct jsp_tasks *k);

/* Return the handle of the innermost task that runs, or 0. */
uint64_t jsp_tasks_now(const struct jsp_tasks *k);

/* Copy the oldest record. Return false if there is none. */
bool jsp_tasks_pop(struct jsp_tasks *k, struct jsp_tasks_made *out);

/* Copy the counters. Any thread. */
void jsp_tasks_counts(const struct jsp_tasks *k, struct jsp_tasks_counts *out);

/* The session's limit of stall mode, 0 for none. The table is there. */
static inline void jsp_tasks_set_stall(struct jsp_tasks_shared *shared, uint64_t ns)
{
    /* ORDER: release, pairs with the acquire below: who sees the limit sees the table. */
    atomic_store_explicit(&shared->stall_ns, ns, memory_order_release);
}

/* Return the limit of stall mode, or 0. */
static inline uint64_t jsp_tasks_stall(const struct jsp_tasks_shared *shared)
{
    return atomic_load_explicit(&shared->stall_ns, memory_order_acquire); /* ORDER: as above */
}

/* Return true if a thread of the session has reported a task or a turn. */
static inline bool jsp_tasks_any(const struct jsp_tasks_shared *shared)
{
    /* ORDER: relaxed. A flag that is set once. */
    return atomic_load_explicit(&shared->has_any, memory_order_relaxed);
}

/* Add a word to a hash of 64 bits. */
static inline uint64_t jsp_tasks_mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* Subtract `c` from `sum`. */
static inline void jsp_tasks_counts_subtract(struct jsp_tasks_counts *sum,
                                             const struct jsp_tasks_counts *c)
{
    sum->lost -= c->lost;
    sum->unmatched -= c->unmatched;
    sum->left -= c->left;
    sum->deep -= c->deep;
    sum->foreign -= c->foreign;
}

/* -- stacks.c: return the number of the stack at the registers in k->asked, whose record is in
 * the ring of samples, or 0 if it can not be taken or the ring is full. Between enter and exit of
 * a function of tasks. */
uint64_t jsp_tasks_stack(struct jsp_tasks *k);

#endif
