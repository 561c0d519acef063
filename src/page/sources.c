/* page/sources.c - the text of the source files that a page was asked to contain.
 *
 * A capture may come from anywhere and name any file, also one with a password. The page gets only
 * files that look like sources.
 *
 * SPDX-License-Identifier: MIT
 */
#include "meta.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/name_parts.h"
#include "analyze/source.h"

enum { SOURCES_FILE = 1 << 20, SOURCES_ALL = 4 << 20 }; /* bytes; see docs/html.md */

static const char *const sources_suffixes[] = {
    "adb", "bash", "c",  "cc",  "cjs", "coffee", "cpp", "cs",  "cts",    "cxx",   "d",    "dart",
    "erl", "ex",   "exs", "f90", "fnl", "go",    "h",   "hh",  "hpp",    "hs",    "hxx",  "inc",
    "java", "jl",  "js", "jsm", "jsx", "kt",     "lark", "lua", "m",     "mjs",   "ml",   "moon",
    "mts", "nim",  "php", "pl", "pm",  "py",     "pyx", "r",   "rb",     "rkt",   "rs",   "s",
    "scala", "scm", "sh", "svelte", "swift", "tcl", "teal", "tl", "ts",  "tsx",   "vala", "vue",
    "wren", "zig",
};

/* Return whether a file looks like a source: by the end of its name, or as a script. */
static bool sources_looks(const char *path, const struct jsp_source *source)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && dot > name && i < sizeof sources_suffixes / sizeof *sources_suffixes;
         i++)
        if (strcasecmp(dot + 1, sources_suffixes[i]) == 0)
            return true;
    return source->size > 2 && memcmp(source->text, "#!", 2) == 0;
}

struct sources {
    const struct jsp_page_data *d;
    struct jsp_json *j;
    struct jsp_hash known;
    struct jsp_read_text *files;
    uint32_t n, room;
    size_t left; /* of SOURCES_ALL */
};

/* Write a file that is new and can be read. Return 0 or -ENOMEM. */
static int sources_file(struct sources *s, struct jsp_read_text file)
{
    const struct jsp_html *h = s->d->page;
    struct jsp_naming *naming = h->captures[h->n - 1].profile->naming;
    uint32_t hash = (uint32_t)(jsp_hash_bytes(s->known.seed, file.at, file.len) >> 16);
    uint32_t probe = hash, at;
    struct jsp_source source;
    if (file.len == 0)
        return 0;
    while ((at = jsp_hash_next(&s->known, hash, &probe)) != 0)
        if (s->files[at - 1].len == file.len &&
            memcmp(s->files[at - 1].at, file.at, file.len) == 0)
            return 0;
    if (jsp_grow(&s->files, &s->room, s->n, sizeof *s->files) < 0)
        return -ENOMEM;
    s->files[s->n] = file;
    int err = jsp_hash_add(&s->known, hash, s->n++);
    char *path = err ? NULL : strndup(file.at, file.len);
    if (!path)
        return -ENOMEM;
    err = naming ? jsp_naming_read(naming, &source, path, NULL)
                 : jsp_source_read(&source, path, NULL);
    struct jsp_page_refused *refused = h->refused;
    if (err == 0 && !sources_looks(path, &source)) {
        if (refused && refused->n++ == 0)
            refused->first = strdup(path);
    } else if (err == 0 && source.size <= SOURCES_FILE && source.size <= s->left &&
        !memchr(source.text, 0, source.size)) {
        s->left -= source.size;
        jsp_json_key(s->j, path);
        jsp_json_bytes(s->j, source.text, source.size);
    }
    if (err == 0)
        jsp_source_free(&source);
    free(path);
    return err == -ENOMEM ? err : 0;
}

int jsp_page_sources_put(const struct jsp_page_data *d, struct jsp_json *j)
{
    if (!d->page->has_sources)
        return 0;
    struct sources s = { .d = d, .j = j, .left = SOURCES_ALL };
    int err = jsp_hash_init(&s.known, 0);
    jsp_json_key_open(j, "sources", '{');
    for (uint32_t i = 0; err == 0 && i < d->tree.n_functions; i++)
        err = sources_file(&s, jsp_name_split(d->tree.functions[i].name).file);
    for (uint32_t i = 0; err == 0 && i < d->stacks.n_places; i++) {
        const char *leaf = d->stacks.places[i].leaf.file, *vm = d->stacks.places[i].vm.file;
        err = sources_file(&s, (struct jsp_read_text){ leaf, (uint32_t)strlen(leaf) });
        if (err == 0)
            err = sources_file(&s, (struct jsp_read_text){ vm, (uint32_t)strlen(vm) });
    }
    jsp_json_close(j, '}');
    jsp_hash_free(&s.known);
    free(s.files);
    return err;
}
