/* unit/copy.h - copies of files, for the tests of libraries that are loaded anew.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_COPY_H
#define JSP_TEST_COPY_H

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* Copy a file, over a new inode; the byte at `at` differs (-1: none). */
static inline bool copy_file(const char *from, const char *to, off_t at)
{
    char bytes[4096], temporary[PATH_MAX + 4];
    ssize_t n = -1;
    off_t done = 0;
    snprintf(temporary, sizeof temporary, "%s.new", to);
    int in = open(from, O_RDONLY), out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    while (in >= 0 && out >= 0 && (n = read(in, bytes, sizeof bytes)) > 0) {
        if (at >= done && at < done + n)
            bytes[at - done] ^= 1;
        if (write(out, bytes, (size_t)n) != n)
            break;
        done += n;
    }
    close(in);
    close(out);
    return n == 0 && rename(temporary, to) == 0;
}

#endif
