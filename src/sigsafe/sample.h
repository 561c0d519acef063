/* sigsafe/sample.h - one thread of one session, and the handler that samples it.
 *
 * The handler finds its thread through a thread-local list and the number that the timer
 * carries, never through a pointer in the signal: a signal may arrive after its thread's
 * memory is gone. `seq` is odd while the handler is inside, so that another thread can
 * wait for it, or read all counters of one moment. A backtrace on demand has a flag of
 * its own, because its duration has no bound.
 *
 * The handler's column is also that of jsp_backtrace in a handler of the host's, and of
 * the handler that takes the place of the drain: see session/alone/alone.h.
 *
 *                      handler   owner thread   session, drain
 *   jsp_counts_add        -           -              yes
 *   jsp_counts_subtract   -           -              yes
 *   jsp_sample_handle    yes          -               -
 *   jsp_sample_mask       -          yes              -
 *   jsp_sampled_link      -          yes              -
 *   jsp_sampled_unlink    -          yes              -
 *   jsp_sampled_find      -          yes              -
 *   jsp_sampled_first    yes         yes              -
 *   jsp_sampled_is_linked  -         yes              -
 *   jsp_sampled_counts    -          yes             yes
 *   jsp_sampled_expect   yes          -              yes, to arm
 *   jsp_sampled_take_owed  yes        -              yes, disarmed
 *   jsp_sampled_put       -           -         the looker
 *   jsp_sampled_ask       -           -         the looker
 *   jsp_sampled_offer     -           -         the looker
 *   jsp_sampled_unask     -           -         the looker
 *   jsp_sampled_accept    -           -         the looker
 *   jsp_sampled_pause    yes         yes              -
 *   jsp_sampled_wait_begin  -        yes              -
 *   jsp_sampled_wait_end  -          yes              -
 *   jsp_sampled_note_wait  yes        -               -
 *   jsp_sampled_enter    yes         yes              -
 *   jsp_sampled_exit     yes         yes              -
 *   jsp_sampled_push      -          yes              -
 *   jsp_sampled_seize    yes          -               -
 *   jsp_sampled_restore  yes          -               -
 *   jsp_sampled_inside    -           -              yes
 *   jsp_sampled_busy      -           -              yes
 *   jsp_sampled_frames   yes         yes              -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_SAMPLE_H
#define JSP_SIGSAFE_SAMPLE_H

#include "alloc.h"
#include "ask.h"
#include "base/clocks.h"
#include "base/losses.h"
#include "levels.h"
#include "merge.h"
#include "ring.h"
#include "running.h"
#include "tags.h"
#include "tick.h"
#include "timer.h"
#include "unwind.h"
#include "vmstack.h"

/* Counters of timer expirations; see jsprof_stats. */
struct jsp_counts {
    uint64_t expirations;
    uint64_t lost[JSP_N_LOSSES]; /* by enum jsp_loss */
    uint64_t frames_cut, frames_bad, labels_cut, underflows;
    uint64_t handler_ns;
    uint64_t alloc_bytes, alloc_lost, alloc_untold; /* see jsp_alloc */
    struct jsp_tags_counts tags;
    uint64_t stops[JSP_N_STOPS]; /* native walks by how they ended: enum jsp_unwind_stop */
    uint64_t ring_tail; /* these counts include all records below it */
    uint64_t due_ns;    /* the next expiration, which these counts do not include */
};

/* Add `c` to `sum`, except ring_tail and due_ns, which have no sum. */
void jsp_counts_add(struct jsp_counts *sum, const struct jsp_counts *c);

/* Subtract `c` from `sum`, except ring_tail and due_ns. */
void jsp_counts_subtract(struct jsp_counts *sum, const struct jsp_counts *c);

enum { JSP_PRINTED = 128 }; /* frames of a printed backtrace */

/* The looker sleeps, and has asked the next tick that meets the thread for a sample. The handler
 * takes up the question, before it begins, and stores a sample without a weight, which the looker
 * decides. */
enum jsp_offer { JSP_OFFER_NONE, JSP_OFFER_ASKED, JSP_OFFER_TAKEN, JSP_OFFER_MADE };

/* The place where the thread switched from a C stack to one that it resumed; see resume.h. */
struct jsp_resumer {
    const jsprof_cstack *stack; /* NULL: the thread's own */
    bool known;
    /* registers of the function that called jsprof_stack_switch */
    struct jsp_regs_core at;
};

/* What puts samples off under the looker; see delay.h. */
struct jsp_delay {
    /* Constant while armed (thread.c). */
    bool has_timer;
    timer_t timer;   /* of the elapsed time */

    /* Written by the handler. */
    bool is_set;     /* the timer will bring the sample, at owed_ns of struct jsp_sampled */
    uint32_t n_set;  /* how often it was set for this sample */
    uint64_t most_ns; /* the longest delay of this sample */
    uint64_t naps;   /* how often the thread had gone to sleep at the last signal ... */
    uint64_t ran_ns; /* ... and its CPU time then */
    uint64_t turn_ns; /* its CPU time since its last sleep, about, or between two of them */
    uint64_t stops;  /* how often it had lost its processor when the timer was set */
    /* samples of a thread that ran, which were taken at the looker's signal */
    _Atomic uint64_t n_prompt;
};

struct jsp_sampled {
    jsprof_thread own; /* first: the part that the host sees */

    /* Written by the owner thread. */
    struct jsp_sampled *next;  /* other sessions on the same thread */
    volatile uint32_t paused;  /* nesting depth */
    volatile uint32_t waits;   /* the same of waits that the host reported */
    const char *volatile waits_for; /* borrowed while waits is not 0; may be NULL */
    /* borrowed; NULL: the thread is on its own stack */
    const jsprof_cstack *volatile cstack;
    /* bounds of the coroutine stack that it left last; 0: none */
    uintptr_t left_low, left_high;
    /* by depth: the thread's own stack first */
    struct jsp_resumer resumers[JSP_LEVELS_MAX];

    /* Written by the thread that arms and disarms, under the session's lock. */
    _Atomic bool armed;
    _Atomic bool is_looked; /* the looker sends the signals, see owed; there is no timer */
    /* `timer`, an event, counts the time that it runs; the looker counts the other, and sends a
     * signal for it where it must */
    bool is_observed;
    struct jsp_timer timer;
    enum jsp_clock clock; /* its expirations count time of this clock */
    _Atomic int signo;
    void (*handler)(int sig, siginfo_t *info, void *ucontext); /* ours, to compare with */
    uint64_t number;           /* part of the signal's value; see jsp_sample_value */
    /* the session saw that the signal due at this time was withheld */
    _Atomic uint64_t hidden_ns;
    _Atomic bool settled; /* an expiration was counted whose signal may still arrive */
    const void *session;       /* only compared, never read */
    /* the session must not be read any more; see B1 in backtrace.c */
    _Atomic bool closed;
    /* The handler calls this after each sample. The function itself must check which calls
     * are allowed there. NULL: none. */
    void (*drain_sigsafe)(struct jsp_sampled *self, const void *ucontext);

    /* Written by the handler; and by the looker, while no signal is under way: see
     * jsp_sampled_put. */
    alignas(JSP_CACHELINE) _Atomic uint32_t seq; /* odd: inside */
    _Atomic bool is_inside; /* this thread is in the handler, which uses the record */
    _Atomic uint64_t expirations, lost[JSP_N_LOSSES]; /* by enum jsp_loss */
    _Atomic uint64_t handler_ns;
    _Atomic uint64_t due_ns; /* the tick's, for threads that look from outside */
    /* the elapsed time at which `owed` became nonzero, or to which the handler has put the sample
     * off; UINT64_MAX: `owed` is 0 */
    _Atomic uint64_t owed_ns;
    /* for the looker: system calls that its signals interrupted, and of which the host does not
     * know because they were made again */
    _Atomic uint64_t n_cut_calls, n_again_calls;
    /* for the looker: cells without a signal after each sample */
    _Atomic uint32_t rest;
    uint64_t last_ns[JSP_N_CLOCKS]; /* each clock at the last arrival */
    struct jsp_rec_state met; /* `told` of the signal that is being handled, and its waits */
    uint32_t met_waited;
    bool met_awake;
    struct jsp_delay delay;  /* under the looker */
    struct jsp_tick tick;
    struct jsp_vmstack vm;
    struct jsp_names names;
    struct jsp_unwinder unwinder;
    /* Borrowed: where the session publishes its map; NULL: record VM frames only. */
    struct jsp_unwind_map *_Atomic *map;
    struct jsp_ask *ask;       /* borrowed together with `map` */
    struct jsp_record *record; /* borrowed, room for max_depth frames of each kind */
    uint32_t empty_id;         /* "[no VM frame]" */
    uint32_t cut_native_id;    /* "[C frames cut]" */

    /* Added to by the looker, taken by the handler: the weight of the next sample. While it
     * is not 0, a signal is under way. */
    alignas(JSP_CACHELINE) _Atomic uint64_t owed;
    /* Written by the looker before `owed` becomes nonzero: what the thread was doing. */
    struct jsp_rec_state told;
    bool told_awake; /* it ran, and was not about to wake up */
    uint64_t told_ran_ns; /* its CPU clock, a moment before */
    _Atomic uint32_t offer; /* enum jsp_offer: asked by the looker, made by the handler */
    /* By the looker before it asks, when the thread's timer is due; by the handler before it makes
     * the offer, each clock at the sample, and what counts it (NULL: it is in the ring). */
    uint64_t offer_ns[JSP_N_CLOCKS];
    _Atomic uint64_t *offer_loss;
    /* Added to by the looker before the same is added to `owed`: waits for a processor. */
    _Atomic uint64_t waited;

    /* Written by jsprof_backtrace. */
    _Atomic bool busy;         /* the owner thread is inside jsprof_backtrace */
    struct jsp_merged *merged; /* borrowed, room for max_depth frames of each kind */
    jsprof_backtrace_frame printed[JSP_PRINTED];

    struct jsp_ring ring;
    struct jsp_alloc alloc;
    struct jsp_running running; /* written by the owner thread */
    struct jsp_tags tags;       /* the same */
};

/* The number in the value of the timer's signal. No thread has it, so the handler takes the signal
 * for no other timer's. */
enum { JSP_DELAY_NUMBER = 0 };

/* Added to a thread's number in the value of its own timer's signal, if it has an event as well:
 * the looker's signals have the number alone. */
enum { JSP_SAMPLE_OWN = 1 << 27 };

/* A signal handler in one of its two forms; both NULL: none. */
struct jsp_sample_owner {
    void (*action_sigsafe)(int sig, siginfo_t *info, void *ucontext);
    void (*plain_sigsafe)(int sig);
};

/* The receivers of signals that are not ours: `before` is the handler that was installed
 * before us. If that handler was later installed on top of us and passes signals on to us
 * in turn, `below` is the handler that was installed before it. */
struct jsp_sample_chain {
    struct jsp_sample_owner before, below;
    /* the host has set SIG_DFL meanwhile: call neither of them any more */
    _Atomic bool is_reset;
};
extern struct jsp_sample_chain jsp_sample_chain[]; /* by signal number, _NSIG of them */

enum { JSP_SAMPLE_NUMBER_BITS = 28 };

/* Return true if the looker samples the thread, and no timer does. */
static inline bool jsp_sampled_is_looked(const struct jsp_sampled *self)
{
    /* ORDER: relaxed. It changes while the thread is disarmed; a late signal may come then. */
    return atomic_load_explicit(&self->is_looked, memory_order_relaxed);
}

/* Return when the expiration is due that is to come, by the clock that counts it: the elapsed time
 * under the looker; UINT64_MAX: none is under way. */
static inline uint64_t jsp_sampled_due_ns(const struct jsp_sampled *self)
{
    return jsp_counted(jsp_sampled_is_looked(self) ? &self->owed_ns : &self->due_ns);
}

/* Return the part that all signal values of this copy of the library share. Another
 * copy in the process (one linked in, one in a plugin) has its variables at other
 * addresses. */
static inline uint64_t jsp_sample_mark(void)
{
    uint64_t copy = (uint64_t)(uintptr_t)jsp_sample_chain * 0x9E3779B97F4A7C15u >> 44;
    return 0x6A73ull << 48 | copy << JSP_SAMPLE_NUMBER_BITS;
}

/* Return the value that a thread's signals carry, by which the handler recognizes them. */
static inline void *jsp_sample_value(uint64_t number)
{
    return (void *)(uintptr_t)(jsp_sample_mark() |
                               (number & ((1u << JSP_SAMPLE_NUMBER_BITS) - 1)));
}

/* Store the time at which the looker sends this signal, and return it. It takes the place of
 * the sender's process and user. */
static inline void jsp_sample_set_sent_ns(siginfo_t *info, uint64_t at_ns)
{
    info->si_pid = (pid_t)(uint32_t)at_ns;
    info->si_uid = (uid_t)(at_ns >> 32);
}

/* Return the time that jsp_sample_set_sent_ns stored in this signal. */
static inline uint64_t jsp_sample_sent_ns(const siginfo_t *info)
{
    return (uint64_t)info->si_uid << 32 | (uint32_t)info->si_pid;
}

/* The signal handler, for sigaction with SA_SIGINFO. */
void jsp_sample_handle(int sig, siginfo_t *info, void *ucontext);

/* Call this with 1 before the library itself blocks signals of the calling thread, and
 * with -1 after it has unblocked them. Expirations that waited meanwhile are charged to
 * the library's call, such as fork, and not counted as blocked. */
void jsp_sample_mask(int by);

/* Add this member to the calling thread's list. */
void jsp_sampled_link(struct jsp_sampled *self);

/* Remove this member from the calling thread's list. Without effect if it is not in it. */
void jsp_sampled_unlink(struct jsp_sampled *self);

/* Return the calling thread's member of this session, or NULL. */
struct jsp_sampled *jsp_sampled_find(const void *session);

/* Return the first of the calling thread's members of all sessions; `next` leads to the
 * others. */
struct jsp_sampled *jsp_sampled_first(void);

/* Return true if `self` is in the calling thread's list. `self` may be freed memory. */
bool jsp_sampled_is_linked(const struct jsp_sampled *self);

/* Reserve the record for a caller other than the handler, on this thread, and pause the
 * thread until exit. Return false if the handler or another caller uses the record. */
bool jsp_sampled_enter(struct jsp_sampled *self);

/* Give the record back after jsp_sampled_enter, and end the pause. */
void jsp_sampled_exit(struct jsp_sampled *self);

/* Append a record to the ring, between enter and exit. Return false if there is no room, or if
 * the looker is stopped while it appends one. */
bool jsp_sampled_push(struct jsp_sampled *self, const struct jsp_record *record);

/* Take the record from the sample or the caller that a fault interrupted, and give it back: what
 * it held is overwritten. */
struct jsp_seized {
    bool is_inside, busy;
};

/* Take the record from the sample or the caller that a fault interrupted: what it held is
 * overwritten. Return who had it, for restore. */
struct jsp_seized jsp_sampled_seize(struct jsp_sampled *self);

/* Give the seized record back to what had it. */
void jsp_sampled_restore(struct jsp_sampled *self, struct jsp_seized was);

/* Return true if the handler is inside. */
bool jsp_sampled_inside(const struct jsp_sampled *self);

/* Return true if a caller is between enter and exit, or inside a function of tasks. */
bool jsp_sampled_busy(const struct jsp_sampled *self);

/* Store all frames, VM and native, in self->record. `here` holds the caller's own
 * registers; it is NULL if there is a ucontext. */
void jsp_sampled_frames(struct jsp_sampled *self, const struct jsp_where *where,
                        const struct jsp_regs_core *here);

/* Plan the next sampling point after now, on the thread's clock, under the load of all
 * sessions, like jsp_tick_next. Return its time. */
uint64_t jsp_sampled_expect(struct jsp_sampled *self, uint64_t now_ns, uint64_t load);

/* Return the expirations that the looker counted for the next sample, and count none of them
 * again. */
uint32_t jsp_sampled_take_owed(struct jsp_sampled *self);

enum jsp_put {
    JSP_PUT_KEPT,
    JSP_PUT_LOST, /* counted, but the ring is full, or the thread is paused */
    JSP_PUT_BUSY, /* the handler may be inside, or a signal is under way: nothing happened */
};

/* Append a sample that the looker took when the thread's CPU clock was `ran_ns`, and count its
 * expirations: on the thread as it is, or paused, or disarmed, so that no handler will
 * begin. */
enum jsp_put_as { JSP_PUT_ARMED, JSP_PUT_PAUSED, JSP_PUT_DISARMED };
enum jsp_put jsp_sampled_put(struct jsp_sampled *self, struct jsp_record *record,
                             uint64_t ran_ns, enum jsp_put_as as);

/* Ask the handler for a sample at the thread's next signal of a timer, which is due at this
 * time of its CPU clock. */
void jsp_sampled_ask(struct jsp_sampled *self, uint64_t due_ns);

/* Return what has come of the question. */
enum jsp_offer jsp_sampled_offer(const struct jsp_sampled *self);

/* Withdraw the question. Return false if a handler has taken it up. */
bool jsp_sampled_unask(struct jsp_sampled *self);

/* Give the sample that was offered this weight, and count it, like jsp_sampled_put. 0: nobody
 * needs it. */
enum jsp_put jsp_sampled_accept(struct jsp_sampled *self, uint32_t weight, enum jsp_put_as as);

/* Read all counters at one moment between two signals. Return false, with *out unchanged, if
 * the thread was inside the handler at every try. */
bool jsp_sampled_counts(struct jsp_sampled *self, struct jsp_counts *out);

/* Add `by` to the nesting depth of pauses: 1 or -1. A depth of 0 is never decreased. */
void jsp_sampled_pause(struct jsp_sampled *self, int by);

/* Note that the host waits for something of this name, until jsp_sampled_wait_end. Nothing
 * happens on another thread, even if `self` is freed memory. */
void jsp_sampled_wait_begin(struct jsp_sampled *self, const char *what);

/* Note that the host waits no longer. Nothing happens on another thread, even if `self` is
 * freed memory. */
void jsp_sampled_wait_end(struct jsp_sampled *self);

/* Store in self->record the state that the host reported: a wait, or not known. */
void jsp_sampled_note_wait(struct jsp_sampled *self);

#endif
