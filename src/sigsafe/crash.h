/* sigsafe/crash.h - the report of a process that dies of a fault: the stacks of all
 * attached threads.
 *
 * The thread with the fault writes its own stack, then it asks each other thread for its
 * stack: it sends the same signal, with a value that only this process knows, and the
 * other thread's handler writes. A thread that does not answer in time, because it blocks
 * the signal or the kernel keeps it asleep, has one line that says so. Then the signal's
 * old action follows.
 *
 * The table of threads is not a list with a lock: the fault may come anywhere. A thread
 * takes a slot when it attaches and clears it when it detaches.
 *
 *                       fault handler   owner thread   under the process lock
 *   jsp_crash_join           -              yes                -
 *   jsp_crash_leave          -              yes                -
 *   jsp_crash_in_child       -         the child          -
 *   jsp_crash_handle        yes              -                 -
 *   jsp_crash_before         -               -                yes
 *   jsp_crash_set_fd         -               -                yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_CRASH_H
#define JSP_SIGSAFE_CRASH_H

#include "room.h"

enum { JSP_CRASH_THREADS = 1024 };

/* Note that the calling thread has attached to a session. */
void jsp_crash_join(void);

/* Note that the calling thread has left a session. The last one removes it from the table. */
void jsp_crash_leave(void);

/* In the child of a fork: the table has the parent's threads; of them only this one is here. */
void jsp_crash_in_child(void);

/* Handle a fatal signal: report the crash once and pass the signal on to the handler before
 * it, or answer another thread's request for its stack. For sigaction with SA_SIGINFO. */
void jsp_crash_handle(int signo, siginfo_t *info, void *ucontext);

/* Set the descriptor; below 0: write nothing. */
void jsp_crash_set_fd(int fd, bool is_json);

/* Note the action that the signal had before. */
void jsp_crash_before(int signo, const struct sigaction *before);

#endif
