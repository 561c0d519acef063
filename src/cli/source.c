/* cli/source.c - the lines of a source file that a capture names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_LARGEST = 64 << 20 };

/* Open a regular file; -1: it is not one. */
static int source_open(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_size <= SOURCE_LARGEST)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* DIRECTORY/a/b/c, DIRECTORY/b/c, DIRECTORY/c. */
static int source_search(struct cli_source *s, const char *path, const char *directory,
                         struct stat *st)
{
    size_t room = strlen(directory) + strlen(path) + 2;
    int fd = -1;
    s->path = malloc(room);
    for (const char *part = path; s->path && part && fd < 0;) {
        part += strspn(part, "/");
        snprintf(s->path, room, "%s/%s", directory, part);
        fd = *part ? source_open(s->path, st) : -1;
        part = strchr(part, '/');
    }
    return fd;
}

/* Read the text and find where its lines begin. */
static int source_take(struct cli_source *s, int fd, const struct stat *st)
{
    size_t size = (size_t)st->st_size, got = 0, most = 1;
    ssize_t n = 1;
    s->changed = st->st_mtime;
    s->text = malloc(size + 1);
    if (!s->text)
        return -ENOMEM;
    while (got < size && n > 0) {
        n = read(fd, s->text + got, size - got);
        got += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return -errno;
    for (size_t i = 0; i < got; i++)
        most += s->text[i] == '\n';
    s->starts = malloc((most + 1) * sizeof *s->starts);
    if (!s->starts)
        return -ENOMEM;
    s->starts[0] = 0;
    for (size_t i = 0; i < got; i++)
        if (s->text[i] == '\n')
            s->starts[++s->n_lines] = i + 1;
    if (s->starts[s->n_lines] < got)
        s->starts[++s->n_lines] = got + 1;
    return 0;
}

int cli_source_read(struct cli_source *s, const char *path, const char *directory)
{
    struct stat st;
    memset(s, 0, sizeof *s);
    int fd = source_open(path, &st);
    if (fd >= 0)
        s->path = strdup(path);
    else if (directory)
        fd = source_search(s, path, directory, &st);
    else
        return -ENOENT;
    int err = !s->path ? -ENOMEM : fd < 0 ? -ENOENT : source_take(s, fd, &st);
    if (fd >= 0)
        close(fd);
    if (err)
        cli_source_free(s);
    return err;
}

void cli_source_free(struct cli_source *s)
{
    free(s->path);
    free(s->text);
    free(s->starts);
    memset(s, 0, sizeof *s);
}

struct cli_span cli_source_line(const struct cli_source *s, uint32_t n)
{
    if (n == 0 || n > s->n_lines)
        return (struct cli_span){ "", 0 };
    size_t start = s->starts[n - 1], end = s->starts[n] - 1;
    end -= end > start && s->text[end - 1] == '\r';
    return (struct cli_span){ s->text + start, end - start };
}
