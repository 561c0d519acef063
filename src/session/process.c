/* session/process.c - see process.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "process.h"

#include <errno.h>
#include <pthread.h>

#include "callable.h"

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static const struct jsp_process_hooks *process_hooks;
static pthread_key_t process_key;
static int process_error;

static void process_before_fork(void)
{
    jsp_process_lock();
    process_hooks->before_fork();
}

static void process_after_fork(void)
{
    process_hooks->after_fork();
    jsp_process_unlock();
}

static void process_in_child(void)
{
    process_hooks->in_child();
    process_after_fork();
}

static void process_thread_exit(void *unused)
{
    (void)unused;
    process_hooks->thread_exit();
}

static void process_begin(void)
{
    process_error = pthread_key_create(&process_key, process_thread_exit) ? -EAGAIN : 0;
    if (!process_error)
        process_error = -pthread_atfork(process_before_fork, process_after_fork,
                                        process_in_child);
}

int jsp_process_init(const struct jsp_process_hooks *hooks)
{
    jsp_process_lock();
    if (!process_hooks)
        process_hooks = hooks;
    jsp_process_unlock();
    pthread_once(&process_once, process_begin);
    return process_error;
}

/* A signal finds it so in no function of the host's, but in fork and where threads end. */
void jsp_process_lock(void)
{
    jsp_callable_not(1);
    pthread_mutex_lock(&process_lock);
}

void jsp_process_unlock(void)
{
    pthread_mutex_unlock(&process_lock);
    jsp_callable_not(-1);
}

int jsp_process_watch_thread(void)
{
    return -pthread_setspecific(process_key, &process_key);
}
