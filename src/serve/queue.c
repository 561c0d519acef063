/* serve/queue.c - see queue.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"

#define QUEUE_ENDING ".push"
#define QUEUE_PART ".part"
enum { QUEUE_LOCK_TRIES = 100 }; /* a millisecond each */

static int queue_make(const char *path)
{
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof part)
        return -ENAMETOOLONG;
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i])
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return -errno;
    }
    return 0;
}

static bool queue_ends(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && n < QUEUE_NAME && strcmp(name + n - m, ending) == 0;
}

/* What the folder has. */
struct queue_sum {
    char oldest[QUEUE_NAME]; /* "": nothing */
    char odd[QUEUE_NAME];    /* the first of what is no regular file; "": nothing */
    uint64_t bytes;
    uint32_t n;
};

static void queue_first(char *first, const char *name)
{
    if (!*first || strcmp(name, first) < 0)
        snprintf(first, QUEUE_NAME, "%s", name);
}

/* The oldest one is the next after `after`. */
static int queue_look(const struct queue *q, struct queue_sum *out, const char *ending,
                      const char *after)
{
    const struct dirent *entry;
    struct stat is;
    int fd = openat(q->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    *out = (struct queue_sum){ .n = 0 };
    if (!dir)
        return -errno;
    while ((entry = readdir(dir)) != NULL) {
        if (!queue_ends(entry->d_name, ending) ||
            fstatat(q->folder, entry->d_name, &is, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (!S_ISREG(is.st_mode)) {
            queue_first(out->odd, entry->d_name);
            continue;
        }
        out->n++;
        out->bytes += (uint64_t)is.st_size;
        if (strcmp(entry->d_name, after) > 0)
            queue_first(out->oldest, entry->d_name);
    }
    closedir(dir);
    return 0;
}

/* Lock a folder for this command. Return 0, or -EWOULDBLOCK: another command has it. */
static int queue_lock(struct queue *q, int fd, const struct stat *is)
{
    uint64_t id = jsp_hash_mix(is->st_dev, is->st_ino);
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
        if (errno != EWOULDBLOCK)
            return 0; /* a file system without locks */
        /* ORDER: relaxed. It is a number, and says nothing of other memory. */
        if (q->locked && atomic_load_explicit(q->locked, memory_order_relaxed) == id)
            return 0;
        if (!q->locked || i == QUEUE_LOCK_TRIES)
            return -EWOULDBLOCK;
        poll(NULL, 0, 1); /* our other process may have locked it now, and says so next */
    }
    if (q->locked) /* ORDER: relaxed, as above. */
        atomic_store_explicit(q->locked, id, memory_order_relaxed);
    return 0;
}

/* Open the folder that is at the path now, and make it if there is none. Each time lock it: the one
 * of our processes that had the lock may have been killed. */
static int queue_at_path(struct queue *q)
{
    struct stat now, ours;
    if (q->folder >= 0 && stat(q->path, &now) == 0 && fstat(q->folder, &ours) == 0 &&
        now.st_dev == ours.st_dev && now.st_ino == ours.st_ino)
        return queue_lock(q, q->folder, &ours);
    int err = queue_make(q->path);
    if (err)
        return err;
    int fd = open(q->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    err = fstat(fd, &now) < 0 ? -errno : queue_lock(q, fd, &now);
    if (err) {
        close(fd);
        return err;
    }
    q->is_another = q->folder >= 0;
    queue_close(q);
    q->folder = fd;
    return 0;
}

int queue_open(struct queue *q, const char *path, uint64_t most)
{
    *q = (struct queue){ .folder = -1, .most = most };
    if (snprintf(q->path, sizeof q->path, "%s", path) >= (int)sizeof q->path)
        return -ENAMETOOLONG;
    int err = queue_at_path(q);
    if (!err)
        queue_tidy(q);
    return err;
}

void queue_tidy(struct queue *q)
{
    struct queue_sum sum;
    if (queue_at_path(q) < 0)
        return;
    while (queue_look(q, &sum, QUEUE_PART, "") == 0 && sum.n)
        if (unlinkat(q->folder, sum.oldest, 0) < 0)
            break;
}

void queue_close(struct queue *q)
{
    if (q->folder >= 0)
        close(q->folder);
    q->folder = -1;
}

/* -- Putting ---------------------------------------------------------------------- */

static int queue_write(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

int queue_put(struct queue *q, const struct queue_item *item, uint64_t *dropped)
{
    static unsigned number;
    char head[QUEUE_WORD + QUEUE_NAME + 4], name[QUEUE_NAME], part[QUEUE_NAME];
    struct timespec now;
    struct queue_sum sum;
    int n = snprintf(head, sizeof head, "%s\n%s\n", item->path, item->type);
    if (n >= (int)sizeof head)
        return -E2BIG;
    int err = queue_at_path(q);
    if (err)
        return err;
    uint64_t size = (uint64_t)n + item->n;
    while (queue_look(q, &sum, QUEUE_ENDING, "") == 0 && sum.n && sum.bytes + size > q->most) {
        if (unlinkat(q->folder, sum.oldest, 0) < 0 && errno != ENOENT)
            return -errno;
        ++*dropped;
    }
    if (size > q->most) {
        ++*dropped;
        return 0;
    }
    clock_gettime(CLOCK_REALTIME, &now);
    int len = snprintf(name, sizeof name, "%012" PRId64 "%09ld-%06u", (int64_t)now.tv_sec,
                       now.tv_nsec, number++ % 1000000);
    snprintf(part, sizeof part, "%.40s" QUEUE_PART, name);
    snprintf(name + len, sizeof name - (size_t)len, QUEUE_ENDING);
    int fd = openat(q->folder, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    err = queue_write(fd, head, (size_t)n);
    if (!err)
        err = queue_write(fd, item->body, item->n);
    if (close(fd) < 0 && !err)
        err = -errno;
    if (!err && renameat(q->folder, part, q->folder, name) < 0)
        err = -errno;
    if (err)
        unlinkat(q->folder, part, 0);
    return err;
}

/* -- Taking ----------------------------------------------------------------------- */

static int queue_read(const struct queue *q, const char *name, struct jsp_bytes *out)
{
    char block[1 << 14];
    struct stat is;
    ssize_t n;
    int fd = openat(q->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err = 0;
    if (fd < 0)
        return -errno;
    if (fstat(fd, &is) < 0 || !S_ISREG(is.st_mode))
        err = -EINVAL;
    else if ((uint64_t)is.st_size > q->most)
        err = -EFBIG;
    while (!err && (n = read(fd, block, sizeof block)) != 0)
        err = n > 0 ? jsp_bytes_write(out, block, (size_t)n) : errno == EINTR ? 0 : -errno;
    close(fd);
    return err;
}

/* Take a line of the head. Return false if it does not fit. */
static bool queue_line(struct queue_taken *t, char *out, size_t size)
{
    const char *at = t->file.at + t->body;
    const char *end = memchr(at, '\n', t->file.n - t->body);
    size_t n = end ? (size_t)(end - at) : size;
    if (n >= size)
        return false;
    memcpy(out, at, n);
    out[n] = 0;
    t->body += n + 1;
    return strlen(out) == n && n;
}

/* Note what can not be sent, if it is the oldest such, and look at the next one. */
static void queue_skip(struct queue *q, const char *name, int err, char after[QUEUE_NAME])
{
    snprintf(after, QUEUE_NAME, "%s", name);
    if (!*q->odd) {
        queue_first(q->odd, name);
        q->odd_err = err;
    }
}

int queue_take(struct queue *q, struct queue_taken *out, uint64_t *dropped)
{
    struct queue_sum sum;
    char after[QUEUE_NAME] = "";
    int err = queue_at_path(q);
    memset(out, 0, sizeof *out);
    *q->odd = 0;
    if (!err && *q->left)
        err = queue_remove(q, q->left);
    while (!err && (err = queue_look(q, &sum, QUEUE_ENDING, after)) == 0) {
        if (*sum.odd && !*q->odd) {
            queue_first(q->odd, sum.odd);
            q->odd_err = 0;
        }
        if (!*sum.oldest)
            break;
        out->file.n = out->body = 0;
        int read_err = queue_read(q, sum.oldest, &out->file);
        if (read_err == -ENOENT)
            continue; /* it made place for another one */
        if (read_err && read_err != -EFBIG) {
            queue_skip(q, sum.oldest, read_err, after);
            continue;
        }
        if (!read_err && out->file.n && queue_line(out, out->path, sizeof out->path) &&
            *out->path == '/' && queue_line(out, out->type, sizeof out->type)) {
            snprintf(out->name, sizeof out->name, "%s", sum.oldest);
            return 1;
        }
        int stays = unlinkat(q->folder, sum.oldest, 0) < 0 ? -errno : 0;
        if (stays)
            queue_skip(q, sum.oldest, stays, after);
        else
            ++*dropped;
    }
    return err;
}

int queue_remove(struct queue *q, const char *name)
{
    int err = unlinkat(q->folder, name, 0) < 0 && errno != ENOENT ? -errno : 0;
    if (!err)
        *q->left = 0;
    else if (name != q->left)
        snprintf(q->left, sizeof q->left, "%s", name);
    return err;
}

const char *queue_error(int err)
{
    return err == -EWOULDBLOCK ? "another push uses it" : strerror(-err);
}

uint32_t queue_waiting(struct queue *q)
{
    struct queue_sum sum;
    if (queue_at_path(q) < 0 || queue_look(q, &sum, QUEUE_ENDING, "") < 0)
        return 0;
    return sum.n - (sum.n && *q->left);
}
