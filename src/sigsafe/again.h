/* sigsafe/again.h - begin a system call again that our signal has interrupted.
 *
 * The looker signals a thread that runs. If the thread begins to sleep just then, its call ends
 * with EINTR, although nothing has happened that the host asked to be told. The kernel begins
 * some calls again by itself, but not poll, nanosleep and others with a time limit. These calls
 * have done nothing yet, and they began a moment ago, so the handler changes the interrupted
 * registers to make the same call once more.
 *
 * This needs the call's number and arguments, which the registers no longer have in full. On
 * x86-64 the number is in the instruction before the call. On aarch64 the first argument is lost:
 * there the host gets its EINTR.
 *
 *                 SIGPROF handler
 *   jsp_again           yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_AGAIN_H
#define JSP_SIGSAFE_AGAIN_H

#include "hidden.h"

/* Given a signal that met a running thread: return true if it had interrupted a system call,
 * which will be made again when the handler returns. */
bool jsp_again(struct jsp_memread *mem, const struct jsp_arrival *a, void *ucontext);

#endif
