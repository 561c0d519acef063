/* session/signals.h - who owns a signal number, and what fork does to that.
 *
 * The handler goes in with the first session that samples on a signal and out with
 * the last one. Out means: our pending signals are thrown away first, so that
 * none of them can meet the default action, which kills. Where a timer of ours could not
 * be stopped the handler stays for good.
 *
 * Any thread, under the process lock; the others say so.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SIGNALS_H
#define JSP_SESSION_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* What the calling thread's mask was. */
struct jsp_signals_hushed {
    sigset_t mask;
    sigset_t pending;
};

/* Around a write on a host's thread, of which only the errno should be heard: no
 * SIGPIPE for a reader that left, no SIGXFSZ at the file size limit. No lock needed. */
void jsp_signals_hush(struct jsp_signals_hushed *h);
void jsp_signals_unhush(const struct jsp_signals_hushed *h);

/* -EBUSY: another handler is there and `chain` is false; -EINVAL: no such signal. */
int jsp_signals_take(int signo, bool chain);
void jsp_signals_give(int signo);

/* A timer that sends this signal could not be stopped. No lock needed. */
void jsp_signals_survives(int signo);

/* While timers are armed: put the handler back where the host set SIG_DFL, which would end
 * the process. True: it was put back; what timers sent meanwhile may be gone, and kernels
 * from 6.13 on send no more by a timer whose signal met a default of "ignore". No lock
 * needed. */
bool jsp_signals_look(int signo);

/* Around fork: the forking thread does not hear our timers, which may be faster than
 * the copying of page tables and restart it for ever; the child has none. */
void jsp_signals_before_fork(void);
void jsp_signals_after_fork(void);
void jsp_signals_in_child(void);

#endif
