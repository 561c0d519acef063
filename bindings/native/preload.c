/* preload.c - samples the C stacks of a program that knows nothing of jsprof. `jsprof record --
 * PROGRAM` has the dynamic linker load it first.
 *
 * SPDX-License-Identifier: MIT
 *
 * A constructor begins the recording, before the program's main. The library replaces
 * pthread_create, to attach each new thread, _exit, to complete the capture, and waits.c what waits
 * in a loop. A program that records itself (program.h) is left alone.
 *
 * The launcher sets JSPROF=FILE and its variables, and JSPROF_NATIVE_PID to the process. In a
 * process that is recorded here, JSPROF is called JSPROF_NATIVE, so that nothing else in it
 * records, too; a program that it executes gets the old name back.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jsprof.h"
#include "program.h"
#include "waits.h"

#define PRELOAD_EXPORT __attribute__((visibility("default")))

enum { PRELOAD_NAME = 16, PRELOAD_WAIT_S = 2 };

static jsprof *preload_session; /* NULL: nothing is recorded; it stays after the end */
static _Atomic pid_t preload_pid; /* the process that records; 0: it has ended */
static pthread_mutex_t preload_lock = PTHREAD_MUTEX_INITIALIZER; /* no attachment after the end */
static sem_t preload_ends, preload_ended;
static bool preload_follows; /* forked children record, too */

/* -- The end ---------------------------------------------------------------------------- */

/* Complete the capture, once. */
static void preload_close(void)
{
    pid_t pid = getpid();
    pthread_mutex_lock(&preload_lock);
    /* ORDER: relaxed. The exchange alone decides who closes; the session was made before. */
    if (atomic_compare_exchange_strong_explicit(&preload_pid, &pid, 0, memory_order_relaxed,
                                                memory_order_relaxed)) {
        native_waits_stop();
        jsprof_close(preload_session);
    }
    pthread_mutex_unlock(&preload_lock);
}

/* This thread closes for one that must not wait for a lock. */
static void *preload_closer(void *none)
{
    prctl(PR_SET_NAME, "jsprof-closer");
    while (sem_wait(&preload_ends) < 0 && errno == EINTR)
        continue;
    preload_close();
    sem_post(&preload_ended);
    return none;
}

static void preload_make_closer(void)
{
    pthread_t thread;
    sigset_t all, before;
    sem_init(&preload_ends, 0, 0);
    sem_init(&preload_ended, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, preload_closer, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The session goes on in the child, or it ended there. */
static void preload_in_child(void)
{
    pthread_mutex_init(&preload_lock, NULL); /* another thread of the parent may have held it */
    if (!preload_follows)
        native_waits_stop();
    /* ORDER: relaxed. The child has one thread. */
    atomic_store_explicit(&preload_pid, preload_follows ? getpid() : 0, memory_order_relaxed);
    if (preload_follows)
        preload_make_closer();
}

__attribute__((destructor)) static void preload_end(void)
{
    preload_close();
}

/* A signal handler may call this while the thread holds a lock that closing needs: then the file
 * ends with what was written before. A child of vfork is not the process. */
PRELOAD_EXPORT void _exit(int status)
{
    struct timespec until;
    /* ORDER: relaxed. Only this process stores its own number. */
    if (atomic_load_explicit(&preload_pid, memory_order_relaxed) == getpid()) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += PRELOAD_WAIT_S;
        sem_post(&preload_ends);
        while (sem_timedwait(&preload_ended, &until) < 0 && errno == EINTR)
            continue;
    }
    syscall(SYS_exit_group, status);
    __builtin_trap();
}

PRELOAD_EXPORT void _Exit(int status)
{
    _exit(status);
}

/* -- Threads ------------------------------------------------------------------------------ */

struct preload_thread {
    void *(*main)(void *data);
    void *data;
};

static void preload_leave(void *thread)
{
    native_waits_of(NULL);
    jsprof_thread_detach(thread);
}

static void *preload_main(void *given)
{
    const struct preload_thread t = *(struct preload_thread *)given;
    char name[PRELOAD_NAME] = "";
    jsprof_thread *thread = NULL;
    void *result;
    free(given);
    prctl(PR_GET_NAME, name);
    pthread_mutex_lock(&preload_lock);
    /* ORDER: relaxed. The lock orders it with the end. */
    if (atomic_load_explicit(&preload_pid, memory_order_relaxed))
        (void)jsprof_thread_attach(preload_session, name, &thread); /* else it has no samples */
    pthread_mutex_unlock(&preload_lock);
    native_waits_of(thread);
    pthread_cleanup_push(preload_leave, thread);
    result = t.main(t.data);
    pthread_cleanup_pop(1);
    return result;
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* The library's own threads are not the program's. */
static bool preload_is_ours(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    return at >= (uintptr_t)__ehdr_start && at < (uintptr_t)etext;
}

PRELOAD_EXPORT int pthread_create(pthread_t *out, const pthread_attr_t *attributes,
                                  void *(*main)(void *), void *data)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    /* ORDER: relaxed. Without a recording the thread needs nothing of ours. */
    bool is_plain = !atomic_load_explicit(&preload_pid, memory_order_relaxed) ||
                    preload_is_ours(__builtin_return_address(0));
    struct preload_thread *t = is_plain ? NULL : malloc(sizeof *t);
    if (!t)
        return next(out, attributes, main, data);
    *t = (struct preload_thread){ main, data };
    int err = next(out, attributes, preload_main, t);
    if (err)
        free(t);
    return err;
}

/* -- The beginning ------------------------------------------------------------------------ */

static int preload_options(jsprof_options *o)
{
    static const char *const names[] = { "JSPROF_HZ", "JSPROF_CLOCK", "JSPROF_SOURCE",
                                         "JSPROF_COMPACT", "JSPROF_CHILDREN",
                                         "JSPROF_STALLS" };
    int err = 0;
    for (size_t i = 0; !err && i < sizeof names / sizeof *names; i++)
        err = native_get(names[i]) ? jsprof_options_set(o, names[i], native_get(names[i])) : 0;
    return err;
}

/* Record into the file, or beside it if that is the file of another process. */
static void preload_record(bool is_first, bool is_again)
{
    static jsprof_thread *thread;
    char path[NATIVE_PATH], why[300];
    jsprof_options o = { .size = sizeof o, .path = path, .flags = JSPROF_NOFOLLOW };
    native_place(path, is_first);
    int err = preload_options(&o);
    if (!err && is_again)
        native_remove(path);
    if (!err)
        err = jsprof_open(&preload_session, &o);
    if (!err)
        err = jsprof_thread_attach(preload_session, "main", &thread);
    if (!err)
        err = jsprof_start(preload_session);
    if (err) {
        fprintf(stderr, "jsprof: nothing is recorded: %s\n",
                jsprof_error_text(err, why, sizeof why));
        return;
    }
    preload_follows = o.flags & JSPROF_CHILDREN;
    preload_make_closer();
    pthread_atfork(NULL, NULL, preload_in_child);
    /* ORDER: relaxed. No other thread of the program exists before main. */
    atomic_store_explicit(&preload_pid, getpid(), memory_order_relaxed);
    native_waits_of(thread);
    if (o.stalls)
        native_waits_start();
}

__attribute__((constructor)) static void preload_begin(void)
{
    int saved_errno = errno;
    const char *pid = getauxval(AT_SECURE) ? NULL : native_get("JSPROF_NATIVE_PID");
    const char *children = native_get("JSPROF_CHILDREN");
    bool is_first = pid && strtol(pid, NULL, 10) == getpid();
    if (is_first || (pid && children && strcmp(children, "1") == 0)) {
        bool is_again = !is_first || native_get("JSPROF_NATIVE");
        native_rename("JSPROF_NATIVE", "JSPROF");
        if (native_get("JSPROF") && !native_leaves(is_first, is_again)) {
            preload_record(is_first, is_again);
            native_rename("JSPROF", "JSPROF_NATIVE");
        }
    }
    errno = saved_errno;
}
