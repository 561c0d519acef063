/* session/tally.h - what became of each thread's samples.
 *
 * A thread has a slot as long as it is attached, or samples of it wait to be written.
 * Then its numbers go into one sum and the slot to the next thread, so that a program
 * which makes threads for ever keeps as many as live at once.
 *
 * All calls under the session's lock: a host that attaches a thread takes a slot while
 * the drain writes without it.
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
};

struct jsp_tally_slot {
    struct jsp_tally tally;
    uint32_t waiting; /* samples that are appended and not yet written */
    uint32_t next;    /* of the free ones: 1 + its index; 0: none */
    bool left;        /* its thread is gone */
};

struct jsp_tallies {
    struct jsp_tally_slot *slots; /* owned */
    uint32_t n;
    uint32_t free;                /* 1 + the first free one; 0: none */
    struct jsp_tally gone;        /* sum over those whose slots were given back */
};

/* A slot for a new thread. -ENOMEM. */
int jsp_tallies_take(struct jsp_tallies *t, uint32_t *slot);

/* The thread is gone: no more samples of it. */
void jsp_tallies_leave(struct jsp_tallies *t, uint32_t slot);

/* A sample was appended; then it is in the file, or it will never be. Or it found no room
 * in the first place. */
void jsp_tallies_append(struct jsp_tallies *t, uint32_t slot, uint32_t weight);
void jsp_tallies_settle(struct jsp_tallies *t, uint32_t slot);
void jsp_tallies_give_up(struct jsp_tallies *t, uint32_t slot, uint32_t weight);
/* A sample is in the file, but not what it stands for: it counts as one expiration. */
void jsp_tallies_lessen(struct jsp_tallies *t, uint32_t slot, uint32_t weight);
void jsp_tallies_lose(struct jsp_tallies *t, uint32_t slot, uint32_t weight);

const struct jsp_tally *jsp_tallies_of(const struct jsp_tallies *t, uint32_t slot);

/* Over all threads there ever were. */
struct jsp_tally jsp_tallies_sum(const struct jsp_tallies *t);

void jsp_tallies_free(struct jsp_tallies *t);

#endif
