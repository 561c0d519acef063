/* session/alone/waiting.h - does the interrupted thread wait in a system call?
 *
 * Only in calls that nobody makes in the middle of a change: to read and write, to wait for
 * events, a child, time, a lock or a file. Handler and any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_ALONE_WAITING_H
#define JSP_SESSION_ALONE_WAITING_H

#include <stdbool.h>

/* The interrupted code, which is the C library's and can be read, is at a system call that
 * the signal broke off: the kernel will make it again, or says that it was interrupted. */
bool jsp_waiting(const void *ucontext);

#endif
