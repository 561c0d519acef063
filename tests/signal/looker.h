/* looker.h - what the tests of the looker share: sessions, sleeps, and what came of the
 * looks.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_LOOKER_H
#define JSP_TEST_LOOKER_H

#include "host.h"

static inline jsprof_options faults_options(int clock, uint32_t hz)
{
    jsprof_options options = host_options(hz, clock);
    host_choose(&options, "looker");
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

/* Return how many looks came to this, such as "walked". */
static inline uint32_t faults_looks(const struct host *h, const char *what)
{
    const char *at = strstr(h->profile.looks, what);
    while (at && at > h->profile.looks && at[-1] != ',')
        at--;
    return at ? (uint32_t)atoi(at) : UINT32_MAX;
}

#endif
