/* image/forkgate.h - a gate that stops walks over the loaded objects while a thread
 * forks.
 *
 * dl_iterate_phdr holds a lock of the loader that glibc does not reset in the child of a
 * fork. A child that is forked during a walk waits for that lock for ever, in its first
 * dlopen or C++ exception. So a forking thread closes the gate before the fork and opens
 * it afterwards. A walk does not begin while the gate is closed, and ends at the next
 * object. The walker never waits: it tries again later, so it cannot block code of the
 * host.
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

/* Close the gate and wait for running walks. A walk may itself wait for the loader's
 * lock, for as long as another thread holds it; the fork goes on after a second or
 * two. */
void jsp_forkgate_close(void);

/* Open the gate again, after the fork, in the thread that closed it. */
void jsp_forkgate_open(void);

/* Reset the gate in the child: the other threads are gone, with their walks and forks. */
void jsp_forkgate_in_child(void);

/* Return true if the caller may walk now. Return false if another thread forks; a thread
 * may walk in the handlers of its own fork. */
bool jsp_forkgate_enter(void);

/* Note that the caller's walk has ended, after jsp_forkgate_enter returned true. */
void jsp_forkgate_leave(void);

/* Return true if a thread waits for the end of the caller's walk. */
bool jsp_forkgate_is_closed(void);

#endif
