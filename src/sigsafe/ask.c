/* sigsafe/ask.c - see ask.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ask.h"

enum { ASK_WAKE_PRIVATE = 1 | 128 }; /* FUTEX_WAKE, for threads of this process only */

void jsp_ask_ring(struct jsp_ask *ask)
{
    /* ORDER: release, pairs with the drain's load of the bell: the handler wrote the
     * reason for the ring before. */
    atomic_fetch_add_explicit(&ask->bell, 1, memory_order_release);
    syscall(SYS_futex, &ask->bell, ASK_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void jsp_ask_wake(struct jsp_ask *ask)
{
    /* A1. ORDER: acq_rel, pairs with the exchange in rest: either that one fails, or this one sees
     * DEEP. */
    if (atomic_exchange_explicit(&ask->sleep, JSP_ASK_AWAKE, memory_order_acq_rel) == JSP_ASK_DEEP)
        jsp_ask_ring(ask);
}

bool jsp_ask_rest(struct jsp_ask *ask)
{
    uint32_t quiet = JSP_ASK_QUIET;
    /* A1. ORDER: acq_rel, as above. */
    if (atomic_compare_exchange_strong_explicit(&ask->sleep, &quiet, JSP_ASK_DEEP,
                                                memory_order_acq_rel,  /* ORDER: as above */
                                                memory_order_relaxed)) /* ORDER: not DEEP */
        return true;
    /* ORDER: relaxed. Long before the next call, all threads see it. */
    atomic_store_explicit(&ask->sleep, JSP_ASK_QUIET, memory_order_relaxed);
    return false;
}

void jsp_ask_rows(struct jsp_ask *ask)
{
    /* ORDER: release, pairs with jsp_ask_take_rows: the marks were set before. */
    if (!atomic_exchange_explicit(&ask->rows, true, memory_order_release))
        jsp_ask_ring(ask);
}

bool jsp_ask_look(struct jsp_ask *ask)
{
    uint32_t no = JSP_ASK_NO;
    /* ORDER: relaxed, both. The bell publishes the request. */
    if (atomic_compare_exchange_strong_explicit(&ask->state, &no, JSP_ASK_YES,
                                                memory_order_relaxed,   /* ORDER: as above */
                                                memory_order_relaxed))  /* ORDER: as above */
        jsp_ask_ring(ask);
    return no != JSP_ASK_VAIN;
}
