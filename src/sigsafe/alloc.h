/* sigsafe/alloc.h - samples of allocations, taken by the thread that allocates.
 *
 * Every byte that a host reports is sampled with the same small probability, so the distances
 * between sampled bytes are exponential and independent of sizes. An allocation is sampled if
 * one of its bytes is. So a block of s bytes is sampled with probability 1 - exp(-s / every),
 * and represents s divided by that.
 *
 * The table holds the sampled blocks that are not freed yet. All threads of a session share it
 * without locks: a slot belongs to the thread that changed its `block` from 0 to JSP_ALLOC_BUSY,
 * or to the thread that frees that block. `homes` counts the blocks by the slot at which a
 * search begins, which are never more than the slots of one search. The host's inline code reads
 * it, and calls the library only where it is not 0.
 *
 *                       owner thread   session, drain
 *   jsp_alloc_open           -              yes
 *   jsp_alloc_sample        yes              -
 *   jsp_alloc_freed         yes              -
 *   jsp_alloc_moved         yes              -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_ALLOC_H
#define JSP_SIGSAFE_ALLOC_H

#include "room.h"

struct jsp_sampled;

enum {
    JSP_ALLOC_HOMES = JSPROF_ALLOC_HOMES,
    JSP_ALLOC_WINDOW = 16, /* slots that a search reads */
    JSP_ALLOC_BUSY = 1,    /* no block's address */
};

struct jsp_alloc_slot {
    _Atomic uintptr_t block; /* 0: free */
    _Atomic uint64_t number;
};

struct jsp_alloc_table {
    _Atomic uint32_t holders;  /* the session and its threads */
    _Atomic uint64_t numbers;  /* the last number of an allocation */
    uint8_t homes[JSP_ALLOC_HOMES];
    struct jsp_alloc_slot slots[JSP_ALLOC_HOMES + JSP_ALLOC_WINDOW];
};

/* A thread's part. */
struct jsp_alloc {
    /* Constant while the thread is attached. */
    struct jsp_alloc_table *table; /* NULL: allocations are not sampled */
    uint64_t every;                /* bytes from one sampled byte to the next, on average */

    /* Written by the owner thread. */
    uint64_t random;
    _Atomic uint64_t drawn;     /* the sum of all distances; minus what is left of the last: */
    _Atomic uint64_t n_lost;    /* samples that are in no record */
    _Atomic uint64_t n_untold;  /* sampled blocks for which the table had no room */
    ucontext_t asked;           /* registers of the call that is being sampled */
};

/* Begin over zeroed memory, in the thread's own call. The first distance is drawn. */
void jsp_alloc_open(struct jsp_sampled *self, struct jsp_alloc_table *table, uint64_t every);

/* Record an allocation: its size, and the stack from the registers in `asked`. The first C
 * frame is the library's function that stored them, and is dropped. */
void jsp_alloc_sample(struct jsp_sampled *self, const void *block, size_t bytes);

/* Record that a sampled block was freed, or count a loss if the record is in use or the ring is
 * full. Ignore any other block. */
void jsp_alloc_freed(struct jsp_sampled *self, const void *block);

/* Find a sampled block under its new address from now on. */
void jsp_alloc_moved(struct jsp_sampled *self, const void *from, const void *to);

#endif
