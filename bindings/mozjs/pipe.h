/* pipe.h - a pipe of the binding in a host's process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_PIPE_H
#define JSPROF_MOZJS_PIPE_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Make a pipe whose ends are closed on exec and have numbers above 2: a program that runs
 * with stdout closed must not print into it. Return 0 or a negative errno. */
static inline int pipe_above(int ends[2])
{
    int below[2];

    if (pipe2(below, O_CLOEXEC) < 0)
        return -errno;
    for (int i = 0; i < 2; i++)
        ends[i] = fcntl(below[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int err = ends[0] < 0 || ends[1] < 0 ? -EMFILE : 0;
    for (int i = 0; i < 2; i++) {
        close(below[i]);
        if (err && ends[i] >= 0)
            close(ends[i]);
    }
    return err;
}

#endif
