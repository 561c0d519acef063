/* session/signals.h - the signals of the process: their handlers, and the effects of
 * fork.
 *
 * The handler is installed with the first session that samples on a signal and removed
 * with the last one. Before it is removed, our pending signals are discarded, so that
 * none of them meets the default action, which kills. If a timer of ours could not be
 * stopped, the handler stays for ever.
 *
 * Any thread; the caller holds the process lock, except where noted.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SIGNALS_H
#define JSP_SESSION_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The calling thread's mask and pending signals from before. */
struct jsp_signals_hushed {
    sigset_t mask;
    sigset_t pending;
};

/* Call this before a write on a thread of the host, so that only errno reports its failure: no
 * SIGPIPE for a reader that left, no SIGXFSZ at the file size limit. No lock needed. */
void jsp_signals_hush(struct jsp_signals_hushed *h);

/* Call this after the write: drop the signals that it raised, and restore the mask. */
void jsp_signals_unhush(const struct jsp_signals_hushed *h);

/* Fill the set with all signals but faults, which must stay deadly. No lock needed. */
void jsp_signals_all(sigset_t *set);

/* Install the handler. Return 0, -EBUSY if another handler is installed and `chain` is false,
 * or -EINVAL if there is no such signal. */
int jsp_signals_take(int signo, bool chain);

/* Give up one use of the signal. After the last, restore the action that was there before,
 * unless the host has put another handler on top. */
void jsp_signals_give(int signo);

/* Note that a timer with this signal could not be stopped. No lock needed. */
void jsp_signals_survives(int signo);

/* Install the handler again if the host has set SIG_DFL, which would end the process
 * while timers are armed. Return true if so: signals of timers may be lost, and kernels
 * from 6.13 on send no more by a timer whose signal met a default of "ignore". No lock
 * needed. */
bool jsp_signals_look(int signo);

/* Block our timers' signals in the thread that forks: they may be faster than the copying of
 * page tables, and restart it for ever. */
void jsp_signals_before_fork(void);

/* Restore the mask, in the parent and in the child. */
void jsp_signals_after_fork(void);

/* Forget all users of the signals, in the child: it has no timers. The handler stays. */
void jsp_signals_in_child(void);

/* -- sigframe.c: the size of the frame that the kernel saves for a signal */

/* Check the calling thread's alternate stack. Return -EOVERFLOW if a signal on it would
 * write below it, or end the process. Takes the process lock. */
int jsp_sigframe_check(void);

/* Return the bytes from the high end of an alternate stack to the handler's frame,
 * measured with a signal to the calling thread, or 0 if it cannot be measured here.
 * Takes the process lock. */
size_t jsp_sigframe_measure(void);

#endif
