/* source_map_fuzz.c - any bytes as a source map, and as the data in a file's comment.
 *
 * What comes out has to hold what source_map.h promises, whatever went in.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/map_find.h"
#include "analyze/original_name.h"
#include "analyze/source_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_fail(bool bad)
{
    if (bad)
        abort();
}

static void fuzz_text(struct jsp_json_in_raw raw)
{
    size_t len;
    char *text = raw.at ? jsp_json_in_text(raw, &len) : NULL;
    fuzz_fail(text && (len > raw.len + raw.len / 2 || text[len]));
    free(text);
}

static void fuzz_map(const struct jsp_source_map *m)
{
    for (uint32_t i = 0; i < m->n_segments; i++) {
        const struct jsp_source_map_segment *s = &m->segments[i], *last = i ? s - 1 : s;
        fuzz_fail(last->line > s->line || (last->line == s->line && last->column > s->column));
        fuzz_fail(s->source != JSP_SOURCE_MAP_NONE && s->source >= m->n_sources);
        fuzz_fail(s->name != JSP_SOURCE_MAP_NONE && s->name >= m->n_names);
        const struct jsp_source_map_segment *found = jsp_source_map_find(m, s->line, s->column);
        fuzz_fail(found && (found->line != s->line || found->column != s->column));
        fuzz_fail(jsp_source_map_from(m, s->line, s->column) > i);
    }
    for (uint32_t i = 0; i < m->n_names; i++)
        fuzz_text(m->names[i]);
    for (uint32_t i = 0; i < m->n_sources; i++) {
        fuzz_text(m->sources[i].content);
        char *path = jsp_map_path("a/b", m->sources[i].path);
        struct jsp_read_text line = { path, path ? (uint32_t)strlen(path) : 0 };
        for (uint32_t at = 0; path && at <= line.len; at++) {
            struct jsp_read_text name = jsp_original_name_find(line, at);
            fuzz_fail(name.len && (name.at < line.at || name.at + name.len > line.at + line.len));
        }
        free(path);
    }
}

static void fuzz_comment(const uint8_t *data, size_t size)
{
    static const char before[] = "code\n//# sourceMappingURL=data:";
    struct jsp_source s;
    struct jsp_map_text found = { 0 };
    char *text = malloc(sizeof before + size);
    if (!text)
        return;
    memcpy(text, before, sizeof before - 1);
    if (size)
        memcpy(text + sizeof before - 1, data, size);
    if (jsp_source_of_text(&s, "x.js", text, sizeof before - 1 + size) < 0)
        return;
    jsp_map_find(&found, "x.js", &s, NULL);
    fuzz_fail(found.text && found.len > size);
    free(found.text);
    free(found.directory);
    jsp_source_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jsp_source_map m;
    const char *why = NULL;
    int err = jsp_source_map_read(&m, (const char *)data, size, &why);
    fuzz_fail(err == -EBADMSG && !why);
    if (err == 0)
        fuzz_map(&m);
    jsp_source_map_free(&m);
    fuzz_comment(data, size);
    return 0;
}
