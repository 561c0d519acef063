/* farewell.h - what a thread of ours does when a signal comes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_FAREWELL_H
#define JSPROF_MOZJS_FAREWELL_H

/* SIGTERM, SIGINT and SIGHUP, where they would just end the process, first let a
 * thread of ours call `last` and then do it. A signal that comes again meanwhile ends
 * it at once. A program that sets its own handlers later replaces this. With `toggle`,
 * SIGUSR2 lets the thread call that, each time. Returns 0 or a negative errno; -EBUSY:
 * SIGUSR2 is somebody else's. */
int farewell_install(void (*last)(void), void (*toggle)(void));

#endif
