/* image/descriptor.c - see descriptor.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

int jsp_descriptor_copy(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return copy < 0 ? -errno : copy;
}

int jsp_descriptor_high(int fd)
{
    if (fd < 0)
        return -errno;
    if (fd > STDERR_FILENO)
        return fd;
    int copy = jsp_descriptor_copy(fd);
    close(fd);
    return copy;
}

int jsp_descriptor_open(const char *path, int flags, mode_t mode)
{
    return jsp_descriptor_high(open(path, flags | O_CLOEXEC, mode));
}

int jsp_descriptor_open_at(int folder, const char *path)
{
    return jsp_descriptor_high(openat(folder, path, O_RDONLY | O_CLOEXEC));
}

/* O_NONBLOCK: a named pipe without a reader must not block the host. */
int jsp_descriptor_open_own(const char *path, int flags, mode_t mode)
{
    struct stat st;
    int fd = jsp_descriptor_open(path, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode);
    if (fd < 0)
        return fd == -ENXIO || fd == -EISDIR ? -EEXIST : fd; /* a pipe, a folder */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
        st.st_uid == geteuid())
        return fd;
    close(fd);
    return -EEXIST;
}

int jsp_descriptor_lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? -ETXTBSY : 0;
}

void jsp_descriptor_unlock(int fd)
{
    flock(fd, LOCK_UN);
}
