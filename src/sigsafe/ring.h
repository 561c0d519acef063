/* sigsafe/ring.h - one thread's finished samples, on their way to the drain.
 *
 * A ring of 64-bit words that carries whole records, one producer to one consumer. It
 * never blocks, never grows and never overwrites: a record that does not fit is refused,
 * because a profiler that waits changes the program it measures. The producer counts the
 * refused records.
 *
 *                     SIGPROF handler   drain thread   before/after both
 *   jsp_ring_init            -               -                yes
 *   jsp_ring_push           yes              -                 -
 *   jsp_ring_stage          yes              -                 -
 *   jsp_ring_staged         yes              -                 -
 *   jsp_ring_commit         yes              -                 -
 *   jsp_ring_pop             -              yes                -
 *   jsp_ring_peek            -              yes                -
 *   jsp_ring_skip            -              yes                -
 *   jsp_ring_used           yes             yes               yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_RING_H
#define JSP_SIGSAFE_RING_H

#include "room.h"

struct jsp_ring {
    /* Written by the producer only. */
    alignas(JSP_CACHELINE) _Atomic uint64_t tail; /* next word to write */

    /* Written by the consumer only. */
    alignas(JSP_CACHELINE) _Atomic uint64_t head; /* next word to read */

    /* Constant after init. */
    alignas(JSP_CACHELINE) uint64_t *words;       /* borrowed from the caller */
    uint64_t capacity;                            /* power of two, >= 8 */

    /* Always:  head <= tail <= head + capacity   (counters never wrap back)
     *          words [head, tail) hold whole records: length, then payload */
};

/* Lay a ring over `words`, which the caller owns and keeps alive. */
void jsp_ring_init(struct jsp_ring *ring, uint64_t *words, uint64_t capacity);

/* Copy one record in. Return false, and write nothing, if there is no room. */
bool jsp_ring_push(struct jsp_ring *ring, const uint64_t *record, uint32_t n_words);

/* Copy a record in at *tail, which moves after it, without publishing it. *tail begins as
 * jsp_ring_tail. Return false, and write nothing, if there is no room. */
bool jsp_ring_stage(struct jsp_ring *ring, uint64_t *tail, const uint64_t *record,
                    uint32_t n_words);

/* Copy a staged record out, cut to `max` words, and move *at after it. */
void jsp_ring_staged(const struct jsp_ring *ring, uint64_t *at, uint64_t *record, uint32_t max);

/* Publish what is staged below `tail`. */
void jsp_ring_commit(struct jsp_ring *ring, uint64_t tail);

/* Return the word at which the next record begins. For the producer. */
static inline uint64_t jsp_ring_tail(const struct jsp_ring *ring)
{
    /* ORDER: relaxed. For the producer, which alone stores it. */
    return atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

/* Copy the oldest record out as jsp_ring_pop does, and leave it in the ring. */
int jsp_ring_peek(const struct jsp_ring *ring, uint64_t *record, uint32_t max);

/* Drop the oldest record. The ring must not be empty. */
void jsp_ring_skip(struct jsp_ring *ring);

/* Copy the oldest record out and return its length in words, or 0 if the ring is empty.
 * Return -EMSGSIZE for a record longer than `max`; it stays in the ring. */
int jsp_ring_pop(struct jsp_ring *ring, uint64_t *record, uint32_t max);

/* Return the number of words that wait to be read. */
uint64_t jsp_ring_used(const struct jsp_ring *ring);

#endif
