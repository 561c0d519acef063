/* sigsafe/hidden.h - a test whether the signal was withheld from the thread until now.
 *
 * A signal comes late for many reasons. In most cases the interrupted function is the
 * right one to charge: the processor's tick was late, other threads had the processor, or
 * a long system call went on. But where the host blocked the signal, ignored it or gave
 * it to another handler, the program went on meanwhile, and the interrupted function only
 * came afterwards. The kernel does not report the reason, so this module looks for the
 * traces of each: the system call that unblocks, which has just returned; a mask that
 * will be restored; the timer's second try; and a handler of the host that blocks the
 * signal, where the thread ran longer than an unblocked signal would have taken to
 * arrive.
 *
 *                   SIGPROF handler
 *   jsp_hidden            yes
 *   jsp_hidden_has_handler  yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_HIDDEN_H
#define JSP_SIGSAFE_HIDDEN_H

#include "base/clocks.h"
#include "memread.h"

enum {
    /* The timer sends a signal that was not taken again after this time. */
    JSP_HIDDEN_AGAIN_NS = 250000000,
    JSP_HIDDEN_PROMPT_NS = 100000, /* an unblocked signal of the wall clock arrives within */
};

struct jsp_arrival {
    const void *ucontext;
    int signo;
    void (*handler)(int sig, siginfo_t *info, void *ucontext); /* ours, to compare with */
    /* expirations that the timer dropped while this signal was pending */
    uint32_t overrun;
    enum jsp_clock clock; /* the signal was due by it */
    uint64_t now_ns[JSP_N_CLOCKS];
    uint64_t due_ns;  /* when the signal was due, on `clock` */
    uint64_t late_ns; /* time since then */
    uint64_t ran_ns;  /* CPU time since the previous arrival */
    uint64_t took_ns; /* elapsed time since the previous arrival */
};

/* Return true if the signal of this arrival was withheld. `mem` reads the host's
 * memory. */
bool jsp_hidden(struct jsp_memread *mem, const struct jsp_arrival *a);

/* Return true if a handler of the host blocks the signal. This makes at most _NSIG system
 * calls, for an arrival that has no other explanation. */
bool jsp_hidden_has_handler(const struct jsp_arrival *a);

#endif
