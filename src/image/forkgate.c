/* image/forkgate.c - see forkgate.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "forkgate.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { FORKGATE_WAIT_NS = 50000, FORKGATE_WAITS = 20000 };

static _Atomic uint32_t forkgate_closed;     /* forks under way, in all threads */
static _Atomic uint32_t forkgate_inside;     /* walks under way */
static _Thread_local uint32_t forkgate_mine; /* forks of this thread */

void jsp_forkgate_close(void)
{
    static const struct timespec moment = { 0, FORKGATE_WAIT_NS };
    forkgate_mine++;
    /* G1. ORDER: seq_cst, with `inside` below. Either the walker sees the closed gate, or
     * this thread sees the walker. */
    atomic_fetch_add_explicit(&forkgate_closed, 1, memory_order_seq_cst);
    for (int i = 0; i < FORKGATE_WAITS; i++) {
        /* ORDER: seq_cst, see G1. */
        if (!atomic_load_explicit(&forkgate_inside, memory_order_seq_cst))
            return;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    }
}

void jsp_forkgate_open(void)
{
    forkgate_mine--;
    /* ORDER: relaxed. A walker that sees the change late tries again later. */
    atomic_fetch_sub_explicit(&forkgate_closed, 1, memory_order_relaxed);
}

void jsp_forkgate_in_child(void)
{
    /* ORDER: relaxed, both. The process has one thread. */
    atomic_store_explicit(&forkgate_inside, 0, memory_order_relaxed);
    /* ORDER: relaxed, as above. */
    atomic_store_explicit(&forkgate_closed, forkgate_mine, memory_order_relaxed);
}

bool jsp_forkgate_is_closed(void)
{
    /* ORDER: seq_cst, see G1. */
    return atomic_load_explicit(&forkgate_closed, memory_order_seq_cst) > forkgate_mine;
}

bool jsp_forkgate_enter(void)
{
    /* ORDER: seq_cst, see G1. */
    atomic_fetch_add_explicit(&forkgate_inside, 1, memory_order_seq_cst);
    if (!jsp_forkgate_is_closed())
        return true;
    jsp_forkgate_leave();
    return false;
}

void jsp_forkgate_leave(void)
{
    /* ORDER: release, pairs with the load in close: the walker has released the loader's
     * lock. */
    atomic_fetch_sub_explicit(&forkgate_inside, 1, memory_order_release);
}
