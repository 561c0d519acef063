/* sigsafe/delay.h - take the sample a moment after the looker's signal has come.
 *
 * The looker sends its signal from another processor. The signal arrives 5 to 30 us later, or at
 * the end of the next system call or page fault, if that is earlier: so a short system call would
 * collect what ran before it. For this reason the looker's signal only sets a timer of the elapsed
 * time to a random moment, and the timer's signal brings the sample. That timer expires on the
 * thread's own processor, so its signal comes without a delay.
 *
 * The least delay is longer than the handler takes to return. A thread that falls asleep within the
 * delay would be interrupted, so the delay is a small part of the thread's usual turn between two
 * sleeps. If turns are so short that no delay is small enough, the looker's signal is the sample.
 *
 * The timer goes on while the thread waits for a processor. Its signal then comes where the thread
 * lost its processor, often at the end of a system call. So the timer is set once more, after the
 * thread has run again, a few times at most.
 *
 *                    SIGPROF handler
 *   jsp_delay_most_ns      yes
 *   jsp_delay_begin        yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_DELAY_H
#define JSP_SIGSAFE_DELAY_H

#include "hidden.h"
#include "sample.h"

enum {
    JSP_DELAY_LEAST_NS = 20000,
    JSP_DELAY_MOST_NS = 220000,
    JSP_DELAY_TURNS = 16,   /* a delay is a 16th of a turn at most: few reach into a sleep ... */
    JSP_DELAY_PERIODS = 4,  /* ... and a quarter of a period: most samples come one by one */
    JSP_DELAY_LATE_NS = 20000, /* a signal as late has waited for something */
    JSP_DELAY_SETS = 4,        /* set the timer so often for one sample */
};

/* Return the longest delay of a thread that has gone to sleep `naps` times in all, and has run for
 * `ran_ns`; 0: the sample is to be taken at once. */
static inline uint64_t jsp_delay_most_ns(struct jsp_delay *d, uint64_t period_ns, uint64_t naps,
                                         uint64_t ran_ns)
{
    uint64_t least = 2 * JSP_DELAY_LEAST_NS, most = period_ns / JSP_DELAY_PERIODS;
    uint64_t by = ran_ns - d->ran_ns;
    most = most < JSP_DELAY_MOST_NS ? most : JSP_DELAY_MOST_NS;
    most = most > least ? most : least;
    d->turn_ns = naps == d->naps ? d->turn_ns + by : by / (naps - d->naps);
    d->naps = naps;
    d->ran_ns = ran_ns;
    most = d->turn_ns / JSP_DELAY_TURNS < most ? d->turn_ns / JSP_DELAY_TURNS : most;
    return most >= least ? most : 0;
}

/* Let the sample of this arrival come later. Return false if it is to be taken now. */
bool jsp_delay_begin(struct jsp_sampled *self, const struct jsp_arrival *a);

#endif
