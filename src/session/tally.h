/* session/tally.h - the number of samples of each thread that were kept and lost.
 *
 * A thread has a slot as long as it is attached, or samples of it wait to be written.
 * Then its numbers are added to one sum and the slot goes to the next thread, so a
 * program that makes threads for ever needs only as many slots as live at once.
 *
 * The caller holds the session's lock: a host that attaches a thread takes a slot while
 * the drain writes without the lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_TALLY_H
#define JSP_SESSION_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct jsp_tally {
    uint64_t kept;    /* weights of the samples in the file */
    uint64_t samples;
    uint64_t lost;    /* weights that the file could not take */
    uint64_t unfolded; /* weights of stacks for which the fold had no room */
};

struct jsp_tally_slot {
    struct jsp_tally tally;
    uint32_t waiting; /* samples appended and not yet written */
    uint32_t next;    /* 1 + index of the next free one; 0: none */
    bool left;        /* its thread has ended */
};

struct jsp_tallies {
    struct jsp_tally_slot *slots; /* owned */
    uint32_t n;
    uint32_t free;                /* 1 + index of the first free one; 0: none */
    struct jsp_tally gone;        /* sum over the threads whose slots were freed */
};

/* Take a slot for a new thread. Return 0 or -ENOMEM. */
int jsp_tallies_take(struct jsp_tallies *t, uint32_t *slot);

/* Note that the thread has ended: no more samples will come from it. */
void jsp_tallies_leave(struct jsp_tallies *t, uint32_t slot);

/* Count a sample that was appended; it waits. */
void jsp_tallies_append(struct jsp_tallies *t, uint32_t slot, uint32_t weight);

/* Note that a sample that waited is in the file now. */
void jsp_tallies_settle(struct jsp_tallies *t, uint32_t slot);

/* Count a sample that waited as lost: it will never be in the file. */
void jsp_tallies_give_up(struct jsp_tallies *t, uint32_t slot, uint32_t weight);
/* A sample is in the file without its weight: count it as one expiration. */
void jsp_tallies_lessen(struct jsp_tallies *t, uint32_t slot, uint32_t weight);

/* Count as lost a sample that found no room at all. */
void jsp_tallies_lose(struct jsp_tallies *t, uint32_t slot, uint32_t weight);

/* Count a sample that was folded into one that was appended. */
void jsp_tallies_grow(struct jsp_tallies *t, uint32_t slot, uint32_t weight);

/* Count a sample that the fold refused. */
void jsp_tallies_unfold(struct jsp_tallies *t, uint32_t slot, uint32_t weight);

/* Return the thread's tally, borrowed. */
const struct jsp_tally *jsp_tallies_of(const struct jsp_tallies *t, uint32_t slot);

/* Return the sum over all threads there ever were. */
struct jsp_tally jsp_tallies_sum(const struct jsp_tallies *t);

/* Begin at 0. No sample waits. */
void jsp_tallies_renew(struct jsp_tallies *t);

/* Free the slots. */
void jsp_tallies_free(struct jsp_tallies *t);

#endif
