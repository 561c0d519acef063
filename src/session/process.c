/* session/process.c - see process.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "process.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "session/alone/callable.h"
#include "image/forkgate.h"

/* The forks of the calling thread that are under way. */
struct process_fork {
    uint32_t depth; /* a prepare handler of the host may fork, too */
    pid_t pid;      /* the process whose locks it has seen; in a new child, the parent */
    int cancel;     /* the thread's cancellation state before */
};

static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t process_cond = PTHREAD_COND_INITIALIZER;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static const struct jsp_process_hooks *_Atomic process_hooks;
static pthread_key_t process_key;
static int process_error;
static _Atomic uint64_t process_n_forks; /* a child continues its parent's */
static _Thread_local struct process_fork process_fork;

uint64_t jsp_process_forks(void)
{
    /* ORDER: relaxed. A statistic. */
    return atomic_load_explicit(&process_n_forks, memory_order_relaxed);
}

static const struct jsp_process_hooks *process_get_hooks(void)
{
    /* ORDER: relaxed. The hooks are constant, and set before fork can call us. */
    return atomic_load_explicit(&process_hooks, memory_order_relaxed);
}

/* -- Fork ------------------------------------------------------------------- */

static void process_before_fork(void)
{
    jsp_callable_not(1);
    if (process_fork.depth++)
        return;
    /* fork is not a cancellation point, but functions that we call may be. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &process_fork.cancel);
    process_fork.pid = getpid();
    process_get_hooks()->before_fork();
    jsp_forkgate_close();
}

static void process_after_fork(void)
{
    if (--process_fork.depth == 0) {
        jsp_forkgate_open();
        process_get_hooks()->after_fork();
        pthread_setcancelstate(process_fork.cancel, NULL);
    }
    jsp_callable_not(-1);
}

static void process_in_parent(void)
{
    /* ORDER: relaxed. A statistic. */
    atomic_fetch_add_explicit(&process_n_forks, 1, memory_order_relaxed);
    process_after_fork();
}

static void process_in_child(void)
{
    jsp_process_renew();
    process_after_fork();
}

void jsp_process_renew(void)
{
    if (!process_fork.depth || process_fork.pid == getpid())
        return;
    process_fork.pid = getpid();
    process_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    process_cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    jsp_forkgate_in_child();
    process_get_hooks()->in_child();
}

/* -- Once ------------------------------------------------------------------- */

/* Disable cancellation first: a pending one would act in a write of the exit hook. */
static void process_thread_exit(void *unused)
{
    int cancel;
    (void)unused;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    process_get_hooks()->thread_exit();
    pthread_setcancelstate(cancel, NULL);
}

static void process_begin(void)
{
    process_error = pthread_key_create(&process_key, process_thread_exit) ? -EAGAIN : 0;
    if (!process_error)
        process_error = -pthread_atfork(process_before_fork, process_in_parent,
                                        process_in_child);
}

int jsp_process_init(const struct jsp_process_hooks *hooks)
{
    jsp_process_renew();
    /* ORDER: relaxed. All callers pass the same hooks; `once` publishes them. */
    atomic_store_explicit(&process_hooks, hooks, memory_order_relaxed);
    pthread_once(&process_once, process_begin);
    return process_error;
}

/* -- The lock --------------------------------------------------------------- */

/* Take the lock. While it is held, jsprof_callable returns false; this matters in fork
 * and when threads end, because all other calls are marked already. */
void jsp_process_lock(void)
{
    jsp_callable_not(1);
    jsp_process_renew();
    pthread_mutex_lock(&process_mutex);
}

void jsp_process_unlock(void)
{
    pthread_mutex_unlock(&process_mutex);
    jsp_callable_not(-1);
}

void jsp_process_wait(void)
{
    pthread_cond_wait(&process_cond, &process_mutex);
}

void jsp_process_wake(void)
{
    pthread_cond_broadcast(&process_cond);
}

int jsp_process_watch_thread(void)
{
    return -pthread_setspecific(process_key, &process_key);
}
