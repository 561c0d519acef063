/* session/alone/waiting.h - a test whether the interrupted thread waits in a system call.
 *
 * Only calls count that no code makes in the middle of a change: to read and write, to
 * wait for events, a child, time, a lock or a file. Handler and any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALONE_WAITING_H
#define JSP_SESSION_ALONE_WAITING_H

#include <stdbool.h>

/* Return true if the interrupted code, which is readable code of the C library, is at a
 * system call that the signal interrupted: the kernel will restart it, or it has returned
 * EINTR. */
bool jsp_waiting(const void *ucontext);

#endif
