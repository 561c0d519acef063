/* fault/shim/locks.c - preloaded: a mutex that is unlocked by a thread that does not hold it ends
 * the program with status 99. glibc alone shows the holder. The child of a fork is let be, which
 * unlocks what its parent's thread has locked.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __GLIBC__
#error "needs glibc"
#endif

static int (*shim_unlock)(pthread_mutex_t *);
static pid_t shim_pid;

__attribute__((constructor)) static void shim_begin(void)
{
    shim_unlock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    shim_pid = getpid();
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    static const char said[] = "a mutex is unlocked that this thread does not hold\n";
    if (!shim_unlock)
        shim_begin();
    if (m->__data.__owner != syscall(SYS_gettid) && getpid() == shim_pid) {
        if (write(STDERR_FILENO, said, strlen(said)) > 0)
            _exit(99);
        _exit(98);
    }
    return shim_unlock(m);
}
