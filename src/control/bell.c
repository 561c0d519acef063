/* control/bell.c - see bell.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bell.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/descriptor.h"

int jsp_bell_open(struct jsp_bell *b)
{
    struct stat st;
    int ends[2], err = 0;
    b->ends[0] = b->ends[1] = -1;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    for (int i = 0; i < 2; i++) {
        b->ends[i] = jsp_descriptor_copy(ends[i]);
        close(ends[i]);
        if (b->ends[i] < 0)
            err = b->ends[i];
    }
    if (!err && fstat(b->ends[0], &st) < 0)
        err = -errno;
    if (err) {
        jsp_bell_close(b);
        return err;
    }
    b->dev = st.st_dev;
    b->ino = st.st_ino;
    return 0;
}

void jsp_bell_close(struct jsp_bell *b)
{
    for (int i = 0; i < 2; i++) {
        if (b->ends[i] >= 0)
            close(b->ends[i]);
        b->ends[i] = -1;
    }
}

bool jsp_bell_is_ours(const struct jsp_bell *b)
{
    struct stat st;
    for (int i = 0; i < 2; i++)
        if (b->ends[i] < 0 || fstat(b->ends[i], &st) < 0 || st.st_dev != b->dev ||
            st.st_ino != b->ino)
            return false;
    return true;
}

void jsp_bell_ring(const struct jsp_bell *b)
{
    ssize_t n = write(b->ends[1], "", 1); /* a full pipe has rung */
    (void)n;
}

void jsp_bell_heard(const struct jsp_bell *b)
{
    char rung[64];
    ssize_t n = read(b->ends[0], rung, sizeof rung); /* what is left wakes again */
    (void)n;
}
