/* farewell.h - one last call before a signal ends the process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_FAREWELL_H
#define JSPROF_MOZJS_FAREWELL_H

/* SIGTERM, SIGINT and SIGHUP, where they would just end the process, first let a
 * thread of ours call `last` and then do it. A signal that comes again meanwhile ends
 * it at once. A program that sets its own handlers later replaces this. Returns 0 or a
 * negative errno. */
int farewell_install(void (*last)(void));

#endif
