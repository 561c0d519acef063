/* printed.h - where a program prints, whatever its language: that is no file for a capture.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_PRINTED_H
#define JSPROF_PRINTED_H

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline bool printed_is_same(const struct stat *file, int fd)
{
    struct stat other;
    return fstat(fd, &other) == 0 && file->st_dev == other.st_dev &&
           file->st_ino == other.st_ino && (!S_ISCHR(file->st_mode) || isatty(fd));
}

/* /dev/tty is the program's terminal by another name. */
static inline bool printed_is_terminal(const char *path, const struct stat *file)
{
    int fd = S_ISCHR(file->st_mode) ? open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
    bool is_terminal = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return is_terminal;
}

/* Return whether a capture at this path would mix with what the program prints: "-", the file or
 * pipe of standard output or error, or a terminal. */
static inline bool jsp_is_printed(const char *path)
{
    struct stat file;
    return strcmp(path, "-") == 0 ||
           (stat(path, &file) == 0 && (printed_is_same(&file, STDOUT_FILENO) ||
                                       printed_is_same(&file, STDERR_FILENO) ||
                                       printed_is_terminal(path, &file)));
}

#endif
