/* sigsafe/tick.h - when the next sample is due, and how much time a sample represents.
 *
 * A thread's clock is cut into cells of one period, and every cell has one sampling
 * point at a random place. So no program can stay in step with the sampling, whatever
 * its own period, and the rate is still exactly the requested one. The points of 16
 * consecutive samples fall into 16 different sixteenths of their cells, in random
 * order. A program still cannot keep in step, and a program that does the same in every
 * cell is sampled evenly. The weight of a sample is the number of points that passed
 * since the last signal; it is above 1 if the signal comes late. The cell in which it
 * comes is counted once its own point has passed, so a time that ends anywhere in a
 * cell has, on average, as many points as its length.
 *
 * A looker has one for all threads, on the elapsed time; it alone uses it, so it may call
 * every function.
 *
 *                    SIGPROF handler   before arming   after disarming
 *   jsp_tick_random        yes              yes             yes
 *   jsp_tick_init           -               yes              -
 *   jsp_tick_weigh         yes               -               -
 *   jsp_tick_spent         yes               -               -
 *   jsp_tick_next          yes              yes              -
 *   jsp_tick_over          yes               -               -
 *   jsp_tick_passed        yes               -              yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_TICK_H
#define JSP_SIGSAFE_TICK_H

#include "room.h"

enum {
    JSP_TICK_STRATA = 16,
    JSP_TICK_SHARE = 4,      /* samples may take 1/4 of a thread's time */
    JSP_TICK_WHOLE = 1 << 16, /* a load of 100 % */
    /* The least cost of a sample. Most of it is in the kernel, where we cannot measure
     * it. One session of 10 kHz must still be allowed. */
    JSP_TICK_LEAST_NS = 24000,
    JSP_TICK_MOST = 1000,    /* cells that may be skipped */
};

struct jsp_tick {
    uint64_t period_ns;
    uint64_t base_ns; /* start of cell 0 on the thread's clock */
    uint64_t cell;    /* the first cell whose point was not counted */
    uint64_t due_cell, due_ns; /* the next point; UINT64_MAX: no cell has one yet */
    uint64_t random;  /* never 0 */
    uint64_t cost_ns; /* of the last sample */
    /* share of the time that one sample in every cell takes, of JSP_TICK_WHOLE */
    uint64_t load;
    uint8_t strata[JSP_TICK_STRATA]; /* a permutation; [0, n_strata) are not drawn yet */
    uint32_t n_strata;
};

/* Return the next random number of a sequence. `state` is never 0. */
uint64_t jsp_tick_random(uint64_t *state);

/* Begin the cells now. `seed` is mixed, so any value will do. */
void jsp_tick_init(struct jsp_tick *tick, uint64_t period_ns, uint64_t now_ns, uint64_t seed);

/* Return the weight of a sample taken now: the points that passed, at least 1. */
uint32_t jsp_tick_weigh(struct jsp_tick *tick, uint64_t now_ns);

/* Return the number of points that have passed since the last counted one, and count
 * them. */
uint32_t jsp_tick_passed(struct jsp_tick *tick, uint64_t now_ns);

/* Note the cost of a sample. The load comes from the smaller of the last two costs:
 * one sample alone may have been interrupted itself, while other threads had the
 * processor. */
void jsp_tick_spent(struct jsp_tick *tick, uint64_t cost_ns);

/* Return how many cells to skip under this load, so that samples take a quarter of the time
 * at most. */
uint64_t jsp_tick_over(uint64_t load);

/* Return when the next point after now is due, on the thread's clock. `load` is the load
 * of all sessions that sample the thread. If it is high, every session skips cells, so
 * that all of them together take a quarter of the time at most; the next sample's weight
 * includes the skipped cells. */
uint64_t jsp_tick_next(struct jsp_tick *tick, uint64_t now_ns, uint64_t load);

#endif
