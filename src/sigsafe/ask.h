/* sigsafe/ask.h - how handlers ask the drain to look for newly loaded objects at once.
 *
 * The handler asks when a walk has met code without rows. The drain sleeps on the bell.
 * The result of its look decides how soon a handler may ask again: a host whose stacks
 * always end in unknown code would otherwise wake the drain at every sample.
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
    JSP_ASK_NO,   /* no handler has asked */
    JSP_ASK_YES,  /* a handler has asked, and the drain has not looked yet */
    JSP_ASK_REST, /* the drain found something; handlers may not ask again for a while */
    JSP_ASK_VAIN, /* the drain found nothing: the map is right for a while */
};

struct jsp_ask { /* zeroed: no handler has asked */
    _Atomic uint32_t state; /* enum jsp_ask_state */
    _Atomic uint32_t bell;  /* a futex: each ring adds 1 */
};

/* Ask, unless the drain rests. Return false if the drain has just looked in vain. */
bool jsp_ask_look(struct jsp_ask *ask);

/* Wake the thread that sleeps on the bell. */
void jsp_ask_ring(struct jsp_ask *ask);

static inline enum jsp_ask_state jsp_ask_state(const struct jsp_ask *ask)
{
    /* ORDER: relaxed. A hint; the drain then looks at data of the loader. */
    return (enum jsp_ask_state)atomic_load_explicit(&ask->state, memory_order_relaxed);
}

static inline void jsp_ask_set(struct jsp_ask *ask, enum jsp_ask_state state)
{
    /* ORDER: relaxed. As above. */
    atomic_store_explicit(&ask->state, state, memory_order_relaxed);
}

#endif
