/* analyze/naming.c - the names of functions and files as they are shown.
 *
 * SPDX-License-Identifier: MIT
 */
#include "naming.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "original_name.h"
#include "base/grow.h"

/* The generated place of a function. */
struct naming_place {
    uint32_t file;    /* in the originals */
    const char *path; /* the original in its shown name; NULL: the generated file is shown */
    struct jsp_originals_at at;
};

struct jsp_naming {
    const struct jsp_naming_options *options;
    struct jsp_originals *originals; /* NULL: without source maps */
    struct naming_place *places;
    uint32_t n_places, places_room;
};

int jsp_naming_open(struct jsp_naming **out, const struct jsp_naming_options *o)
{
    struct jsp_naming *n = calloc(1, sizeof *n);
    if (!n)
        return -ENOMEM;
    n->options = o;
    if (!o->has_no_source_maps && jsp_originals_open(&n->originals, o->source_maps) < 0) {
        free(n);
        return -ENOMEM;
    }
    *out = n;
    return 0;
}

void jsp_naming_close(struct jsp_naming *n)
{
    if (!n)
        return;
    jsp_originals_close(n->originals);
    free(n->places);
    free(n);
}

void jsp_naming_recorded(struct jsp_naming *n, int64_t end)
{
    if (n->originals)
        jsp_originals_recorded(n->originals, end);
}

const struct jsp_originals *jsp_naming_originals(const struct jsp_naming *n)
{
    return n->originals;
}

/* -- Paths ------------------------------------------------------------------ */

/* Return the part of a path below a folder, or NULL if it is elsewhere. A relative path is below
 * the folder without a name. */
static const char *naming_below(const char *path, const char *folder, size_t len)
{
    while (len > 1 && folder[len - 1] == '/' && folder[len - 2] != '/')
        len--;
    if (len == 0) {
        struct jsp_read_text text = { path, (uint32_t)strlen(path) };
        return *path == '/' || jsp_source_is_url(text) ? NULL : path;
    }
    if (strncmp(path, folder, len) != 0)
        return NULL;
    const char *rest = path + len;
    if (folder[len - 1] != '/' && *rest && *rest != '/')
        return NULL;
    return rest + strspn(rest, "/");
}

/* Return FOLDER/rest. NULL: no memory. */
static char *naming_join(const char *folder, const char *rest)
{
    size_t len = strlen(folder), room = len + strlen(rest) + 2;
    bool needs_slash = len && *rest && folder[len - 1] != '/';
    char *out = malloc(room);
    if (out)
        snprintf(out, room, "%s%s%s", folder, needs_slash ? "/" : "", rest);
    return out;
}

/* Apply --map to a path, which this frees. Return the new one, or NULL without memory. */
static char *naming_map(const struct jsp_naming *n, char *path)
{
    const struct jsp_naming_options *o = n->options;
    for (uint32_t i = 0; path && i < o->n_maps; i++) {
        size_t len = strcspn(o->maps[i], "=");
        const char *to = o->maps[i] + len, *rest = naming_below(path, o->maps[i], len);
        if (!rest)
            continue;
        char *mapped = naming_join(to + (*to == '='), rest);
        free(path);
        return mapped;
    }
    return path;
}

/* Apply --trim-path, in place. Return the path. */
static char *naming_trim(const struct jsp_naming *n, char *path)
{
    const struct jsp_naming_options *o = n->options;
    for (uint32_t i = 0; path && i < o->n_trims; i++) {
        const char *rest = naming_below(path, o->trims[i], strlen(o->trims[i]));
        if (!rest || !*rest)
            continue;
        memmove(path, rest, strlen(rest) + 1);
        break;
    }
    return path;
}

char *jsp_naming_file(const struct jsp_naming *n, struct jsp_read_text file)
{
    return naming_trim(n, naming_map(n, jsp_source_path(file)));
}

/* Return how an original's path is shown. A relative one was already mapped with the generated
 * file. NULL: no memory. */
static char *naming_original(const struct jsp_naming *n, const char *path)
{
    return naming_trim(n, strdup(path));
}

static int naming_try(struct jsp_naming *n, struct jsp_source *s, const char *path)
{
    return n->originals ? jsp_originals_read(n->originals, s, path)
                        : jsp_source_read(s, path, NULL);
}

int jsp_naming_read(struct jsp_naming *n, struct jsp_source *s, const char *path,
                    const char *directory)
{
    const struct jsp_naming_options *o = n->options;
    int err = naming_try(n, s, path);
    for (uint32_t i = 0; err == -ENOENT && *path != '/' && i < o->n_trims; i++) {
        char *whole = naming_join(o->trims[i], path);
        err = whole ? naming_try(n, s, whole) : -ENOMEM;
        free(whole);
    }
    return err == -ENOENT && directory ? jsp_source_below(s, path, directory) : err;
}

/* -- Names ------------------------------------------------------------------ */

/* Show the original of generated code. Return 0 or -ENOMEM. *out stays as it is where the code has
 * no known original. */
static int naming_generated(struct jsp_naming *n, const char *path,
                            const struct jsp_name_parts *parts, struct jsp_naming_name *out)
{
    struct jsp_original original = { 0 };
    struct jsp_read_text name = parts->name;
    char *new_name = NULL;
    uint32_t file;
    int err = jsp_originals_file(n->originals, path, &file);
    if (err || !file)
        return err;
    if (parts->line == 0)
        original = jsp_originals_script(n->originals, file);
    else
        err = jsp_originals_function(n->originals, file, parts, &original, &new_name);
    if (err == 0)
        err = jsp_grow(&n->places, &n->places_room, n->n_places, sizeof *n->places);
    if (err == 0) {
        n->places[n->n_places++] = (struct naming_place){ file, original.path,
                                                          { parts->line, parts->column } };
        out->generated = n->n_places;
    }
    char *shown = original.path && !err ? naming_original(n, original.path) : NULL;
    if (original.path && !err && !shown)
        err = -ENOMEM;
    if (shown && parts->line == 0) {
        out->text = shown;
        return 0;
    }
    /* "get " and "set " are no part of the name, and a place is none. */
    bool has_name = name.at != parts->file.at;
    int before = name.len > 4 && (strncmp(name.at, "get ", 4) == 0 ||
                                  strncmp(name.at, "set ", 4) == 0) ? 4 : 0;
    if (new_name && jsp_read_is(jsp_original_name_own(name), new_name)) {
        free(new_name); /* the rest of the generated name says more */
        new_name = NULL;
    }
    const char *put = has_name && new_name ? new_name : "";
    before = !has_name ? 0 : new_name ? before : (int)name.len;
    if (shown && asprintf(&out->text, "%.*s%s%s%s:%" PRIu32 ":%" PRIu32 "%s", before, name.at, put,
                          has_name ? " (" : "", shown, original.line, original.column,
                          has_name ? ")" : "") < 0) {
        out->text = NULL;
        err = -ENOMEM;
    }
    free(new_name);
    free(shown);
    return err;
}

int jsp_naming_name(struct jsp_naming *n, struct jsp_read_text recorded,
                    struct jsp_naming_name *out)
{
    char *name = strndup(recorded.at, recorded.len);
    *out = (struct jsp_naming_name){ 0 };
    if (!name)
        return -ENOMEM;
    struct jsp_name_parts parts = jsp_name_split(name);
    if (parts.file.len == 0 && !jsp_name_is_file(parts.name)) {
        out->text = name;
        return 0;
    }
    struct jsp_read_text file = parts.file.len ? parts.file : parts.name;
    const char *rest = file.at + file.len;
    char *path = naming_map(n, jsp_source_path(file));
    int err = path ? 0 : -ENOMEM;
    if (path && n->originals)
        err = naming_generated(n, path, &parts, out);
    if (path && !err && !out->text &&
        asprintf(&out->text, "%.*s%s%s", (int)(file.at - name), name, naming_trim(n, path),
                 rest) < 0) {
        out->text = NULL;
        err = -ENOMEM;
    }
    free(path);
    free(name);
    return err;
}

int jsp_naming_line(struct jsp_naming *n, uint32_t generated, uint32_t line,
                    struct jsp_naming_line *out)
{
    const struct naming_place *of = &n->places[generated - 1];
    struct jsp_original is = jsp_originals_line(n->originals, of->file, of->at, line);
    *out = (struct jsp_naming_line){ 0 };
    if (!is.path || !is.line)
        return 0;
    out->line = is.line;
    if (of->path && strcmp(is.path, of->path) == 0)
        return 0;
    out->file = naming_original(n, is.path);
    return out->file ? 0 : -ENOMEM;
}
