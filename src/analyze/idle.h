/* analyze/idle.h - stacks of threads that wait for events: the category "idle".
 *
 * A stack is idle if its innermost function waits for descriptors (poll, epoll_wait, select,
 * ...), or is a part of the C library that such a function called, and if one of its callers
 * runs an event loop (GLib's, libuv's, libev's, libevent's, systemd's). If the sample has a
 * state, the thread must sleep in such a system call, whatever its innermost functions are. A
 * wait that the program itself asked for, such as a sleep or a lock, is not idle. Only elapsed
 * time counts waits, so on other clocks no stack is idle. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_IDLE_H
#define JSP_ANALYZE_IDLE_H

#include "select.h"

/* Set of[i] for every idle stack; `of` has p->n_stacks entries. Return how many, or
 * -ENOMEM. */
int jsp_idle_find(struct jsp_profile *p, bool *of);

/* The idle stacks among those that `select` chooses. */
struct jsp_idle_sum {
    uint64_t samples, value;
    bool is_all; /* `select` chooses no other stack */
};

/* Sum them up. Return 0 or -ENOMEM. */
int jsp_idle_sum(struct jsp_idle_sum *out, struct jsp_profile *p,
                 const struct jsp_select *select, const bool *of);

#endif
