/* looker.h - what the tests of the looker share: sessions, sleeps, and what came of the
 * looks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_LOOKER_H
#define JSP_TEST_LOOKER_H

#include "host.h"

/* LONG=1: for 10 s instead of 0.4 s. */
static inline uint64_t faults_ms(void)
{
    const char *is_long = getenv("LONG");
    return is_long && *is_long ? 10000 : 400;
}

static inline jsprof_options faults_options(int clock, uint32_t hz)
{
    jsprof_options options = host_options(hz, clock);
    options.flags |= JSPROF_LOOKER;
    return options;
}

static inline bool faults_begin(struct host *h, int clock, uint32_t hz)
{
    return host_begin_with(h, faults_options(clock, hz), &(jsprof_thread *){ NULL });
}

static inline void faults_sleep_us(long us)
{
    struct timespec left = { us / 1000000, us % 1000000 * 1000 };
    while (nanosleep(&left, &left) < 0)
        continue;
}

/* Return how many looks walked a thread, if almost all of them found its files. */
static inline uint64_t faults_walked(const struct host *h)
{
    unsigned long long n[7] = { 0 };
    CHECK_EQ(sscanf(h->profile.looks, "%llu still, %llu walked, %llu running, %llu waiting, %llu "
                    "woken, %llu moved, %llu gone", &n[0], &n[1], &n[2], &n[3], &n[4], &n[5],
                    &n[6]), 7);
    return n[6] <= n[1] ? n[1] : 0;
}

#endif
