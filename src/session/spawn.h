/* session/spawn.h - starts the threads of the library.
 *
 * Such a thread takes no signal of the host, and has a stack of our choice: the default
 * size is the host's, and may be 16 KiB (RLIMIT_STACK, pthread_setattr_default_np).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_SPAWN_H
#define JSP_SESSION_SPAWN_H

#include <pthread.h>

/* Start `run(arg)` as a thread of that name. Return 0, -EAGAIN or -ENOMEM. */
int jsp_spawn(pthread_t *out, void *(*run)(void *arg), void *arg, const char *name);

#endif
