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

enum { UNSEEN_LINE = 64 }; /* bytes; a line with a signal set is shorter */

/* Take the signal set from this line of a thread's status, if `part` has all of the line. */
static void unseen_signals(uint64_t *set, const char *part, const char *line)
{
    const char *at = strstr(part, line);
    if (at && strchr(at + 1, '\n'))
        *set = strtoull(at + strlen(line), NULL, 16);
}

/* The line of groups comes before those of signals, and may have 700 KiB. */
static bool unseen_waits_there(pid_t tid, int signo)
{
    char path[48], part[4096];
    uint64_t pending = 0, blocked = 0;
    size_t kept = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/status", (int)tid);
    int fd = jsp_descriptor_open(path, O_RDONLY, 0);
    if (fd < 0)
        return false;
    for (ssize_t n; (n = read(fd, part + kept, sizeof part - 1 - kept)) > 0;) {
        size_t used = kept + (size_t)n;
        part[used] = 0;
        unseen_signals(&pending, part, "\nSigPnd:");
        unseen_signals(&blocked, part, "\nSigBlk:");
        kept = used < UNSEEN_LINE ? used : UNSEEN_LINE;
        memmove(part, part + used - kept, kept);
    }
    close(fd);
    return (pending & blocked) >> (signo - 1) & 1;
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
