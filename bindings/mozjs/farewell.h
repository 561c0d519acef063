/* farewell.h - a thread of ours that acts on the program's signals.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_FAREWELL_H
#define JSPROF_MOZJS_FAREWELL_H

/* If SIGTERM, SIGINT or SIGHUP would end the process, a thread of ours first calls `last`
 * and then lets the signal end it. A second signal meanwhile ends it at once. A program
 * that sets its own handlers later replaces this. If `toggle` is given, the thread calls
 * it at each SIGUSR2. Return 0 or a negative errno; -EBUSY means that SIGUSR2 has another
 * user. */
int farewell_install(void (*last)(void), void (*toggle)(void));

#endif
