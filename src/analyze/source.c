/* analyze/source.c - the lines of a source file that a capture names.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_LARGEST = 64 << 20 };

/* -- Addresses -------------------------------------------------------------- */

static int source_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

size_t jsp_source_unescape(char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        int high = text[i] == '%' && len - i > 2 ? source_digit(text[i + 1]) : -1;
        int low = high < 0 ? -1 : source_digit(text[i + 2]);
        text[n++] = low < 0 ? text[i] : (char)(high << 4 | low);
        i += low < 0 ? 0 : 2;
    }
    return n;
}

bool jsp_source_is_url(struct jsp_read_text text)
{
    uint32_t n = 0;
    while (n < text.len && (isalnum((unsigned char)text.at[n]) || strchr("+-.", text.at[n])))
        n++;
    return n > 1 && text.len - n > 2 && memcmp(text.at + n, "://", 3) == 0;
}

char *jsp_source_path(struct jsp_read_text text)
{
    static const char *const roots[] = { "file:///", "file://localhost/" };
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        size_t n = strlen(roots[i]) - 1;
        if (text.len <= n || strncasecmp(text.at, roots[i], n + 1) != 0)
            continue;
        char *path = strndup(text.at + n, text.len - n);
        if (!path)
            return NULL;
        size_t len = jsp_source_unescape(path, strcspn(path, "?#"));
        path[len] = 0;
        if (strlen(path) == len)
            return path;
        free(path); /* it has a NUL, which no path has */
    }
    return strndup(text.at, text.len);
}

/* -- Files ------------------------------------------------------------------ */

/* Open a regular file; -1: it is not one. */
static int source_open(const char *path, struct stat *st)
{
    if (stat(path, st) < 0 || !S_ISREG(st->st_mode))
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_size <= SOURCE_LARGEST)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* DIRECTORY/a/b/c, DIRECTORY/b/c, DIRECTORY/c. Of an address, parts after its scheme. */
static int source_search(struct jsp_source *s, const char *path, const char *directory,
                         struct stat *st)
{
    size_t room = strlen(directory) + strlen(path) + 2;
    int fd = -1;
    s->path = malloc(room);
    if (jsp_source_is_url((struct jsp_read_text){ path, (uint32_t)strlen(path) }))
        path = strchr(path, ':') + 1;
    for (const char *part = path; s->path && part && fd < 0;) {
        part += strspn(part, "/");
        snprintf(s->path, room, "%s/%s", directory, part);
        fd = *part ? source_open(s->path, st) : -1;
        part = strchr(part, '/');
    }
    return fd;
}

/* Find where the lines begin. */
static int source_lines(struct jsp_source *s, size_t size)
{
    size_t most = 1;
    for (size_t i = 0; i < size; i++)
        most += s->text[i] == '\n';
    s->starts = malloc((most + 1) * sizeof *s->starts);
    if (!s->starts)
        return -ENOMEM;
    s->starts[0] = 0;
    for (size_t i = 0; i < size; i++)
        if (s->text[i] == '\n')
            s->starts[++s->n_lines] = i + 1;
    if (s->starts[s->n_lines] < size)
        s->starts[++s->n_lines] = size + 1;
    return 0;
}

static int source_take(struct jsp_source *s, int fd, const struct stat *st)
{
    size_t size = (size_t)st->st_size, got = 0;
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
    s->size = got;
    return source_lines(s, got);
}

int jsp_source_of_text(struct jsp_source *s, const char *path, char *text, size_t size)
{
    *s = (struct jsp_source){ .path = strdup(path), .text = text, .size = size };
    int err = s->path ? source_lines(s, size) : -ENOMEM;
    if (err)
        jsp_source_free(s);
    return err;
}

/* Read an open file, -1: there is none, and close it. */
static int source_finish(struct jsp_source *s, int fd, const struct stat *st)
{
    int err = !s->path ? -ENOMEM : fd < 0 ? -ENOENT : source_take(s, fd, st);
    if (fd >= 0)
        close(fd);
    if (err)
        jsp_source_free(s);
    return err;
}

int jsp_source_below(struct jsp_source *s, const char *path, const char *directory)
{
    struct stat st;
    memset(s, 0, sizeof *s);
    return source_finish(s, source_search(s, path, directory, &st), &st);
}

int jsp_source_read(struct jsp_source *s, const char *path, const char *directory)
{
    struct stat st;
    memset(s, 0, sizeof *s);
    int fd = source_open(path, &st);
    if (fd < 0)
        return directory ? jsp_source_below(s, path, directory) : -ENOENT;
    s->path = strdup(path);
    return source_finish(s, fd, &st);
}

void jsp_source_free(struct jsp_source *s)
{
    free(s->path);
    free(s->text);
    free(s->starts);
    memset(s, 0, sizeof *s);
}

struct jsp_read_text jsp_source_line(const struct jsp_source *s, uint32_t n)
{
    if (n == 0 || n > s->n_lines)
        return (struct jsp_read_text){ "", 0 };
    size_t start = s->starts[n - 1], end = s->starts[n] - 1;
    end -= end > start && s->text[end - 1] == '\r';
    return (struct jsp_read_text){ s->text + start, (uint32_t)(end - start) };
}
