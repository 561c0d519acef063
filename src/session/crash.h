/* session/crash.h - installs the handler of faults, and gives its threads a stack to report
 * the end of theirs; see sigsafe/crash.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_CRASH_H
#define JSP_SESSION_CRASH_H

#include <stdbool.h>

/* Report faults to this descriptor from now on; below 0: no more. Return 0 or a negative
 * errno. Any thread; takes the process lock. */
int jsp_crash_report(int fd, bool is_json);

/* Note that the calling thread is about to attach to a session. */
void jsp_crash_attach(void);

/* Undo jsp_crash_attach, after the thread has detached or could not attach. */
void jsp_crash_detach(void);

#endif
