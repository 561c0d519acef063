/* sigsafe/ask.h - how handlers ask the drain to look for newly loaded objects at once, and
 * to make the rows of objects that they have met.
 *
 * The handler asks when a walk has met code without rows. The drain sleeps on the bell.
 * If the code was in no object of the map, the result of its look decides how soon a
 * handler may ask again: a host whose stacks always end in unknown code would otherwise
 * wake the drain at every sample. The rows of an object are asked for once.
 *
 * When nothing has been written for some time, the drain sleeps until the bell rings. Each producer
 * calls jsp_ask_note after it has written something. The drain announces its sleep a long time
 * before: what was written meanwhile without a note is seen by the passes until then.
 *
 *                       SIGPROF handler   any thread   drain
 *   jsp_ask_note              yes             yes         -
 *   jsp_ask_wake              yes             yes         -
 *   jsp_ask_rest               -               -         yes
 *   jsp_ask_rise               -               -         yes
 *   jsp_ask_sleep             yes             yes        yes
 *   jsp_ask_look              yes             yes         -
 *   jsp_ask_rows              yes             yes         -
 *   jsp_ask_has_rows          yes             yes        yes
 *   jsp_ask_take_rows          -               -         yes
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

enum jsp_ask_sleep {
    JSP_ASK_AWAKE, /* something was written */
    JSP_ASK_QUIET, /* nothing since the drain announced its sleep */
    JSP_ASK_DEEP,  /* the drain sleeps until the bell rings */
};

struct jsp_ask { /* zeroed: no handler has asked */
    _Atomic uint32_t state; /* enum jsp_ask_state */
    _Atomic uint32_t bell;  /* a futex: each ring adds 1 */
    _Atomic bool rows;      /* handlers have met objects without rows */
    _Atomic uint32_t sleep; /* enum jsp_ask_sleep */
};

/* Return how the drain sleeps at this moment. Any thread, also in a handler. */
static inline enum jsp_ask_sleep jsp_ask_sleep(const struct jsp_ask *ask)
{
    /* ORDER: relaxed. Who writes something looks long after QUIET was stored; the exchanges of
     * note and rest decide which of the two comes first. */
    return (enum jsp_ask_sleep)atomic_load_explicit(&ask->sleep, memory_order_relaxed);
}

/* Wake the drain, which sleeps deeply: something was written. */
void jsp_ask_wake(struct jsp_ask *ask);

/* Wake the drain if it sleeps deeply, after something was written. */
static inline void jsp_ask_note(struct jsp_ask *ask)
{
    if (jsp_ask_sleep(ask) != JSP_ASK_AWAKE)
        jsp_ask_wake(ask);
}

/* Nothing has been written since the last call: go from AWAKE to QUIET, and from QUIET to DEEP.
 * Return true in the second case, after which the drain sleeps. */
bool jsp_ask_rest(struct jsp_ask *ask);

/* The drain is awake. */
static inline void jsp_ask_rise(struct jsp_ask *ask)
{
    /* ORDER: relaxed. The next pass reads everything. */
    atomic_store_explicit(&ask->sleep, JSP_ASK_AWAKE, memory_order_relaxed);
}

/* Ask, unless the drain rests. Return false if the drain has just looked in vain. */
bool jsp_ask_look(struct jsp_ask *ask);

/* Ask for the rows of the objects that handlers have marked. */
void jsp_ask_rows(struct jsp_ask *ask);

/* Return true if a handler has asked for rows since the last take. */
static inline bool jsp_ask_has_rows(const struct jsp_ask *ask)
{
    /* ORDER: relaxed. A hint; jsp_ask_take_rows reads it again. */
    return atomic_load_explicit(&ask->rows, memory_order_relaxed);
}

/* The drain reads the marks next. */
static inline void jsp_ask_take_rows(struct jsp_ask *ask)
{
    /* ORDER: acquire, pairs with the release in jsp_ask_rows: the marks set before it are
     * seen. A later mark brings another request. */
    atomic_exchange_explicit(&ask->rows, false, memory_order_acquire);
}

/* Wake the thread that sleeps on the bell. */
void jsp_ask_ring(struct jsp_ask *ask);

/* Return what the handlers have asked of the drain. A hint. */
static inline enum jsp_ask_state jsp_ask_state(const struct jsp_ask *ask)
{
    /* ORDER: relaxed. A hint; the drain then looks at data of the loader. */
    return (enum jsp_ask_state)atomic_load_explicit(&ask->state, memory_order_relaxed);
}

/* Store what is asked of the drain. */
static inline void jsp_ask_set(struct jsp_ask *ask, enum jsp_ask_state state)
{
    /* ORDER: relaxed. As above. */
    atomic_store_explicit(&ask->state, state, memory_order_relaxed);
}

#endif
