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
 *                     SIGPROF handler   before arming
 *   jsp_timer_set         yes               yes
 *   jsp_timer_turn        yes                -
 *   jsp_timer_sent        yes                -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_TIMER_H
#define JSP_SIGSAFE_TIMER_H

#include "room.h"

struct jsp_timer {
    /* Constant while armed (thread.c, event.c). */
    bool has_event, has_posix;
    timer_t posix;
    int fd;        /* of the event */
    uint64_t id;   /* the kernel's number of the event */

    /* Written by the handler, if there is an event. */
    bool is_event;     /* it brings the signals, and the timer does not */
    uint64_t ran_ns; /* CPU time of the thread when it last took one; 0: it has taken none ... */
    _Atomic uint64_t naps, stops; /* ... and how often it had slept, and was stopped, until then */
    struct rusage used; /* in place of a part of the stack, which may have little room */
};

/* Let the next signal come at this time of the thread's clock, which reads `now_ns`. Return 0, or
 * -1 with errno. */
int jsp_timer_set(const struct jsp_timer *s, uint64_t now_ns, uint64_t at_ns);

/* Choose by the thread's switches since the last call whether the event brings its signals or the
 * timer. `ran_ns` is its CPU time. */
void jsp_timer_turn(struct jsp_timer *s, uint64_t ran_ns);

/* Return true if this is a signal of the event. */
bool jsp_timer_sent(const struct jsp_timer *s, const siginfo_t *info);

#endif
