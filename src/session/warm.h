/* session/warm.h - libc functions that the handler calls, bound before it runs.
 *
 * A host that links us statically and without -z now has each name of libc looked up by its
 * first call: the dynamic linker's locks and stack, in a signal handler. So each of them is
 * called once outside of it; the name's slot is one for the whole program. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_WARM_H
#define JSP_SESSION_WARM_H

void jsp_warm_libc(void);

#endif
