/* native/waits.h - turns of a loop in a program that knows nothing of jsprof, for stall mode.
 *
 * What a thread does between two waits (poll, ppoll, select, pselect, epoll_wait, epoll_pwait) is
 * a turn. The library replaces these functions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_NATIVE_WAITS_H
#define JSP_NATIVE_WAITS_H

#include "jsprof.h"

/* Record the turns of the calling thread, as those of `t`, from its next wait on; NULL: no more.
 * Nothing is recorded before native_waits_start. */
void native_waits_of(jsprof_thread *t);
void native_waits_start(void);
void native_waits_stop(void);

#endif
