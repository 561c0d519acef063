/* session/process.h - what there is once in a process: a lock that fork() respects,
 * and the notice that a thread is exiting. Any thread.
 *
 * The lock is the outermost one; a session's own lock may be taken inside it,
 * never the other way round. It is held for moments only; over a write just where a
 * thread detaches, no drain is left, and its last samples do not fit the buffer.
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

/* The first call counts; -EAGAIN: no thread-specific key is left. */
int jsp_process_init(const struct jsp_process_hooks *hooks);

void jsp_process_lock(void);
void jsp_process_unlock(void);

/* thread_exit will be called when the calling thread exits. */
int jsp_process_watch_thread(void);

#endif
