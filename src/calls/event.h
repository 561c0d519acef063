/* calls/event.h - what the hooks tell of a thread's calls, into its table.
 *
 * All by the owner thread, who is inside of at most one of them: what a signal handler
 * tells in the middle of another is not counted, and that is.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_EVENT_H
#define JSP_CALLS_EVENT_H

#include "table.h"

enum { JSP_CALLS_NO_DEPTH = UINT32_MAX }; /* jsprof_pop of an empty stack says so */

static inline uintptr_t jsp_calls_array_key(uint32_t depth)
{
    return (uintptr_t)depth << 2 | JSP_CALLS_KEY_ARRAY;
}

/* Where an entry stands: on the array (link NULL), or the link. */
struct jsp_calls_place {
    const jsprof_thread *t;
    const jsprof_link *link;
};

static inline uintptr_t jsp_calls_key(const struct jsp_calls *c, struct jsp_calls_place place,
                                      uint32_t depth)
{
    return place.link ? (uintptr_t)place.link : jsp_calls_array_key(depth - c->base);
}

void jsp_calls_enter(struct jsp_calls *c, const jsprof_function *f,
                     struct jsp_calls_place place);

/* The link and all inside of it end; of the array, all entries above `depth`. */
void jsp_calls_leave(struct jsp_calls *c, struct jsp_calls_place place, uint32_t depth);

/* The innermost entry of that place ends, and `f` is entered where it stood. */
void jsp_calls_tail(struct jsp_calls *c, const jsprof_function *f,
                    struct jsp_calls_place place);

void jsp_calls_alloc(struct jsp_calls *c, struct jsp_calls_place place, uint64_t bytes);

/* The thread stands on `stack` from now on, see jsprof_stack_switch. */
void jsp_calls_switch(struct jsp_calls *c, const jsprof_thread *t,
                      const jsprof_cstack *stack);

/* A suspended stack will never run again. */
void jsp_calls_forget(struct jsp_calls *c, const jsprof_thread *t,
                      const jsprof_cstack *stack);

/* Look at the thread now, if the modes have changed since it was last seen. */
void jsp_calls_see(struct jsp_calls *c, const jsprof_thread *t);

/* The thread goes away: what is open ends. */
void jsp_calls_end(struct jsp_calls *c);

/* The thread is no more: what was open ended with its last event. Any thread. */
void jsp_calls_end_gone(struct jsp_calls *c);

#endif
