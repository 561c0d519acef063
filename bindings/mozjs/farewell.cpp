/* farewell.cpp - a thread of ours that acts on the program's signals.
 *
 * SPDX-License-Identifier: MIT
 */
#include "farewell.h"

#include <cerrno>
#include <csignal>
#include <cstddef>

#include <pthread.h>
#include <unistd.h>

#include "pipe.h"

namespace {

constexpr int farewell_signals[] = { SIGTERM, SIGINT, SIGHUP };
constexpr size_t farewell_stack = 1 << 20; /* of the thread that completes the capture */

/* Set before the first handler is installed, then constant. */
int farewell_pipe[2];
pid_t farewell_pid;
void (*farewell_last)(void);
void (*farewell_toggle)(void);

/* SA_RESETHAND has restored the default of the fatal ones already. A child between fork
 * and exec has nothing to complete. */
void farewell_on_signal(int signo)
{
    int saved_errno = errno;
    unsigned char byte = static_cast<unsigned char>(signo);

    if (getpid() != farewell_pid || write(farewell_pipe[1], &byte, 1) != 1) {
        if (signo != SIGUSR2)
            raise(signo);
    }
    errno = saved_errno;
}

/* Return the next signal. 0: there will be none. */
int farewell_next(void)
{
    unsigned char byte;
    ssize_t n;

    do
        n = read(farewell_pipe[0], &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? byte : 0;
}

void *farewell_wait(void *)
{
    int signo;

    while ((signo = farewell_next()) == SIGUSR2)
        farewell_toggle();
    if (signo) {
        farewell_last();
        kill(getpid(), signo);
    }
    return nullptr;
}

/* The thread blocks all signals, so that the program's own threads still get them. */
int farewell_start_thread(void)
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, farewell_stack); /* the default is the program's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&thread, &attr, farewell_wait, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attr);
    if (err == 0)
        pthread_detach(thread);
    return -err;
}

/* Return false if the signal has another user. */
bool farewell_take(int signo, unsigned once)
{
    struct sigaction now = {}, ours = {};

    ours.sa_handler = farewell_on_signal;
    ours.sa_flags = static_cast<int>(once | SA_RESTART | SA_ONSTACK);
    sigfillset(&ours.sa_mask);
    return sigaction(signo, nullptr, &now) == 0 && now.sa_handler == SIG_DFL &&
           sigaction(signo, &ours, nullptr) == 0;
}

} // namespace

int farewell_install(void (*last)(void), void (*toggle)(void))
{
    int err = pipe_above(farewell_pipe);
    if (err < 0)
        return err;
    farewell_pid = getpid();
    farewell_last = last;
    farewell_toggle = toggle;

    err = farewell_start_thread();
    if (err < 0) {
        close(farewell_pipe[0]);
        close(farewell_pipe[1]);
        return err;
    }
    for (int signo : farewell_signals)
        (void)farewell_take(signo, SA_RESETHAND);
    return toggle && !farewell_take(SIGUSR2, 0) ? -EBUSY : 0;
}
