/* sigsafe/sample.h - one thread of one session, and the handler that samples it.
 *
 * The handler finds its thread through a thread-local list and the number that
 * the timer carries, never through a pointer in the signal: a signal may arrive
 * after its thread's memory is gone. `seq` is odd while the handler is inside, so
 * that another thread can wait for it, or read the counters all of one moment. A
 * backtrace on demand has a flag of its own, for it may take as long as it likes.
 *
 *                      handler   owner thread   session, drain
 *   jsp_sample_handle    yes          -               -
 *   jsp_sample_mask       -          yes              -
 *   jsp_sampled_link      -          yes              -
 *   jsp_sampled_unlink    -          yes              -
 *   jsp_sampled_find      -          yes              -
 *   jsp_sampled_first     -          yes              -
 *   jsp_sampled_counts    -          yes             yes
 *   jsp_sampled_expect   yes          -              yes, to arm
 *   jsp_sampled_set_timer  yes        -              yes, to arm
 *   jsp_sampled_pause     -          yes              -
 *   jsp_sampled_enter     -          yes              -
 *   jsp_sampled_exit      -          yes              -
 *   jsp_sampled_inside    -           -              yes
 *   jsp_sampled_busy      -           -              yes
 *   jsp_sampled_frames   yes         yes              -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_SAMPLE_H
#define JSP_SIGSAFE_SAMPLE_H

#include "ask.h"
#include "levels.h"
#include "merge.h"
#include "ring.h"
#include "tick.h"
#include "unwind.h"
#include "vmstack.h"

/* Counters of timer expirations; see jsprof_stats. */
struct jsp_counts {
    uint64_t expirations;
    uint64_t lost_ring, lost_paused, lost_late, lost_stack;
    uint64_t lost_blocked, lost_undelivered;
    uint64_t frames_cut, frames_bad, labels_cut, underflows;
    uint64_t handler_ns;
    uint64_t stops[JSP_N_STOPS]; /* native walks by how they ended: enum jsp_unwind_stop */
    uint64_t ring_tail; /* records below it are in these counts */
    uint64_t due_ns;    /* the next expiration, which is not in them */
};

/* Add up; ring_tail and due_ns have no sum. */
void jsp_counts_add(struct jsp_counts *sum, const struct jsp_counts *c);

enum { JSP_PRINTED = 128 }; /* frames of a printed backtrace */

/* Where a C stack was left for another one that it resumed; see resume.h. */
struct jsp_resumer {
    const jsprof_cstack *stack; /* NULL: the thread's own */
    bool known;
    struct jsp_regs_core at;    /* of the function that called jsprof_stack_switch */
};

struct jsp_sampled {
    jsprof_thread own; /* first: what the host sees */

    /* Written by the owner thread. */
    struct jsp_sampled *next;  /* other sessions on the same thread */
    volatile uint32_t paused;  /* nesting */
    const jsprof_cstack *volatile cstack; /* borrowed; NULL: on its own stack */
    uintptr_t left_low, left_high; /* of the last one that it left; 0: none */
    struct jsp_resumer resumers[JSP_LEVELS_MAX]; /* by their depth: the thread's own first */

    /* Written by whoever arms and disarms, under the session's lock. */
    _Atomic bool armed;
    timer_t timer;
    clockid_t clock;           /* as the handler reads it: MONOTONIC or THREAD_CPUTIME_ID */
    int signo;
    uint64_t number;           /* in the signal's value; see jsp_sample_value */
    _Atomic uint64_t hidden_ns; /* what was due then was seen to be kept from the thread */
    _Atomic bool settled;      /* an expiration was counted whose signal may yet arrive */
    const void *session;       /* only compared */
    _Atomic bool closed;       /* nothing of the session may be read; see B1 in backtrace.c */
    /* Called behind each sample: what it may do there it finds out itself. NULL: nobody. */
    void (*offer_sigsafe)(struct jsp_sampled *self, const void *ucontext);

    /* Written by the handler. */
    alignas(JSP_CACHELINE) _Atomic uint32_t seq; /* odd: inside */
    _Atomic uint64_t expirations, lost_ring, lost_paused, lost_late, lost_stack, lost_blocked;
    _Atomic uint64_t handler_ns;
    _Atomic uint64_t due_ns; /* of the tick, for those who look from outside */
    uint64_t last_time_ns, last_cpu_ns; /* of the last arrival, on both clocks */
    struct jsp_tick tick;
    struct jsp_vmstack vm;
    struct jsp_names names;
    struct jsp_unwinder unwinder;
    /* Borrowed: where the session publishes its map; NULL: VM frames only. */
    struct jsp_unwind_map *_Atomic *map;
    struct jsp_ask *ask;       /* borrowed with it */
    struct jsp_record *record; /* borrowed, room for max_depth frames of each kind */
    uint32_t empty_id;         /* "[no VM frame]" */
    uint32_t cut_native_id;    /* "[C frames cut]" */

    /* Of jsprof_backtrace. */
    _Atomic bool busy;         /* the owner thread is in it */
    struct jsp_merged *merged; /* borrowed, room for max_depth frames of each kind */
    jsprof_backtrace_frame printed[JSP_PRINTED];

    struct jsp_ring ring;
};

/* A handler; both NULL: none. */
struct jsp_sample_owner {
    void (*action_sigsafe)(int sig, siginfo_t *info, void *ucontext);
    void (*plain_sigsafe)(int sig);
};

/* Who gets what is not ours: who had the signal before us; and where that one was put on top
 * of us, and passes it on to us in turn, who had it before that. */
struct jsp_sample_chain {
    struct jsp_sample_owner before, below;
    _Atomic bool is_reset; /* the host set SIG_DFL meanwhile: they are to be called no more */
};
extern struct jsp_sample_chain jsp_sample_chain[]; /* by signal number, _NSIG of them */

enum { JSP_SAMPLE_NUMBER_BITS = 28 };

/* What the values of this copy of the library have in common: another copy in the
 * process (one linked in, one in a plugin) has its variables elsewhere. */
static inline uint64_t jsp_sample_mark(void)
{
    uint64_t copy = (uint64_t)(uintptr_t)jsp_sample_chain * 0x9E3779B97F4A7C15u >> 44;
    return 0x6A73ull << 48 | copy << JSP_SAMPLE_NUMBER_BITS;
}

/* The value a thread's timer carries, so that the handler knows its own. */
static inline void *jsp_sample_value(uint64_t number)
{
    return (void *)(uintptr_t)(jsp_sample_mark() |
                               (number & ((1u << JSP_SAMPLE_NUMBER_BITS) - 1)));
}

/* For sigaction, with SA_SIGINFO. */
void jsp_sample_handle(int sig, siginfo_t *info, void *ucontext);

/* By 1 before the library itself blocks signals of the calling thread, by -1 after it has
 * unblocked them: what waited meanwhile is charged to what the library did it for. */
void jsp_sample_mask(int by);

/* Join and leave the calling thread's list. */
void jsp_sampled_link(struct jsp_sampled *self);
void jsp_sampled_unlink(struct jsp_sampled *self);

/* The calling thread's member of this session, or NULL. */
struct jsp_sampled *jsp_sampled_find(const void *session);

/* The calling thread's members of all sessions begin here; then follow `next`. */
struct jsp_sampled *jsp_sampled_first(void);

/* Is it in the calling thread's list? */
bool jsp_sampled_is_linked(const struct jsp_sampled *self);

/* For who uses the record in the handler's place, on this thread, which is paused
 * meanwhile. False: the handler or somebody else has it. */
bool jsp_sampled_enter(struct jsp_sampled *self);
void jsp_sampled_exit(struct jsp_sampled *self);

/* Is the handler inside? Is somebody between enter and exit? */
bool jsp_sampled_inside(const struct jsp_sampled *self);
bool jsp_sampled_busy(const struct jsp_sampled *self);

/* All frames, VM and native, into self->record. `here`: the caller's own registers,
 * NULL where there is a ucontext. */
void jsp_sampled_frames(struct jsp_sampled *self, const struct jsp_where *where,
                        const struct jsp_regs_core *here);

/* Plan the next point after now, on the thread's clock, under the load of all sessions, as
 * jsp_tick_next has it. Return its moment. */
uint64_t jsp_sampled_expect(struct jsp_sampled *self, uint64_t now_ns, uint64_t load);

/* Set the timer to this moment of the thread's clock. 0 or -1 with errno. */
int jsp_sampled_set_timer(const struct jsp_sampled *self, uint64_t at);

/* All counters at one moment between two signals. False: the thread was inside
 * the handler at every try; *out is not written. */
bool jsp_sampled_counts(struct jsp_sampled *self, struct jsp_counts *out);

void jsp_sampled_pause(struct jsp_sampled *self, int by);

#endif
