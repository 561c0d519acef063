/* image/forkgate.h - no walk over the loaded objects while a thread forks.
 *
 * dl_iterate_phdr holds a lock of the loader that glibc does not reset in the child of a
 * fork. A child that was forked meanwhile waits for it for ever, in its first dlopen or C++
 * exception. So a forking thread closes the gate before the fork and opens it afterwards.
 * A walk does not begin while the gate is closed, and ends at the next object. The walker
 * never waits: it tries again later, so no code of the host's can be in its way.
 *
 *                         forking thread   walker
 *   jsp_forkgate_close         yes            -
 *   jsp_forkgate_open          yes            -
 *   jsp_forkgate_in_child      yes            -
 *   jsp_forkgate_enter          -            yes
 *   jsp_forkgate_leave          -            yes
 *   jsp_forkgate_is_closed      -            yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_FORKGATE_H
#define JSP_IMAGE_FORKGATE_H

#include <stdbool.h>

/* Wait for the walks that are under way. A walk that itself waits for the loader's lock
 * takes as long as somebody else holds it: after a second or two the fork goes on. */
void jsp_forkgate_close(void);
void jsp_forkgate_open(void);

/* The other threads are gone, with their walks and their forks. */
void jsp_forkgate_in_child(void);

/* False: a fork is under way, do not walk. A thread may walk in its own fork's handlers. */
bool jsp_forkgate_enter(void);
void jsp_forkgate_leave(void);

/* Within a walk: does a thread wait for its end? */
bool jsp_forkgate_is_closed(void);

#endif
