/* sigsafe/tick.h - when the next sample is due, and how much time this one stands for.
 *
 * A thread's clock is cut into cells of one period, and every cell has one sampling
 * point at a random place in it: whatever period the program has, it can not stay
 * in step with us, and the rate is still exactly the one asked for. Of 16 samples
 * each falls into another sixteenth of its cell, in random order: still no step that
 * a program could keep, but one that does the same in every cell is seen evenly. A
 * signal that comes late stands for all the points that went by: that is its weight.
 * The cell that it comes in is counted when its own point has passed, so a time that
 * ends anywhere in a cell has as many points as it is long, on average.
 *
 *                    SIGPROF handler   before arming   after disarming
 *   jsp_tick_init           -               yes              -
 *   jsp_tick_weigh         yes               -               -
 *   jsp_tick_spent         yes               -               -
 *   jsp_tick_next          yes              yes              -
 *   jsp_tick_passed        yes               -              yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_TICK_H
#define JSP_SIGSAFE_TICK_H

#include "room.h"

enum {
    JSP_TICK_STRATA = 16,
    JSP_TICK_SHARE = 4,      /* one part in so many of a thread's time may go to samples */
    JSP_TICK_WHOLE = 1 << 16, /* all of its time, as a load */
    JSP_TICK_LEAST_NS = 24000, /* a sample costs so much at least: most of it is in the kernel,
                                * and we do not see it. One session of 10 kHz may go on. */
    JSP_TICK_MOST = 1000,    /* cells passed over */
};

struct jsp_tick {
    uint64_t period_ns;
    uint64_t base_ns; /* start of cell 0 on the thread's clock */
    uint64_t cell;    /* the first whose point was not counted */
    uint64_t due_cell, due_ns; /* the next point; UINT64_MAX: no cell has one yet */
    uint64_t random;  /* never 0 */
    uint64_t cost_ns; /* of the last sample */
    uint64_t load;    /* what a sample in every cell takes of the time, of JSP_TICK_WHOLE */
    uint8_t strata[JSP_TICK_STRATA]; /* a permutation; [0, n_strata) are not used yet */
    uint32_t n_strata;
};

/* The cells begin now; `seed` is mixed, any value will do. */
void jsp_tick_init(struct jsp_tick *tick, uint64_t period_ns, uint64_t now_ns, uint64_t seed);

/* A sample is taken now: how many points does it stand for? At least 1. */
uint32_t jsp_tick_weigh(struct jsp_tick *tick, uint64_t now_ns);

/* Count the points that have passed since the last that were counted. */
uint32_t jsp_tick_passed(struct jsp_tick *tick, uint64_t now_ns);

/* The sample took so long. It takes two in a row to make the load: one alone may have been
 * interrupted itself, for as long as other threads had the processor. */
void jsp_tick_spent(struct jsp_tick *tick, uint64_t cost_ns);

/* When the next one after now is due, on the thread's clock. `load` is that of all sessions which
 * sample the thread. Where it is high every one of them passes over cells, so that all of
 * them together take a quarter of the time at most; the next sample's weight counts them. */
uint64_t jsp_tick_next(struct jsp_tick *tick, uint64_t now_ns, uint64_t load);

#endif
