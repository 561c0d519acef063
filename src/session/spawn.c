/* session/spawn.c - see drain.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "drain.h"

#include <link.h>
#include <stddef.h>

#include "image/forkgate.h"
#include "sigsafe/sample.h"
#include "signals.h"

enum {
    /* The drain uses less than 64 KiB; the rest is for the host's on_drain. It is only
     * address space until it is touched. */
    SPAWN_STACK = 256 << 10,
    SPAWN_TLS_SPARE = 16 << 10, /* additional storage of libcs */
    SPAWN_TLS_UNSEEN = 1 << 20, /* the whole amount, if the objects cannot be read now */
};

static int spawn_tls_of(struct dl_phdr_info *object, size_t size, void *sum)
{
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)sum += object->dlpi_phdr[i].p_memsz + object->dlpi_phdr[i].p_align;
    return 0;
}

/* Return the size of thread-local storage. The objects are not walked while another
 * thread forks. */
static size_t spawn_tls(void)
{
    size_t sum = SPAWN_TLS_SPARE;
    if (!jsp_forkgate_enter())
        return SPAWN_TLS_UNSEEN;
    dl_iterate_phdr(spawn_tls_of, &sum);
    jsp_forkgate_leave();
    return sum;
}

/* -- The thread's first steps -------------------------------------------------- */

/* Lies on the stack of the thread that starts the other one, until that has begun. */
struct spawn_start {
    void *(*run)(void *arg);
    void (*prepare)(void *arg);
    void *arg;
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool has_begun; /* under `lock` */
};

static void *spawn_main(void *start)
{
    struct spawn_start *s = start;
    void *(*run)(void *arg) = s->run, *arg = s->arg;
    if (s->prepare)
        s->prepare(arg);
    pthread_mutex_lock(&s->lock);
    s->has_begun = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->lock);
    return run(arg);
}

/* Start the thread and wait until it has begun: its first system calls are others than its later
 * ones, and the host may enter a sandbox next. */
static int spawn_begin(pthread_t *out, const pthread_attr_t *attr, struct spawn_start *s)
{
    int cancel;
    int err = -pthread_create(out, attr, spawn_main, s);
    if (err)
        return err;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* the caller holds locks */
    pthread_mutex_lock(&s->lock);
    while (!s->has_begun)
        pthread_cond_wait(&s->cond, &s->lock);
    pthread_mutex_unlock(&s->lock);
    pthread_setcancelstate(cancel, NULL);
    return 0;
}

int jsp_spawn(pthread_t *out, const struct jsp_spawn *what)
{
    struct spawn_start start = { what->run, what->prepare, what->arg, PTHREAD_MUTEX_INITIALIZER,
                                 PTHREAD_COND_INITIALIZER, false };
    pthread_attr_t attr;
    sigset_t all, old;
    int err = -pthread_attr_init(&attr);
    if (err)
        return err;
    /* glibc takes the thread-local storage of all objects from the thread's stack; whole
     * pages of any size */
    size_t bytes = (SPAWN_STACK + spawn_tls() + 0xFFFF) & ~(size_t)0xFFFF;
    err = -pthread_attr_setstacksize(&attr, bytes);
    jsp_signals_all(&all);
    jsp_sample_mask(1);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    if (!err)
        err = spawn_begin(out, &attr, &start);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    jsp_sample_mask(-1);
    pthread_attr_destroy(&attr);
    pthread_cond_destroy(&start.cond);
    pthread_mutex_destroy(&start.lock);
    if (!err)
        pthread_setname_np(*out, what->name);
    return err;
}
