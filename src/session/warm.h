/* session/warm.h - libc functions that the handler calls, bound before it runs.
 *
 * In a host that links us statically and without -z now, the first call of each libc
 * function looks up its name: this needs the dynamic linker's locks and stack, in a
 * signal handler. So each function is called once outside of it; the whole program shares
 * the name's slot. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_WARM_H
#define JSP_SESSION_WARM_H

void jsp_warm_libc(void);

#endif
