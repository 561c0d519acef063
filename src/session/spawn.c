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

int jsp_spawn(pthread_t *out, void *(*run)(void *arg), void *arg, const char *name)
{
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
        err = -pthread_create(out, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    jsp_sample_mask(-1);
    pthread_attr_destroy(&attr);
    if (!err)
        pthread_setname_np(*out, name);
    return err;
}
