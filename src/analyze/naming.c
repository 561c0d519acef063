/* analyze/naming.c - the names of functions and files as they are shown.
 *
 * SPDX-License-Identifier: MIT
 */
#include "naming.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name_parts.h"

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

char *jsp_naming_file(const struct jsp_naming_options *o, struct jsp_read_text file)
{
    char *path = jsp_source_path(file), *old = path;
    for (uint32_t i = 0; path && i < o->n_maps && path == old; i++) {
        size_t len = strcspn(o->maps[i], "=");
        const char *to = o->maps[i] + len, *rest = naming_below(path, o->maps[i], len);
        if (rest)
            path = naming_join(to + (*to == '='), rest);
    }
    if (path != old)
        free(old);
    for (uint32_t i = 0; path && i < o->n_trims; i++) {
        const char *rest = naming_below(path, o->trims[i], strlen(o->trims[i]));
        if (!rest || !*rest)
            continue;
        memmove(path, rest, strlen(rest) + 1);
        break;
    }
    return path;
}

int jsp_naming_read(const struct jsp_naming_options *o, struct jsp_source *s, const char *path,
                    const char *directory)
{
    int err = jsp_source_read(s, path, NULL);
    for (uint32_t i = 0; err == -ENOENT && *path != '/' && i < o->n_trims; i++) {
        char *whole = naming_join(o->trims[i], path);
        err = whole ? jsp_source_read(s, whole, NULL) : -ENOMEM;
        free(whole);
    }
    return err == -ENOENT && directory ? jsp_source_read(s, path, directory) : err;
}

/* -- Names ------------------------------------------------------------------ */

bool jsp_naming_is_file(const char *name)
{
    static const char *const endings[] = { ".js", ".mjs", ".cjs", ".lua" };
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (len > n && strcmp(name + len - n, endings[i]) == 0)
            return true;
    }
    return *name == '/' || strncmp(name, "file://", 7) == 0;
}

char *jsp_naming_name(const struct jsp_naming_options *o, struct jsp_read_text recorded)
{
    char *name = strndup(recorded.at, recorded.len);
    if (!name)
        return NULL;
    struct jsp_name_parts parts = jsp_name_split(name);
    if (parts.file.len == 0 && !jsp_naming_is_file(name))
        return name;
    struct jsp_read_text file = parts.file.len ? parts.file : parts.name;
    const char *rest = file.at + file.len;
    char *path = jsp_naming_file(o, file), *shown = NULL;
    if (path && asprintf(&shown, "%.*s%s%s", (int)(file.at - name), name, path, rest) < 0)
        shown = NULL;
    free(path);
    free(name);
    return shown;
}
