/* farewell.cpp - one last call before a signal ends the process.
 *
 * SPDX-License-Identifier: MIT
 */
#include "farewell.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace {

constexpr int farewell_signals[] = { SIGTERM, SIGINT, SIGHUP };

/* Set before the first handler is installed, then constant. */
int farewell_pipe[2];
pid_t farewell_pid;
void (*farewell_last)(void);

/* SA_RESETHAND has restored the default already. A child between fork and exec has
 * nothing to say farewell to. */
void farewell_on_signal(int signo)
{
    int saved_errno = errno;
    unsigned char byte = static_cast<unsigned char>(signo);

    if (getpid() != farewell_pid || write(farewell_pipe[1], &byte, 1) != 1)
        raise(signo);
    errno = saved_errno;
}

void *farewell_wait(void *)
{
    unsigned char byte;
    ssize_t n;

    do
        n = read(farewell_pipe[0], &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        return nullptr;
    farewell_last();
    kill(getpid(), byte);
    return nullptr;
}

/* The thread takes no signals, so that the program's own threads still get them. */
int farewell_start_thread(void)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&thread, nullptr, farewell_wait, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (err == 0)
        pthread_detach(thread);
    return -err;
}

void farewell_take(int signo)
{
    struct sigaction now = {}, ours = {};

    ours.sa_handler = farewell_on_signal;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART | SA_ONSTACK);
    sigfillset(&ours.sa_mask);
    if (sigaction(signo, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(signo, &ours, nullptr);
}

} // namespace

int farewell_install(void (*last)(void))
{
    if (pipe2(farewell_pipe, O_CLOEXEC) < 0)
        return -errno;
    farewell_pid = getpid();
    farewell_last = last;

    int err = farewell_start_thread();
    if (err < 0) {
        close(farewell_pipe[0]);
        close(farewell_pipe[1]);
        return err;
    }
    for (int signo : farewell_signals)
        farewell_take(signo);
    return 0;
}
