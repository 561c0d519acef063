/* session/process.h - what there is once in a process: a lock, what fork() does to it, and
 * the notice that a thread is exiting. Any thread.
 *
 * The lock is the outermost one; a session's own lock may be taken inside it,
 * never the other way round. It is held for moments only; over a write just where a
 * thread detaches, no drain is left, and its last samples do not fit the buffer.
 *
 * No lock of ours is held over a fork: the host's handlers, which run between ours and the
 * fork, may call us, or wait for a thread that does. So the child may be a copy of any
 * moment. It makes the locks anew (they may be held by a thread that it does not have), and
 * what they guard is changed in an order in which every moment is whole. Its first call of
 * ours does so, because a handler of the host's may come before ours in the child.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_PROCESS_H
#define JSP_SESSION_PROCESS_H

/* What the process's other rooms do around a fork, in the forking thread. */
struct jsp_process_hooks {
    void (*before_fork)(void);
    void (*after_fork)(void); /* in both processes, after in_child */
    void (*in_child)(void);
    void (*thread_exit)(void);
};

/* Each call gives the same. -EAGAIN: no thread-specific key is left. */
int jsp_process_init(const struct jsp_process_hooks *hooks);

/* Where a lock of the process is about to be taken: make all of them anew, if this is the
 * child of a fork whose handlers still run. */
void jsp_process_renew(void);

void jsp_process_lock(void);
void jsp_process_unlock(void);

/* With the lock held: give it away until the next wake; wake all that wait. */
void jsp_process_wait(void);
void jsp_process_wake(void);

/* thread_exit will be called when the calling thread exits. */
int jsp_process_watch_thread(void);

#endif
