/* session/spawn.h - the one way in which the library starts a thread.
 *
 * The thread takes no signal of the host's, and has a stack of our choice: the default
 * size is the host's, and may be 16 KiB (RLIMIT_STACK, pthread_setattr_default_np).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SPAWN_H
#define JSP_SESSION_SPAWN_H

#include <pthread.h>

/* Start `run(arg)` as a thread of that name. -EAGAIN, -ENOMEM: none was started. */
int jsp_spawn(pthread_t *out, void *(*run)(void *arg), void *arg, const char *name);

#endif
