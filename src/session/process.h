/* session/process.h - the state that a process has once: a lock, its fork handlers, and
 * the notice that a thread exits. Any thread.
 *
 * The lock is the outermost one; a session's lock may be taken inside it, never the other
 * way round. It is held for moments only. It is held during a write only if a thread
 * detaches without a drain and its last samples do not fit the buffer.
 *
 * No lock of ours is held over a fork: the host's handlers, which run between ours and
 * the fork, may call us, or wait for a thread that does. So the child may be a copy of
 * any moment. It makes the locks anew (a thread that the child lacks may have held them),
 * and all data that they protect change in an order in which every moment is consistent.
 * The child's first call of ours does this, because a handler of the host may come before
 * ours there.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_PROCESS_H
#define JSP_SESSION_PROCESS_H

#include <stdint.h>

/* What the other parts of the library do around a fork, in the forking thread. */
struct jsp_process_hooks {
    void (*before_fork)(void);
    void (*after_fork)(void); /* in both processes, after in_child */
    void (*in_child)(void);
    void (*thread_exit)(void);
};

/* Install the hooks; each call passes the same ones. Return 0, or -EAGAIN if no
 * thread-specific key is left. */
int jsp_process_init(const struct jsp_process_hooks *hooks);

/* Return how often the process and its ancestors forked; posix_spawn is no fork. */
uint64_t jsp_process_forks(void);

/* Make all locks anew if this is the child of a fork whose handlers still run. Call it
 * before taking a lock of the process. */
void jsp_process_renew(void);

/* Take the lock of the process. While a thread holds it, jsprof_callable returns false to that
 * thread. */
void jsp_process_lock(void);

/* Give up the lock. */
void jsp_process_unlock(void);

/* Give up the lock, which the caller holds, until the next wake, and take it again. */
void jsp_process_wait(void);

/* Wake all threads in jsp_process_wait. The caller holds the lock. */
void jsp_process_wake(void);

/* Let thread_exit be called when the calling thread exits. Return 0 or a negative
 * errno. */
int jsp_process_watch_thread(void);

#endif
