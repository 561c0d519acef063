/* session/keep.c - see keep.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "image/descriptor.h"

#define KEEP_ENDING ".cap"
enum { KEEP_TRIES = 1000, KEEP_MIB = 1 << 20 };

/* -- The folder ---------------------------------------------------------------- */

static int keep_folder(struct jsp_keep *k, const struct jsp_keep_ask *ask)
{
    char here[sizeof k->folder];
    struct stat st;
    const char *base = ask->base;
    bool is_relative = ask->folder[0] != '/';
    if (is_relative && !base && (base = getcwd(here, sizeof here)) == NULL)
        return -errno;
    int n = snprintf(k->folder, sizeof k->folder, "%s%s%s", is_relative ? base : "",
                     is_relative ? "/" : "", ask->folder);
    if (n < 0 || (size_t)n >= sizeof k->folder)
        return -ENAMETOOLONG;
    if (mkdir(k->folder, 0700) < 0 && errno != EEXIST)
        return -errno;
    if (stat(k->folder, &st) < 0)
        return -errno;
    return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

/* Copy the program's name; bytes with a meaning in file names or shells become "_". */
static void keep_program(struct jsp_keep *k)
{
    const char *name = program_invocation_short_name;
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof k->program; n++) {
        char c = name[n];
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || (c == '.' && n);
        k->program[n] = c; /* a minus would look like the end of the name */
        if (!is_plain)
            k->program[n] = '_';
    }
    k->program[n] = 0;
}

int jsp_keep_init(struct jsp_keep *k, const struct jsp_keep_ask *ask)
{
    *k = (struct jsp_keep){ .begin_s = (uint64_t)time(NULL), .keep_s = ask->keep_s,
                            .keep_bytes = (uint64_t)ask->keep_mib * KEEP_MIB,
                            .segment_ns = ask->segment_s * UINT64_C(1000000000) };
    k->file_bytes = k->keep_bytes / JSP_KEEP_SHARE;
    k->file_ns = ask->keep_s * UINT64_C(1000000000) / JSP_KEEP_FILES;
    if (k->file_ns < k->segment_ns)
        k->file_ns = k->segment_ns;
    keep_program(k);
    return keep_folder(k, ask);
}

/* -- A file --------------------------------------------------------------------- */

int jsp_keep_next(struct jsp_keep *k)
{
    char path[PATH_MAX];
    int fd = -EEXIST, err;
    mkdir(k->folder, 0700); /* somebody may have removed it */
    for (int i = 0; fd == -EEXIST && i < KEEP_TRIES; i++) { /* a container has the same pid */
        snprintf(path, sizeof path, "%s/%s-%d-%llu-%06u" KEEP_ENDING, k->folder, k->program,
                 (int)getpid(), (unsigned long long)k->begin_s, k->number + 1);
        fd = jsp_descriptor_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        k->begin_s += fd == -EEXIST && !k->number;
        k->number += fd == -EEXIST && k->number;
    }
    if (fd < 0)
        return fd;
    err = jsp_descriptor_lock(fd);
    if (err) { /* another process removes it as an old one */
        close(fd);
        return err;
    }
    k->number++;
    return fd;
}

/* -- Cleaning ---------------------------------------------------------------------- */

struct keep_file {
    char name[JSP_KEEP_NAME];
    uint64_t bytes;
    time_t modified;
    uint32_t own; /* its number, if it is this session's; 0: it is another one's */
};

struct keep_list {
    struct keep_file *at; /* owned */
    uint32_t n, room;
    uint64_t bytes;
};

/* Read digits, 18 at most. Return what follows them, or NULL if there are none. */
static const char *keep_number(const char *at, uint64_t *out)
{
    const char *begin = at;
    for (; *at >= '0' && *at <= '9' && at < begin + 18; at++)
        *out = *out * 10 + (uint64_t)(*at - '0');
    return at > begin ? at : NULL;
}

/* Is it the name of a file of this program? Then *own is set. */
static bool keep_is_name(const struct jsp_keep *k, const char *name, uint32_t *own)
{
    uint64_t parts[3] = { 0 }; /* the pid, the begin and the number */
    size_t n = strlen(k->program);
    if (strlen(name) >= JSP_KEEP_NAME || strncmp(name, k->program, n) != 0)
        return false;
    const char *at = name + n;
    for (int i = 0; i < 3; i++)
        if (*at != '-' || (at = keep_number(at + 1, &parts[i])) == NULL)
            return false;
    if (strcmp(at, KEEP_ENDING) != 0)
        return false;
    *own = parts[0] == (uint64_t)getpid() && parts[1] == k->begin_s ? (uint32_t)parts[2] : 0;
    return true;
}

static int keep_add(struct keep_list *l, const struct jsp_keep *k, int folder, const char *name)
{
    struct stat st;
    uint32_t own;
    if (!keep_is_name(k, name, &own) ||
        fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
        st.st_uid != geteuid())
        return 0;
    if (jsp_grow(&l->at, &l->room, l->n, sizeof *l->at) < 0)
        return -ENOMEM;
    struct keep_file *f = &l->at[l->n++];
    *f = (struct keep_file){ .bytes = (uint64_t)st.st_size, .modified = st.st_mtime, .own = own };
    strcpy(f->name, name);
    l->bytes += f->bytes;
    return 0;
}

/* Remove a file that nobody writes. */
static void keep_remove(struct keep_list *l, uint32_t i, int folder)
{
    struct keep_file *f = &l->at[i];
    int fd = openat(folder, f->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && jsp_descriptor_lock(fd) == 0 && unlinkat(folder, f->name, 0) == 0) {
        l->bytes -= f->bytes;
        f->bytes = 0;
    }
    if (fd >= 0)
        close(fd);
    f->name[0] = 0; /* looked at */
}

static bool keep_is_old(const struct jsp_keep *k, const struct keep_file *f, time_t now)
{
    if (f->own)
        return k->number - f->own > JSP_KEEP_FILES;
    return now - f->modified > (time_t)k->keep_s;
}

/* Return the oldest file that was not looked at, or n. Own files are ordered by number. */
static uint32_t keep_oldest(const struct keep_list *l)
{
    uint32_t oldest = l->n;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct keep_file *f = &l->at[i], *o = &l->at[oldest];
        if (!f->name[0])
            continue;
        bool is_older = oldest == l->n || (f->own && o->own ? f->own < o->own
                                                            : f->modified < o->modified);
        oldest = is_older ? i : oldest;
    }
    return oldest;
}

void jsp_keep_clean(const struct jsp_keep *k)
{
    struct keep_list list = { .n = 0 };
    DIR *dir = opendir(k->folder);
    struct dirent *entry;
    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (keep_add(&list, k, dirfd(dir), entry->d_name) < 0)
            break;
    time_t now = time(NULL);
    for (uint32_t i = 0; i < list.n; i++)
        if (keep_is_old(k, &list.at[i], now))
            keep_remove(&list, i, dirfd(dir));
    for (uint32_t i; list.bytes > k->keep_bytes && (i = keep_oldest(&list)) < list.n;)
        keep_remove(&list, i, dirfd(dir));
    free(list.at);
    closedir(dir);
}
