/* sigsafe/timer.h - what brings a thread's signals: a timer, or an event of the kernel's that
 * counts the thread's CPU time (perf_event's task clock).
 *
 * A timer of CPU time expires with the scheduler's tick. An event comes when it is due, on the
 * thread's own processor, also while the thread is in the kernel. Both go on if nobody sets them:
 * a lost signal (SIG_IGN for a moment) must not be the last one.
 *
 * An event costs at each switch of the thread: the kernel sets the processor's timer for it, some
 * us in a virtual machine. So a thread that switches often has a timer of its CPU time, too, which
 * takes its place; and the event comes back when the thread switches seldom.
 *
 * If the event comes in user code alone, one that is due in the kernel brings no signal, and the
 * kernel tries again after as long. Then each signal of the event has one point, and the other
 * points are of time in the kernel. Beside the event a timer expires with each tick; one that finds
 * the thread at the end of a system call takes those points. A page fault looks like other
 * code, so any tick takes many of them. Beside other events, the timer expires seldom. It
 * finds out whether the host has closed the event's descriptor, and then takes its place.
 *
 *                     SIGPROF handler   before arming
 *   jsp_timer_set         yes               yes
 *   jsp_timer_ticks       yes               yes
 *   jsp_timer_draw        yes               yes
 *   jsp_timer_turn        yes                -
 *   jsp_timer_lose        yes                -
 *   jsp_timer_sent        yes                -
 *   jsp_timer_is_tick     yes                -
 *   jsp_timer_points      yes                -
 *   jsp_timer_cpu_ns      yes                -
 *   jsp_timer_left         -       after disarming
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_TIMER_H
#define JSP_SIGSAFE_TIMER_H

#include "tick.h"

struct jsp_timer {
    /* Constant while armed (thread.c, event.c). */
    bool has_event, has_posix;
    bool is_user;  /* the event brings no signal in the kernel */
    timer_t posix;
    int fd;        /* of the event */
    uint64_t id;   /* the kernel's number of the event */

    /* Before arming, and then by the handler, if there is an event. */
    bool is_event;      /* it brings the signals, beside which the timer ticks */
    uint32_t n_due;     /* points of its next signal, in user code alone */
    uint64_t within_ns; /* where in its cell that is, which is a period */
    uint64_t ticked_ns; /* CPU time of the last tick */

    /* By the handler. */
    bool is_lost;      /* the host has closed the event's descriptor */
    uint32_t n_turns;  /* calls of jsp_timer_turn */
    int64_t in_kernel; /* points of time in the kernel; below 0: a signal came before its point */
    uint64_t left_ns;  /* CPU time of these points */
    uint64_t ran_ns; /* CPU time of the thread when it last took one; 0: it has taken none ... */
    _Atomic uint64_t naps, stops; /* ... and how often it had slept, and was stopped, until then */
    struct rusage used; /* in place of a part of the stack, which may have little room */
};

/* Let the next signal come at this time of the thread's clock, which reads `now_ns`. Return 0, or
 * -1 with errno. */
int jsp_timer_set(const struct jsp_timer *s, uint64_t now_ns, uint64_t at_ns);

/* Let the timer expire beside the event. Return 0, or -1 with errno. */
int jsp_timer_ticks(const struct jsp_timer *s);

/* Choose by the thread's switches whether the event brings its signals or the timer. `ran_ns` is
 * its CPU time. Where the looker observes it, too, it wants to know of each sample how often the
 * thread had slept. */
void jsp_timer_turn(struct jsp_timer *s, uint64_t ran_ns, bool is_observed);

/* Return true if this is a signal of the event. */
bool jsp_timer_sent(const struct jsp_timer *s, const siginfo_t *info);

/* Return true if this signal of the thread's own is the timer's, beside the event. */
static inline bool jsp_timer_is_tick(const struct jsp_timer *s, const siginfo_t *info)
{
    return s->is_event && info->si_code == SI_TIMER;
}

/* Given a tick: return true if the host has closed the event's descriptor. The timer takes its
 * place, and the caller sets it. */
bool jsp_timer_lose(struct jsp_timer *s);

/* How a signal has found the thread. */
enum jsp_timer_met {
    JSP_TIMER_DUE,    /* the signal that was due */
    JSP_TIMER_CALL,   /* a tick, at the end of a system call */
    JSP_TIMER_CODE,   /* a tick, anywhere else */
    JSP_TIMER_HIDDEN, /* either, and it was withheld until now */
};

/* Return when an event in user code alone is due next, under the load of all sessions. It has cells
 * of its own, as the points have (tick.h), which tries in the kernel have moved. */
uint64_t jsp_timer_draw(struct jsp_timer *s, struct jsp_tick *tick, uint64_t now_ns,
                        uint64_t load);

/* Given the points that have passed since the last call, return those of this sample; 0: there is
 * none. */
uint32_t jsp_timer_points(struct jsp_timer *s, enum jsp_timer_met met, uint32_t passed,
                          uint64_t period_ns);

/* Return the points that no sample has. `passed` have passed since the last one. */
static inline uint32_t jsp_timer_left(const struct jsp_timer *s, uint32_t passed)
{
    int64_t left = s->in_kernel + passed;
    return left > 0 ? (uint32_t)left : 0;
}

/* Return the CPU time of this sample, whose points take `points_ns`: while points are left, so is
 * the rest of the time. `ran_ns` has passed since the last sample. */
uint64_t jsp_timer_cpu_ns(struct jsp_timer *s, uint64_t ran_ns, uint64_t points_ns);

#endif
