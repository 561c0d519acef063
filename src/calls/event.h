/* calls/event.h - the events of a thread's calls, which the hooks report into its table.
 *
 * Only the owner thread calls these, and it is inside at most one of them: the library
 * drops events that a signal handler reports during another event, and counts them in
 * `foreign`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CALLS_EVENT_H
#define JSP_CALLS_EVENT_H

#include "table.h"

enum { JSP_CALLS_NO_DEPTH = UINT32_MAX }; /* jsprof_pop reports an empty stack by this */

/* Return the key of the array's entry at this depth. */
static inline uintptr_t jsp_calls_array_key(uint32_t depth)
{
    return (uintptr_t)depth << 2 | JSP_CALLS_KEY_ARRAY;
}

/* The place of an entry: the array (link NULL), or the link. A call that the host identifies
 * by a key has jsp_calls_host_link(key), which can not be read. */
struct jsp_calls_place {
    const jsprof_thread *t;
    const jsprof_link *link;
};

/* Return the key of the place: its link, or the array's entry at `depth`. */
static inline uintptr_t jsp_calls_key(const struct jsp_calls *c, struct jsp_calls_place place,
                                      uint32_t depth)
{
    return place.link ? (uintptr_t)place.link : jsp_calls_array_key(depth - c->base);
}

/* Return a key that differs from those of links and array entries: their highest bit is 0. */
static inline jsprof_link *jsp_calls_host_link(uintptr_t key)
{
    return (jsprof_link *)(key << 2 | JSP_CALLS_KEY_HOST);
}

/* Begin a call of `f` at this place. */
void jsp_calls_enter(struct jsp_calls *c, const jsprof_function *f,
                     struct jsp_calls_place place);

/* End the link and all entries inside of it; on the array, end all entries above
 * `depth`. */
void jsp_calls_leave(struct jsp_calls *c, struct jsp_calls_place place, uint32_t depth);

/* End all entries inside of the link, and with `is_left` also the link. A link that is NULL:
 * end the outermost one and all entries inside of it. */
void jsp_calls_unwind(struct jsp_calls *c, struct jsp_calls_place place, bool is_left);

/* End the innermost entry of that place, and enter `f` in its place. */
void jsp_calls_tail(struct jsp_calls *c, const jsprof_function *f,
                    struct jsp_calls_place place);

/* Charge an allocation to the innermost call. */
void jsp_calls_alloc(struct jsp_calls *c, struct jsp_calls_place place, uint64_t bytes);

/* Note that the thread now runs on `stack`, see jsprof_stack_switch. */
void jsp_calls_switch(struct jsp_calls *c, const jsprof_thread *t,
                      const jsprof_cstack *stack);

/* Drop a suspended stack, which will never run again. */
void jsp_calls_forget(struct jsp_calls *c, const jsprof_thread *t,
                      const jsprof_cstack *stack);

/* Take over new modes now, if they have changed since the thread's last event. */
void jsp_calls_see(struct jsp_calls *c, const jsprof_thread *t);

/* End all open calls, because the thread detaches. */
void jsp_calls_end(struct jsp_calls *c);

/* End the open calls of a thread that has ended, as of its last event. Any thread. */
void jsp_calls_end_gone(struct jsp_calls *c);

#endif
