/* serve/stored.c - see stored.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stored.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/wire.h"

/* Take the last number off a name, which has `before` in front of it. */
static bool stored_number(char *name, char before, long long *out)
{
    char *at = strrchr(name, before), *end;
    if (!at || at[1] < '0' || at[1] > '9')
        return false;
    *out = strtoll(at + 1, &end, 10);
    if (*end)
        return false;
    *at = 0;
    return true;
}

/* Read "PROGRAM-PID-BEGIN-NUMBER.cap". */
static bool stored_name(const char *name, struct stored *s)
{
    char text[NAME_MAX + 1];
    long long number, begin, pid;
    size_t n = strlen(name);
    if (n < 5 || n >= sizeof text || strcmp(name + n - 4, ".cap") != 0)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)n - 4, name);
    if (!stored_number(text, '-', &number) || !stored_number(text, '-', &begin) ||
        !stored_number(text, '-', &pid) || pid < 1 || pid > INT32_MAX || !*text)
        return false;
    s->begin = (time_t)begin;
    s->host.is.pid = s->host.is.recorded = (int32_t)pid;
    snprintf(s->host.host, sizeof s->host.host, "%.63s", text);
    return true;
}

/* Return true if the capture is complete, or if surely nobody has it open for writing: the kernel
 * grants a lease. */
static bool stored_is_complete(int fd, bool is_empty)
{
    int64_t end = 0; /* in any byte order: not 0 if it is closed */
    if (!is_empty && pread(fd, &end, sizeof end, offsetof(struct jsp_wire_header, end_time)) !=
                         (ssize_t)sizeof end)
        return false;
    bool has_none = !end && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
    if (has_none)
        fcntl(fd, F_SETLEASE, F_UNLCK);
    return end || has_none;
}

static void stored_one(const char *path, struct stored *s,
                       void (*take)(void *data, struct stored *s), void *data)
{
    struct stat is = { 0 };
    s->path = path;
    s->host.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (s->host.fd < 0) {
        s->err = -errno;
        if (s->err != -ENOENT && s->err != -ELOOP) /* its process has removed it; no capture */
            take(data, s);
        return;
    }
    s->is_empty = fstat(s->host.fd, &is) == 0 && is.st_size == 0;
    if (S_ISREG(is.st_mode) && stored_is_complete(s->host.fd, s->is_empty)) {
        s->end = is.st_mtim.tv_sec;
        take(data, s);
    }
    close(s->host.fd);
}

int stored_each(const char *folder, void (*take)(void *data, struct stored *s), void *data)
{
    struct dirent **found;
    char path[PATH_MAX];
    int n = scandir(folder, &found, NULL, alphasort);
    if (n < 0)
        return -errno;
    for (int i = 0; i < n; i++) {
        struct stored s = { .path = NULL };
        if (stored_name(found[i]->d_name, &s) &&
            snprintf(path, sizeof path, "%s/%s", folder, found[i]->d_name) < (int)sizeof path)
            stored_one(path, &s, take, data);
        free(found[i]);
    }
    free(found);
    return 0;
}
