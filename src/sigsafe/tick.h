/* sigsafe/tick.h - when the next sample is due, and how much time this one stands for.
 *
 * A thread's clock is cut into cells of one period, and every cell has one sampling
 * point at a random place in it: whatever period the program has, it can not stay
 * in step with us, and the rate is still exactly the one asked for. Of 16 samples
 * each falls into another sixteenth of its cell, in random order: still no step that
 * a program could keep, but one that does the same in every cell is seen evenly. A
 * signal that comes late stands for all the cells that went by: that is its weight.
 *
 *                    SIGPROF handler   before arming
 *   jsp_tick_init           -               yes
 *   jsp_tick_weigh         yes               -
 *   jsp_tick_next          yes              yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_TICK_H
#define JSP_SIGSAFE_TICK_H

#include "room.h"

enum { JSP_TICK_STRATA = 16, JSP_TICK_SHARE = 4, JSP_TICK_MOST = 1000 };

struct jsp_tick {
    uint64_t period_ns;
    uint64_t base_ns; /* start of cell 0 on the thread's clock */
    uint64_t cell;    /* the one of the last sample, counted from 1; 0: none yet */
    uint64_t random;  /* never 0 */
    uint64_t cost_ns; /* of the sample before the last */
    uint8_t strata[JSP_TICK_STRATA]; /* a permutation; [0, n_strata) are not used yet */
    uint32_t n_strata;
};

/* The cells begin now; `seed` is mixed, any value will do. */
void jsp_tick_init(struct jsp_tick *tick, uint64_t period_ns, uint64_t now_ns, uint64_t seed);

/* A sample is taken now: how many cells does it stand for? At least 1. */
uint32_t jsp_tick_weigh(struct jsp_tick *tick, uint64_t now_ns);

/* When the next one is due, on the thread's clock. The last one cost so much: where
 * samples are dear, cells are passed over, so that at most a quarter of the time goes
 * to them; the next one's weight tells. It takes two in a row: one alone may have been
 * interrupted itself, for as long as other threads had the processor. */
uint64_t jsp_tick_next(struct jsp_tick *tick, uint64_t cost_ns);

#endif
