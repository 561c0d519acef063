/* seen.h - work that goes on until its thread has samples of it. It looks into the library, so a
 * test of captures whose reader has the same names can not include it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_SEEN_H
#define JSP_TEST_SEEN_H

#include "host.h"
#include "session/thread.h"

/* Use CPU time until so many samples of the calling thread have come, however late the machine lets
 * them. If the capture drops none of them, it has as many or more. */
static inline void seen_burn(jsprof_thread *me, uint32_t n)
{
    const struct jsp_ring *ring = &((struct jsp_thread *)(void *)me)->sampled.ring;
    uint64_t tail = jsp_ring_tail(ring);
    while (n) {
        host_burn_ms(1);
        n -= jsp_ring_tail(ring) != tail; /* two in a millisecond count as one */
        tail = jsp_ring_tail(ring);
    }
}

#endif
