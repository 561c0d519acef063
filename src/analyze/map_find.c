/* analyze/map_find.c - finds the source map of a generated file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "map_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { MAP_FIND_LINES = 16 }; /* from the end of the file */

/* -- Paths ------------------------------------------------------------------ */

/* Remove "." and, where a folder comes before it, "..", in place. */
static void map_normal(char *path)
{
    char *to = path, *floor = path; /* nothing before `floor` is removed */
    const char *at = path;
    if (*at == '/')
        floor = to = path + 1;
    while (*at) {
        at += strspn(at, "/");
        size_t n = strcspn(at, "/");
        if (n == 0 || (n == 1 && *at == '.')) {
            at += n;
            continue;
        }
        bool is_end = !at[n]; /* the copy may overwrite it */
        bool is_up = n == 2 && at[0] == '.' && at[1] == '.';
        if (is_up && to > floor) {
            for (to--; to > floor && to[-1] != '/';)
                to--;
        } else if (!is_up || *path != '/') {
            memmove(to, at, n);
            to += n;
            *to++ = '/'; /* over the slash after it, or the end */
            if (is_up)
                floor = to;
            if (is_end)
                break;
        }
        at += n;
    }
    if (to > path + 1 && to[-1] == '/')
        to--;
    *to = 0;
}

/* Return directory/path. NULL: no memory. */
static char *map_join(const char *directory, const char *path)
{
    char *whole = NULL;
    if (*path == '/' || !*directory)
        return strdup(path);
    return asprintf(&whole, "%s/%s", directory, path) < 0 ? NULL : whole;
}

static char *map_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strndup(path, !slash ? 0 : slash == path ? 1 : (size_t)(slash - path));
}

char *jsp_map_path(const char *directory, const char *source)
{
    struct jsp_read_text text = { source, (uint32_t)strlen(source) };
    char *path = jsp_source_path(text);
    if (!path || strcmp(path, source) != 0 || jsp_source_is_url(text))
        return path;
    free(path);
    path = map_join(directory, source);
    if (path)
        map_normal(path);
    return path;
}

/* -- The comment ------------------------------------------------------------ */

/* Return the address in a line that is the comment, or an empty text. */
static struct jsp_read_text map_address(struct jsp_read_text line)
{
    static const char *const begins[] = { "//#", "//@", "--#", "/*#" };
    static const char word[] = " sourceMappingURL=";
    const char *at = line.at, *end = line.at + line.len;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        if ((size_t)(end - at) <= 3 + strlen(word) || memcmp(at, begins[i], 3) != 0 ||
            memcmp(at + 3, word, strlen(word)) != 0)
            continue;
        at += 3 + strlen(word);
        const char *stop = at;
        while (stop < end && *stop != ' ' && *stop != '\t' && *stop != '*')
            stop++;
        return (struct jsp_read_text){ at, (uint32_t)(stop - at) };
    }
    return (struct jsp_read_text){ "", 0 };
}

static struct jsp_read_text map_comment(const struct jsp_source *generated)
{
    struct jsp_read_text found = { "", 0 };
    uint32_t last = generated->n_lines > MAP_FIND_LINES ? generated->n_lines - MAP_FIND_LINES : 0;
    for (uint32_t n = generated->n_lines; n > last && found.len == 0; n--)
        found = map_address(jsp_source_line(generated, n));
    return found;
}

/* -- Data ------------------------------------------------------------------- */

static int map_base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

/* Decode in place. Return false for other characters. */
static bool map_base64(char *text, size_t *len)
{
    uint32_t bits = 0, n_bits = 0;
    size_t n = 0;
    while (*len > 0 && text[*len - 1] == '=')
        --*len;
    for (size_t i = 0; i < *len; i++) {
        int digit = map_base64_digit(text[i]);
        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        n_bits += 6;
        if (n_bits < 8)
            continue;
        n_bits -= 8;
        text[n++] = (char)(bits >> n_bits);
        bits &= (1u << n_bits) - 1;
    }
    *len = n;
    return true;
}

/* Take the map from "data:application/json;base64,...". */
static int map_data(struct jsp_map_text *out, struct jsp_read_text address)
{
    static const char base64[] = ";base64";
    const char *comma = memchr(address.at, ',', address.len);
    if (!comma)
        return -EBADMSG;
    size_t head = (size_t)(comma - address.at), tail = strlen(base64);
    bool is_base64 = head >= tail && strncasecmp(comma - tail, base64, tail) == 0;
    out->len = address.len - head - 1;
    out->text = malloc(out->len + 1);
    if (!out->text)
        return -ENOMEM;
    memcpy(out->text, comma + 1, out->len);
    out->len = jsp_source_unescape(out->text, out->len);
    return !is_base64 || map_base64(out->text, &out->len) ? 0 : -EBADMSG;
}

/* -- Files ------------------------------------------------------------------ */

/* Take the text of a source, and the folder of its path. */
static int map_take(struct jsp_map_text *out, struct jsp_source *map)
{
    out->directory = map_directory(map->path);
    out->text = map->text;
    out->len = map->size;
    out->changed = map->changed;
    map->text = NULL;
    jsp_source_free(map);
    return out->directory ? 0 : -ENOMEM;
}

static int map_linked(struct jsp_map_text *out, const char *path, struct jsp_read_text address)
{
    struct jsp_source map;
    char *name = jsp_source_path(address), *directory = map_directory(path);
    if (name && strlen(name) == address.len && memcmp(name, address.at, address.len) == 0 &&
        !jsp_source_is_url(address))
        name[jsp_source_unescape(name, strcspn(name, "?#"))] = 0;
    char *whole = name && directory ? map_join(directory, name) : NULL;
    int err = whole ? jsp_source_read(&map, whole, NULL) : -ENOMEM;
    free(whole);
    free(directory);
    free(name);
    return err ? err : map_take(out, &map);
}

/* Find PATH.map below a folder, or take the only map if it has the name. */
static int map_given(struct jsp_map_text *out, const char *path, const char *maps)
{
    struct stat st;
    struct jsp_source map = { 0 };
    char *name = NULL;
    const char *slash = strrchr(path, '/');
    if (asprintf(&name, "%s.map", path) < 0)
        return -ENOMEM;
    const char *base = slash ? name + (slash + 1 - path) : name, *own = strrchr(maps, '/');
    int err = stat(maps, &st) < 0 ? -errno : 0;
    if (!err && S_ISDIR(st.st_mode))
        err = jsp_source_below(&map, name, maps);
    else if (!err)
        err = strcmp(base, own ? own + 1 : maps) == 0 ? jsp_source_read(&map, maps, NULL)
                                                      : -ENOENT;
    free(name);
    out->is_given = true;
    return err ? err : map_take(out, &map);
}

int jsp_map_find(struct jsp_map_text *out, const char *path, const struct jsp_source *generated,
                 const char *maps)
{
    *out = (struct jsp_map_text){ 0 };
    int err = maps ? map_given(out, path, maps) : -ENOENT;
    if (err != -ENOENT)
        return err;
    out->is_given = false;
    struct jsp_read_text address = map_comment(generated);
    if (address.len == 0)
        return -ENOENT;
    if (address.len < 5 || strncasecmp(address.at, "data:", 5) != 0)
        return map_linked(out, path, address);
    out->directory = map_directory(path);
    return out->directory ? map_data(out, address) : -ENOMEM;
}
