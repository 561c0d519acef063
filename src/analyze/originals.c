/* analyze/originals.c - the original places of generated code.
 *
 * SPDX-License-Identifier: MIT
 */
#include "originals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "map_find.h"
#include "original_name.h"
#include "source_map.h"

enum {
    ORIGINALS_MOST = 1 << 12,         /* files with maps */
    ORIGINALS_MOST_BYTES = 512 << 20, /* of all maps with their tables, and generated files */
    ORIGINALS_BLOCKS = 64,            /* of the allocator, for the paths of a source */
    ORIGINALS_SPREAD = 16,            /* lines of one statement that became one line */
    ORIGINALS_SEGMENTS = 4096,        /* of one line; a line with more has no single original */
};

struct originals_source {
    char *path;
    struct jsp_source text;
    bool is_read;
};

struct originals_file {
    char *path; /* of the generated file */
    const char *why; /* the map is not used; NULL: it is, or there is none */
    struct jsp_map_text text;
    struct jsp_source_map map;
    struct originals_source *sources; /* map.n_sources of them */
    struct jsp_source generated;
    bool is_mapped;
};

struct jsp_originals {
    const char *maps;
    int64_t recorded;
    struct originals_file *files;
    uint32_t n_files, files_room, n_mapped;
    size_t bytes;
    struct jsp_hash by_path;
};

int jsp_originals_open(struct jsp_originals **out, const char *maps)
{
    struct jsp_originals *o = calloc(1, sizeof *o);
    if (!o)
        return -ENOMEM;
    o->maps = maps;
    int err = jsp_hash_init(&o->by_path, 0);
    if (err == 0)
        *out = o;
    else
        free(o);
    return err;
}

static void originals_unmap(struct originals_file *f)
{
    for (uint32_t i = 0; f->sources && i < f->map.n_sources; i++) {
        free(f->sources[i].path);
        jsp_source_free(&f->sources[i].text);
    }
    free(f->sources);
    f->sources = NULL;
    jsp_source_map_free(&f->map);
    jsp_source_free(&f->generated);
    free(f->text.text);
    free(f->text.directory);
    f->text = (struct jsp_map_text){ 0 };
}

void jsp_originals_close(struct jsp_originals *o)
{
    for (uint32_t i = 0; o && i < o->n_files; i++) {
        originals_unmap(&o->files[i]);
        free(o->files[i].path);
    }
    if (o) {
        free(o->files);
        jsp_hash_free(&o->by_path);
    }
    free(o);
}

void jsp_originals_recorded(struct jsp_originals *o, int64_t end)
{
    o->recorded = end;
}

/* -- Maps of files ---------------------------------------------------------- */

/* Store the paths of the sources. Return 0 or -ENOMEM. */
static int originals_paths(struct originals_file *f)
{
    f->sources = calloc((size_t)f->map.n_sources + 1, sizeof *f->sources);
    for (uint32_t i = 0; f->sources && i < f->map.n_sources; i++) {
        f->sources[i].path = jsp_map_path(f->text.directory, f->map.sources[i].path);
        if (!f->sources[i].path)
            return -ENOMEM;
    }
    return f->sources ? 0 : -ENOMEM;
}

/* Return how much memory a map takes with its tables, the paths of its sources and its file. */
static size_t originals_bytes(const struct originals_file *f)
{
    const struct jsp_source_map *m = &f->map;
    size_t bytes = f->text.len + f->generated.size +
                   f->generated.n_lines * sizeof *f->generated.starts +
                   m->n_segments * sizeof *m->segments + m->n_names * sizeof *m->names;
    size_t each = sizeof *m->sources + sizeof *f->sources +
                  (f->text.directory ? strlen(f->text.directory) : 0) + ORIGINALS_BLOCKS;
    for (uint32_t i = 0; i < m->n_sources; i++)
        bytes += each + 2 * strlen(m->sources[i].path);
    return bytes;
}

/* Find and read the map of a file. Return 0, -ENOMEM, or another error: the file is not mapped. */
static int originals_map(struct jsp_originals *o, struct originals_file *f)
{
    int err = jsp_source_read(&f->generated, f->path, NULL);
    if (err && (!o->maps || err == -ENOMEM))
        return err;
    err = jsp_map_find(&f->text, f->path, &f->generated, o->maps);
    uint32_t n_lines = f->generated.n_lines;
    int64_t changed =
        f->generated.changed > f->text.changed ? f->generated.changed : f->text.changed;
    if (err == -EBADMSG)
        f->why = "its data in the file is broken";
    if (err)
        return err;
    if (!f->text.is_given && o->recorded && changed > o->recorded)
        f->why = "it was changed after the recording (--source-maps uses it all the same)";
    else if (o->n_mapped == ORIGINALS_MOST)
        f->why = "there are too many maps";
    else
        err = jsp_source_map_read(&f->map, f->text.text, f->text.len, &f->why);
    const struct jsp_source_map *m = &f->map;
    if (!f->why && n_lines && m->n_segments && m->segments[m->n_segments - 1].line > n_lines)
        f->why = "it has more lines than the file";
    size_t bytes = originals_bytes(f);
    if (!f->why && !err && bytes > ORIGINALS_MOST_BYTES - o->bytes)
        f->why = "the maps are too large";
    if (f->why || err)
        return err ? err : -EBADMSG;
    o->bytes += bytes;
    return originals_paths(f);
}

int jsp_originals_file(struct jsp_originals *o, const char *path, uint32_t *out)
{
    uint32_t hash = (uint32_t)(jsp_hash_bytes(o->by_path.seed, path, strlen(path)) >> 16);
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&o->by_path, hash, &probe)) != 0)
        if (strcmp(o->files[at - 1].path, path) == 0) {
            *out = o->files[at - 1].is_mapped ? at : 0;
            return 0;
        }
    *out = 0;
    if (jsp_grow(&o->files, &o->files_room, o->n_files, sizeof *o->files) < 0)
        return -ENOMEM;
    struct originals_file *f = &o->files[o->n_files];
    *f = (struct originals_file){ .path = strdup(path) };
    if (!f->path || jsp_hash_add(&o->by_path, hash, o->n_files) < 0) {
        free(f->path);
        return -ENOMEM;
    }
    o->n_files++;
    int err = originals_map(o, f);
    f->is_mapped = err == 0;
    o->n_mapped += f->is_mapped;
    if (f->is_mapped)
        *out = o->n_files;
    else
        originals_unmap(f);
    return err == -ENOMEM ? err : 0;
}

/* -- Places ----------------------------------------------------------------- */

static struct jsp_original originals_of(const struct originals_file *f,
                                        const struct jsp_source_map_segment *s)
{
    if (!s)
        return (struct jsp_original){ 0 };
    return (struct jsp_original){ f->sources[s->source].path, s->source, s->to_line + 1,
                                  s->to_column + 1 };
}

/* Return the segment that begins exactly there, or NULL. */
static const struct jsp_source_map_segment *originals_exact(const struct originals_file *f,
                                                            uint32_t line, int64_t column)
{
    const struct jsp_source_map_segment *s =
        column < 0 ? NULL : jsp_source_map_find(&f->map, line, (uint32_t)column);
    return s && s->column == column ? s : NULL;
}

/* Return the text of a source. Its file is believed if it is not younger than the recording. */
static const struct jsp_source *originals_text(struct jsp_originals *o, struct originals_file *f,
                                               uint32_t source)
{
    struct originals_source *s = &f->sources[source];
    struct jsp_json_in_raw content = f->map.sources[source].content;
    if (s->is_read)
        return &s->text;
    s->is_read = true;
    size_t len;
    char *text = content.at ? jsp_json_in_text(content, &len) : NULL;
    if (text)
        jsp_source_of_text(&s->text, s->path, text, len);
    else if (jsp_source_read(&s->text, s->path, NULL) == 0 && o->recorded &&
             s->text.changed > o->recorded)
        jsp_source_free(&s->text);
    return &s->text;
}

/* Return the column, counted from 0, of a function's place. An engine that counts from 1 gives
 * that after the parenthesis before the parameters. */
static uint32_t originals_from_0(struct jsp_read_text line, uint32_t column)
{
    bool is_after = column > 0 && column < line.len && line.at[column] != '(' &&
                    line.at[column - 1] == '(';
    return column - is_after;
}

int jsp_originals_function(struct jsp_originals *o, uint32_t file,
                           const struct jsp_name_parts *generated, struct jsp_original *out,
                           char **name)
{
    struct originals_file *f = &o->files[file - 1];
    bool has_name = generated->name.at != generated->file.at;
    struct jsp_read_text own = jsp_original_name_own(generated->name);
    uint32_t line = generated->line - 1, column = generated->column;
    *name = NULL;
    own.len = has_name ? own.len : 0;
    /* An engine gives the place of a function's parameters, and counts columns from 0 or 1. A
     * segment that begins at the name before them is the function's. */
    const struct jsp_source_map_segment *s = NULL;
    for (uint32_t from = 0; own.len && !s && from < 2; from++)
        s = originals_exact(f, line, (int64_t)column - own.len - from);
    const struct jsp_source_map_segment *named = s;
    if (!s) {
        /* In "name = function (" and "name = async a => " the name is further away. */
        struct jsp_read_text text = jsp_source_line(&f->generated, line + 1);
        named = originals_exact(f, line, jsp_original_name_before(text, column, own));
        s = jsp_source_map_find(&f->map, line, originals_from_0(text, column));
    }
    bool is_named = s && named && named->name != JSP_SOURCE_MAP_NONE;
    *out = originals_of(f, s);
    if (!s || own.len == 0)
        return 0;
    size_t len;
    char *original = NULL;
    if (is_named) {
        original = jsp_json_in_text(f->map.names[named->name], &len);
        if (!original)
            return -ENOMEM;
    } else {
        const struct jsp_source *text = originals_text(o, f, s->source);
        struct jsp_read_text in = jsp_source_line(text, s->to_line + 1);
        struct jsp_read_text found = jsp_original_name_find(in, s->to_column);
        original = found.len ? strndup(found.at, found.len) : NULL;
    }
    if (!original || !*original)
        free(original);
    else
        *name = original;
    return 0;
}

struct jsp_original jsp_originals_line(const struct jsp_originals *o, uint32_t file,
                                       struct jsp_originals_at function, uint32_t line)
{
    const struct originals_file *f = &o->files[file - 1];
    const struct jsp_source_map *m = &f->map;
    bool is_first = line == function.line;
    const struct jsp_source_map_segment *first = NULL;
    uint32_t low = 0, high = 0, n = 0;
    uint32_t i = jsp_source_map_from(m, line - 1, 0);
    if (is_first && function.column) {
        /* Code before the function on its first line is not in it. */
        const struct jsp_source_map_segment *s =
            jsp_source_map_find(m, line - 1, function.column);
        i = s ? (uint32_t)(s - m->segments) : i;
    }
    for (; i < m->n_segments && m->segments[i].line == line - 1; i++) {
        const struct jsp_source_map_segment *s = &m->segments[i];
        if (s->source == JSP_SOURCE_MAP_NONE)
            continue;
        if (!first) {
            first = s;
            low = high = s->to_line;
        }
        low = s->to_line < low ? s->to_line : low;
        high = s->to_line > high ? s->to_line : high;
        if (s->source != first->source || n++ == ORIGINALS_SEGMENTS ||
            high - low > (is_first ? 0 : ORIGINALS_SPREAD))
            return (struct jsp_original){ f->sources[first->source].path, first->source, 0, 0 };
    }
    return originals_of(f, first);
}

struct jsp_original jsp_originals_script(const struct jsp_originals *o, uint32_t file)
{
    const struct originals_file *f = &o->files[file - 1];
    return (struct jsp_original){ f->map.n_sources == 1 ? f->sources[0].path : NULL, 0, 0, 0 };
}

int jsp_originals_read(struct jsp_originals *o, struct jsp_source *s, const char *path)
{
    for (uint32_t i = 0; i < o->n_files; i++)
        for (uint32_t k = 0; o->files[i].is_mapped && k < o->files[i].map.n_sources; k++) {
            struct jsp_json_in_raw content = o->files[i].map.sources[k].content;
            if (!content.at || strcmp(o->files[i].sources[k].path, path) != 0)
                continue;
            size_t len;
            char *text = jsp_json_in_text(content, &len);
            return text ? jsp_source_of_text(s, path, text, len) : -ENOMEM;
        }
    return jsp_source_read(s, path, NULL);
}

/* -- What happened ---------------------------------------------------------- */

uint32_t jsp_originals_n_mapped(const struct jsp_originals *o)
{
    return o->n_mapped;
}

bool jsp_originals_defect(const struct jsp_originals *o, uint32_t i,
                          struct jsp_originals_defect *out)
{
    for (uint32_t k = 0; k < o->n_files; k++)
        if (o->files[k].why && i-- == 0) {
            *out = (struct jsp_originals_defect){ o->files[k].path, o->files[k].why };
            return true;
        }
    return false;
}
