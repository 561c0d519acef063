/* sigsafe/ring.c - see ring.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ring.h"

void jsp_ring_init(struct jsp_ring *ring, uint64_t *words, uint64_t capacity)
{
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->head, 0);
    ring->words = words;
    ring->capacity = capacity;
}

/* Copy the record in at most two pieces: up to the end of the words, and from their
 * start. */
static void ring_copy_in(struct jsp_ring *ring, uint64_t at, const uint64_t *from, uint64_t n)
{
    uint64_t start = at & (ring->capacity - 1);
    uint64_t first = n < ring->capacity - start ? n : ring->capacity - start;
    memcpy(ring->words + start, from, first * sizeof *from);
    memcpy(ring->words, from + first, (n - first) * sizeof *from);
}

static void ring_copy_out(const struct jsp_ring *ring, uint64_t at, uint64_t *to, uint64_t n)
{
    uint64_t start = at & (ring->capacity - 1);
    uint64_t first = n < ring->capacity - start ? n : ring->capacity - start;
    memcpy(to, ring->words + start, first * sizeof *to);
    memcpy(to + first, ring->words, (n - first) * sizeof *to);
}

bool jsp_ring_stage(struct jsp_ring *ring, uint64_t *tail, const uint64_t *record,
                    uint32_t n_words)
{
    /* ORDER: acquire, pairs with R1. The drain has finished reading every word before
     * `head`, so we may overwrite them. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

    if (*tail - head + n_words + 1 > ring->capacity)
        return false;
    ring->words[*tail & (ring->capacity - 1)] = n_words;
    ring_copy_in(ring, *tail + 1, record, n_words);
    *tail += 1 + n_words;
    return true;
}

void jsp_ring_staged(const struct jsp_ring *ring, uint64_t *at, uint64_t *record, uint32_t max)
{
    uint64_t n_words = ring->words[*at & (ring->capacity - 1)];
    ring_copy_out(ring, *at + 1, record, n_words < max ? n_words : max);
    *at += 1 + n_words;
}

void jsp_ring_commit(struct jsp_ring *ring, uint64_t tail)
{
    /* R2. ORDER: release, pairs with the acquire in peek. The words below become
     * visible before the tail that covers them. */
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
}

bool jsp_ring_push(struct jsp_ring *ring, const uint64_t *record, uint32_t n_words)
{
    uint64_t tail = jsp_ring_tail(ring);
    bool fits = jsp_ring_stage(ring, &tail, record, n_words);
    if (fits)
        jsp_ring_commit(ring, tail);
    return fits;
}

int jsp_ring_peek(const struct jsp_ring *ring, uint64_t *record, uint32_t max)
{
    /* ORDER: relaxed. Only the drain ever stores head. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    /* ORDER: acquire, pairs with R2. The words that tail covers are visible. */
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

    if (head == tail)
        return 0;
    uint32_t n_words = (uint32_t)ring->words[head & (ring->capacity - 1)];
    if (n_words > max)
        return -EMSGSIZE;
    ring_copy_out(ring, head + 1, record, n_words);
    return (int)n_words;
}

void jsp_ring_skip(struct jsp_ring *ring)
{
    /* ORDER: relaxed. Only the drain ever stores head. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t n_words = ring->words[head & (ring->capacity - 1)];
    /* R1. ORDER: release, pairs with the acquire in stage. Our reads are done
     * before the producer learns that it may reuse the words. */
    atomic_store_explicit(&ring->head, head + 1 + n_words, memory_order_release);
}

int jsp_ring_pop(struct jsp_ring *ring, uint64_t *record, uint32_t max)
{
    int n = jsp_ring_peek(ring, record, max);
    if (n > 0)
        jsp_ring_skip(ring);
    return n;
}

uint64_t jsp_ring_used(const struct jsp_ring *ring)
{
    /* ORDER: acquire, head first, so that the difference is never negative: a later tail
     * only increases it. Pairs with R1. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    /* ORDER: relaxed. A statistic. */
    return atomic_load_explicit(&ring->tail, memory_order_relaxed) - head;
}
