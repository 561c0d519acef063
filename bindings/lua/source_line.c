/* source_line.c - see source_line.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source_line.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_MOST = 1 << 22 }; /* bytes of a file */

static const char source_function[] = "function";
static const char source_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789_";

void jsp_lua_source_free(struct jsp_lua_source *source)
{
    free(source->path);
    free(source->text);
    *source = (struct jsp_lua_source){ 0 };
}

static bool source_read_all(struct jsp_lua_source *source, int fd)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > SOURCE_MOST)
        return false;
    source->n = (size_t)st.st_size;
    source->text = malloc(source->n + 1);
    return source->text && read(fd, source->text, source->n) == st.st_size;
}

/* Opening a device or a pipe must not wait. */
static void source_read(struct jsp_lua_source *source, const char *path)
{
    jsp_lua_source_free(source);
    source->path = strdup(path);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    if (!source_read_all(source, fd)) {
        free(source->text);
        source->text = NULL;
    }
    close(fd);
}

/* Copy the line, with a zero at the end. Return false if there is none. */
static bool source_line(const struct jsp_lua_source *source, int line, char *to, size_t room)
{
    const char *at = source->text, *end = at + source->n;
    while (at && --line > 0) {
        at = memchr(at, '\n', (size_t)(end - at));
        at += at != NULL;
    }
    if (!at)
        return false;
    const char *last = memchr(at, '\n', (size_t)(end - at));
    size_t n = (size_t)((last ? last : end) - at);
    n = n < room - 1 ? n : room - 1;
    memcpy(to, at, n);
    to[n] = 0;
    return true;
}

static bool source_is_letter(char c)
{
    return c && strchr(source_letters, c);
}

static const char *source_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Return what follows the word at `at`, without blanks, or NULL if it is another word. */
static const char *source_word(const char *at, const char *word)
{
    size_t n = strlen(word);
    return strncmp(at, word, n) == 0 && !source_is_letter(at[n]) ? source_blanks(at + n) : NULL;
}

/* After the word `function`: is `a.b:NAME(` there? */
static bool source_is_named(const char *at, const char *name)
{
    for (;;) {
        const char *after = source_word(at, name);
        if (after && *after == '(')
            return true;
        size_t n = strspn(at, source_letters);
        at = source_blanks(at + n);
        if (!n || (*at != '.' && *at != ':'))
            return false;
        at = source_blanks(at + 1);
    }
}

static bool source_makes(const char *line, const char *name)
{
    for (const char *at = line; *at; at++) {
        if (at > line && source_is_letter(at[-1]))
            continue;
        const char *after = source_word(at, source_function);
        if (after && source_is_named(after, name))
            return true;
        after = source_word(at, name);
        if (after && *after == '=' && (after = source_word(source_blanks(after + 1),
                                                           source_function)) && *after == '(')
            return true;
    }
    return false;
}

bool jsp_lua_source_names(struct jsp_lua_source *source, const char *chunk, int line,
                          const char *name)
{
    char text[512];
    if (*chunk != '@' || line < 1)
        return false;
    if (!source->path || strcmp(source->path, chunk + 1) != 0)
        source_read(source, chunk + 1);
    return source_line(source, line, text, sizeof text) && source_makes(text, name);
}
