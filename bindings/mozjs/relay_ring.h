/* relay_ring.h - the ring in shared memory that Sysprof gives a program for its frames.
 *
 * SPDX-License-Identifier: MIT
 *
 * One page with the places of the reader (head) and of the writer (tail), then the body,
 * which is mapped twice in a row, so that every frame is in one piece. A reader looks
 * every few milliseconds. One thread at a time may call these.
 */
#ifndef JSPROF_MOZJS_RELAY_RING_H
#define JSPROF_MOZJS_RELAY_RING_H

#include <stddef.h>
#include <stdint.h>

struct relay_ring_head;

struct relay_ring {
    struct relay_ring_head *head; /* the whole mapping */
    size_t bytes;                 /* of the mapping */
    unsigned char *body;
    uint32_t size; /* of the body */
    int stuck;     /* the reader was away for long, so never wait again */
};

/* Ask on SYSPROF_CONTROL_FD for a ring. Errors: -EPROTO, -ETIMEDOUT: this is no Sysprof;
 * -ENOMEM; those of sending and receiving. */
int relay_ring_ask(struct relay_ring *ring, int control_fd);

/* Write one frame. Wait for room, two seconds at most; return -1 if there was none. */
int relay_ring_put(struct relay_ring *ring, const unsigned char *frame, size_t len);

/* Announce the end, and wait until all of it has been read, two seconds at most. Return
 * -1 if some was not. */
int relay_ring_finish(struct relay_ring *ring);

void relay_ring_close(struct relay_ring *ring);

#endif
