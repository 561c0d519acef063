/* sigsafe/hidden.h - was the signal kept from the thread until now?
 *
 * A signal comes late for many reasons. In most of them the function that it interrupts
 * is the right one to charge: the processor's tick was late, others had the processor, a
 * long system call went on. But where the host blocked the signal, ignored it or gave it
 * to another handler, the program went on meanwhile, and the function that it is in now
 * is only the one after that. The kernel does not say which it was, so this looks for
 * what each of them leaves: the system call that unblocks, which has just returned; a
 * mask that will be restored; the timer's second try; and a host's handler that blocks
 * the signal, where the thread ran too long for a signal that was free to come.
 *
 *                   SIGPROF handler
 *   jsp_hidden            yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_HIDDEN_H
#define JSP_SIGSAFE_HIDDEN_H

#include "memread.h"

/* A signal that was not taken is sent again so much later. */
enum { JSP_HIDDEN_AGAIN_NS = 250000000 };

struct jsp_arrival {
    const void *ucontext;
    int signo;
    uint32_t overrun; /* of the timer: what it left out while this signal waited */
    bool wall;        /* the clock that the signal was due by */
    uint64_t time_ns, cpu_ns; /* CLOCK_MONOTONIC and the thread's CPU clock */
    uint64_t late_ns; /* since it was due */
    uint64_t ran_ns;  /* CPU time since the arrival before... */
    uint64_t took_ns; /* ... and elapsed time */
};

/* Decide for one arrival. `mem` reads the host's memory. */
bool jsp_hidden(struct jsp_memread *mem, const struct jsp_arrival *a);

#endif
