/* fault/shim/write.c - preloaded: after SHIM_BYTES bytes the library's writes fail with SHIM_ERRNO,
 * SHIM_TIMES of them (0: all that come); with SHIM_PLACES also those to a place in the file.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic long shim_bytes, shim_failed;

static long shim_number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static bool shim_fails(void)
{
    long times = shim_number("SHIM_TIMES");
    if (shim_bytes < shim_number("SHIM_BYTES") || (times && shim_failed >= times))
        return false;
    shim_failed++;
    errno = (int)shim_number("SHIM_ERRNO");
    return true;
}

/* As much as goes before the limit: a disk also takes a part. */
ssize_t write(int fd, const void *bytes, size_t n)
{
    if (fd > STDERR_FILENO) {
        if (shim_fails())
            return -1;
        long left = shim_number("SHIM_BYTES") - shim_bytes;
        if (left > 0 && n > (size_t)left)
            n = (size_t)left;
        shim_bytes += (long)n;
    }
    return syscall(SYS_write, fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    if (shim_number("SHIM_PLACES") && shim_fails())
        return -1;
    return syscall(SYS_pwrite64, fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t at)
{
    return pwrite(fd, bytes, n, at);
}
