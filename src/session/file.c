/* session/file.c - see file.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/wire.h"
#include "image/descriptor.h"
#include "sigsafe/room.h"

enum {
    FILE_MODE = 0666, /* umask applies */
    FILE_TRIES = 10,
    FILE_NAMES = 1000,
    FILE_ID = sizeof(((struct jsp_wire_metadata *)0)->id),
};

/* -- Names ------------------------------------------------------------------ */

/* Copy `pattern` with %p replaced by the pid and %% by a percent sign. */
static int file_expand(char *to, size_t size, const char *pattern)
{
    size_t n = 0;
    for (; *pattern; pattern++) {
        if (size - n < 24)
            return -ENAMETOOLONG;
        if (pattern[0] == '%' && pattern[1] == 'p') {
            n += (size_t)snprintf(to + n, size - n, "%d", (int)getpid());
            pattern++;
        } else {
            to[n++] = *pattern;
            pattern += pattern[0] == '%' && pattern[1] == '%';
        }
    }
    to[n] = 0;
    return n ? 0 : -ENOENT;
}

/* Store the folder of a relative name, with a slash at its end, and return its length.
 * Return 0 if the current folder has no name any more; the relative name works for now.
 * Or -ENAMETOOLONG. */
static int file_folder(char *to, size_t size, const char *folder)
{
    bool is_known = folder ? strlen(folder) < size : getcwd(to, size) != NULL;
    if (folder && is_known)
        memcpy(to, folder, strlen(folder) + 1);
    if (!is_known || to[0] != '/')
        return folder ? -ENAMETOOLONG : 0;
    size_t n = strlen(to);
    if (n + 2 > size)
        return -ENAMETOOLONG;
    to[n] = '/';
    return (int)(to[n - 1] == '/' ? n : n + 1);
}

/* Append the file's name to the folder, which is there already. */
static int file_finish_name(struct jsp_file *f)
{
    int err = file_expand(f->name + f->folder, sizeof f->name - f->folder, f->pattern);
    f->asked = err ? 0 : strlen(f->name);
    f->name[f->asked] = 0;
    return err;
}

static int file_name(struct jsp_file *f, const struct jsp_file_ask *ask)
{
    const char *pattern = ask->pattern ? ask->pattern : JSP_FILE_DEFAULT;
    int n = pattern[0] == '/' ? 0 : file_folder(f->name, sizeof f->name, ask->folder);
    if (n < 0 || strlen(pattern) >= sizeof f->pattern) {
        f->name[0] = 0;
        return -ENAMETOOLONG;
    }
    strcpy(f->pattern, pattern);
    f->is_default = !ask->pattern;
    f->is_given = ask->is_given;
    f->folder = (size_t)n;
    f->skip = ask->folder ? 0 : f->folder;
    return file_finish_name(f);
}

/* -- The writer ------------------------------------------------------------- */

/* Return when this process began, in ticks since the machine started, or 0 if unknown. A
 * program that executes another one keeps it. */
static unsigned long long file_process_start(void)
{
    /* field numbers; the name is in parentheses and may contain some */
    enum { NAME = 2, START = 22 };
    char text[1024];
    int fd = jsp_descriptor_open("/proc/self/stat", O_RDONLY, 0);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = 0;
    const char *at = strrchr(text, ')');
    for (int field = NAME; at && field < START; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static pthread_once_t file_once = PTHREAD_ONCE_INIT;
/* of this program: a process may execute several in turn */
static uint64_t file_first_ns;

static void file_begin(void)
{
    file_first_ns = jsp_now_ns(CLOCK_MONOTONIC);
}

void jsp_file_writer(char text[JSP_FILE_WRITER])
{
    unsigned long long start = file_process_start();
    text[0] = 0;
    pthread_once(&file_once, file_begin);
    if (start)
        snprintf(text, JSP_FILE_WRITER, "%d %llu %" PRIu64, (int)getpid(), start, file_first_ns);
}

/* Return the path for opening, because the folders above the current one may be closed to
 * this user. */
static const char *file_path(const struct jsp_file *f)
{
    return f->name + f->skip;
}

/* Make the METADATA that jsp_session_open writes. Return its size, or 0 if the process is
 * unknown. */
static size_t file_entry(char entry[FILE_ID + JSP_FILE_WRITER])
{
    memset(entry, 0, FILE_ID);
    memcpy(entry, JSP_FILE_WRITER_ID, sizeof JSP_FILE_WRITER_ID);
    jsp_file_writer(entry + FILE_ID);
    return entry[FILE_ID] ? FILE_ID + strlen(entry + FILE_ID) + 1 : 0;
}

/* Return true if the entry in the file must be kept. It is of an earlier program of this process,
 * or, where the name was given, of an earlier session of this program or of one that it forked. */
static bool file_is_kept(const struct jsp_file *f, const char *bytes, size_t n, const char *entry)
{
    const char *at = memmem(bytes, n, entry, FILE_ID), *mine = entry + FILE_ID;
    size_t room = at ? n - (size_t)(at - bytes) - FILE_ID : 0;
    if (!at || !memchr(at + FILE_ID, 0, room))
        return false;
    const char *its = at + FILE_ID, *its_program = strrchr(its, ' ');
    const char *program = strrchr(mine, ' ');
    if (its_program && strcmp(its_program, program) == 0)
        return f->is_given;
    return strncmp(its, mine, (size_t)(program + 1 - mine)) == 0;
}

/* Return true if the file is a capture that this process must keep. */
static bool file_is_mine(const struct jsp_file *f)
{
    char entry[FILE_ID + JSP_FILE_WRITER];
    size_t size = file_entry(entry);
    int fd = size ? jsp_descriptor_open(file_path(f), O_RDONLY, 0) : -1;
    char *bytes = fd < 0 ? NULL : malloc(JSP_FILE_WRITER_WITHIN);
    ssize_t n = bytes ? read(fd, bytes, JSP_FILE_WRITER_WITHIN) : -1;
    bool is_mine = n > 0 && file_is_kept(f, bytes, (size_t)n, entry);
    free(bytes);
    if (fd >= 0)
        close(fd);
    return is_mine;
}

/* -- Opening ---------------------------------------------------------------- */

static bool file_is_still(const struct jsp_file *f, const struct stat *opened)
{
    struct stat st;
    return stat(file_path(f), &st) == 0 && st.st_dev == opened->st_dev &&
           st.st_ino == opened->st_ino;
}

/* Take the right to write the open file. Return 0, -ETXTBSY if it is taken or must be
 * kept, or -EAGAIN if the name now belongs to another file. Devices can always be
 * written. */
static int file_take(const struct jsp_file *f)
{
    struct stat st;
    if (fstat(f->fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return 0;
    int err = jsp_descriptor_lock(f->fd);
    if (err || !S_ISREG(st.st_mode))
        return err;
    if (st.st_nlink && !file_is_still(f, &st))
        return -EAGAIN;
    return st.st_size > 0 && file_is_mine(f) ? -ETXTBSY : 0;
}

/* Try to open once. O_NONBLOCK: a pipe must not block the host, neither here, if it has
 * no reader, nor later. */
static int file_try(struct jsp_file *f)
{
    struct stat st;
    int flags = O_WRONLY | O_CREAT | O_NONBLOCK | (f->is_given ? O_NOFOLLOW : 0);
    f->is_new = lstat(file_path(f), &st) < 0;
    f->fd = f->is_default ? jsp_descriptor_open_own(file_path(f), O_WRONLY, FILE_MODE)
                          : jsp_descriptor_open(file_path(f), flags, FILE_MODE);
    if (f->fd < 0)
        return f->fd;
    int err = file_take(f);
    if (err)
        close(f->fd);
    return err;
}

/* Open another name in the folder of the name that is in use. The file must be new, or an
 * empty capture of a child that executed another program. Otherwise return -EEXIST. */
static int file_try_other(struct jsp_file *f)
{
    struct stat st;
    f->fd = jsp_descriptor_open(file_path(f), O_WRONLY | O_CREAT | O_EXCL, FILE_MODE);
    if (f->fd == -EEXIST)
        f->fd = jsp_descriptor_open_own(file_path(f), O_WRONLY, FILE_MODE);
    if (f->fd < 0)
        return f->fd == -ELOOP ? -EEXIST : f->fd;
    int err = jsp_descriptor_lock(f->fd);
    if (!err && fstat(f->fd, &st) == 0 && st.st_size == 0)
        return 0;
    close(f->fd);
    return -EEXIST;
}

static int file_open_other(struct jsp_file *f)
{
    struct stat st;
    size_t len = strlen(f->name), room = sizeof f->name - len;
    if (lstat(file_path(f), &st) < 0 || !S_ISREG(st.st_mode))
        return -ETXTBSY; /* a link to the file, or a pipe */
    int pid = (int)getpid(), err = -EEXIST;
    for (int i = 1; i < FILE_NAMES && err == -EEXIST; i++) {
        int n = snprintf(f->name + len, room, i == 1 ? ".%d" : ".%d.%d", pid, i);
        if ((size_t)n >= room)
            return -ENAMETOOLONG;
        err = file_try_other(f);
    }
    f->is_other = !err;
    if (err)
        f->name[len] = 0; /* report the file that is in the way */
    return err == -EACCES || err == -EEXIST ? -ETXTBSY : err;
}

static int file_open_named(struct jsp_file *f)
{
    int err = -EAGAIN;
    for (int i = 0; i < FILE_TRIES && err == -EAGAIN; i++)
        err = file_try(f);
    return err == -ETXTBSY ? file_open_other(f) : err;
}

int jsp_file_open(struct jsp_file *f, const struct jsp_file_ask *ask)
{
    *f = (struct jsp_file){ .fd = -1 };
    int err = file_name(f, ask);
    return err ? err : file_open_named(f);
}

int jsp_file_open_child(struct jsp_file *f, const struct jsp_file *parents)
{
    *f = *parents;
    f->fd = -1;
    f->is_other = false;
    f->skip = 0;
    int err = file_finish_name(f);
    if (err)
        return err;
    bool is_same = f->asked == parents->asked &&
                   memcmp(f->name, parents->name, f->asked) == 0;
    return is_same ? file_open_other(f) : file_open_named(f);
}

void jsp_file_abandon(struct jsp_file *f)
{
    struct stat st;
    bool is_new = f->is_new && fstat(f->fd, &st) == 0 && st.st_size == 0;
    if (f->is_other || is_new)
        unlink(file_path(f));
    close(f->fd);
}
