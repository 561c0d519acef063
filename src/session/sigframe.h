/* session/sigframe.h - what the kernel saves on the stack for a signal, and whether the calling
 * thread's alternate stack has room for that.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SIGFRAME_H
#define JSP_SESSION_SIGFRAME_H

#include <stddef.h>

/* -EOVERFLOW: a signal on the calling thread's alternate stack would write below it, or end the
 * process. Takes the process lock. */
int jsp_sigframe_check(void);

/* The bytes from the high end of an alternate stack to the handler's frame, measured with a
 * signal to the calling thread; 0: it can not be measured here. Takes the process lock. */
size_t jsp_sigframe_measure(void);

#endif
