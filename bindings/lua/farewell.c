/* farewell.c - see farewell.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "farewell.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* Constant once a handler is there. */
static int farewell_pipe[2];
static pid_t farewell_pid;
static void (*farewell_last)(void);

/* The default is back already (SA_RESETHAND): a second signal ends the process at once,
 * and so does one in a child between fork and exec. */
static void farewell_handle(int signo)
{
    int saved_errno = errno;
    unsigned char byte = (unsigned char)signo;
    if (getpid() != farewell_pid || write(farewell_pipe[1], &byte, 1) != 1)
        raise(signo);
    errno = saved_errno;
}

static void *farewell_thread(void *unused)
{
    unsigned char byte;
    (void)unused;
    ssize_t n;
    while ((n = read(farewell_pipe[0], &byte, 1)) < 0 && errno == EINTR)
        continue;
    if (n == 1) {
        farewell_last();
        kill(getpid(), byte);
    }
    return NULL;
}

/* It takes no signals: they are the program's. */
static int farewell_begin(void)
{
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&thread, NULL, farewell_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!err)
        pthread_detach(thread);
    return -err;
}

int jsp_lua_farewell(void (*last)(void))
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction ours = { .sa_handler = farewell_handle,
                              .sa_flags = (int)SA_RESETHAND | SA_RESTART | SA_ONSTACK }, now;
    if (pipe2(farewell_pipe, O_CLOEXEC) < 0)
        return -errno;
    farewell_pid = getpid();
    farewell_last = last;
    int err = farewell_begin();
    for (size_t i = 0; !err && i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
    return err;
}
