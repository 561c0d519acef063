/* sigsafe/ask.h - how handlers ask the drain to look at what is loaded, at once.
 *
 * A walk that met code without rows asks. The drain sleeps on the bell; what it found
 * decides how soon it can be asked again: hosts whose stacks always end in unknown code
 * would otherwise wake it at every sample.
 *
 *                       SIGPROF handler   any thread   drain
 *   jsp_ask_look              yes             yes         -
 *   jsp_ask_ring              yes             yes         -
 *   jsp_ask_state             yes             yes        yes
 *   jsp_ask_set                -               -         yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_ASK_H
#define JSP_SIGSAFE_ASK_H

#include "room.h"

enum jsp_ask_state {
    JSP_ASK_NO,   /* nobody asked */
    JSP_ASK_YES,  /* a handler did, and the drain has not looked yet */
    JSP_ASK_REST, /* it looked and found something; it may not be asked for a while */
    JSP_ASK_VAIN, /* it looked and found nothing: the map is right for a while */
};

struct jsp_ask { /* zeroed: nobody asked */
    _Atomic uint32_t state; /* enum jsp_ask_state */
    _Atomic uint32_t bell;  /* a futex: goes up at every ring */
};

/* Ask, unless the drain rests. False: it has looked in vain just now. */
bool jsp_ask_look(struct jsp_ask *ask);

/* Wake who sleeps on the bell. */
void jsp_ask_ring(struct jsp_ask *ask);

static inline enum jsp_ask_state jsp_ask_state(const struct jsp_ask *ask)
{
    /* ORDER: relaxed. A hint; what the drain then looks at is the loader's. */
    return (enum jsp_ask_state)atomic_load_explicit(&ask->state, memory_order_relaxed);
}

static inline void jsp_ask_set(struct jsp_ask *ask, enum jsp_ask_state state)
{
    /* ORDER: relaxed. As above. */
    atomic_store_explicit(&ask->state, state, memory_order_relaxed);
}

#endif
