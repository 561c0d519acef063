/* session/unseen.c - see unseen.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "unseen.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image/descriptor.h"
#include "sigsafe/sample.h"

/* Return the signal set in this line of a thread's status, or none without such a
 * line. */
static uint64_t unseen_signals(const char *status, const char *line)
{
    const char *at = strstr(status, line);
    return at ? strtoull(at + strlen(line), NULL, 16) : 0;
}

static bool unseen_waits_there(pid_t tid, int signo)
{
    char path[48], status[4096];
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    int fd = jsp_descriptor_open(path, O_RDONLY, 0);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, status, sizeof status - 1);
    close(fd);
    status[n > 0 ? n : 0] = 0;
    uint64_t waiting = unseen_signals(status, "\nSigPnd:") & unseen_signals(status, "\nSigBlk:");
    return waiting >> (signo - 1) & 1;
}

static bool unseen_waits_here(int signo)
{
    sigset_t pending, blocked;
    return sigpending(&pending) == 0 && pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 &&
           sigismember(&pending, signo) == 1 && sigismember(&blocked, signo) == 1;
}

bool jsp_unseen_waits(pid_t tid, int signo)
{
    return tid == (pid_t)syscall(SYS_gettid) ? unseen_waits_here(signo)
                                             : unseen_waits_there(tid, signo);
}

bool jsp_unseen_is_taken(int signo)
{
    struct sigaction now;
    return sigaction(signo, NULL, &now) == 0 &&
           !(now.sa_flags & SA_SIGINFO && now.sa_sigaction == jsp_sample_handle);
}
