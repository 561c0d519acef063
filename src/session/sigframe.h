/* session/sigframe.h - the size of the frame that the kernel saves for a signal, and
 * whether the calling thread's alternate stack has room for it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SIGFRAME_H
#define JSP_SESSION_SIGFRAME_H

#include <stddef.h>

/* Check the calling thread's alternate stack. Return -EOVERFLOW if a signal on it would
 * write below it, or end the process. Takes the process lock. */
int jsp_sigframe_check(void);

/* Return the bytes from the high end of an alternate stack to the handler's frame,
 * measured with a signal to the calling thread, or 0 if it cannot be measured here.
 * Takes the process lock. */
size_t jsp_sigframe_measure(void);

#endif
