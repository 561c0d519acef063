/* analyze/source_map.c - reads a source map of version 3.
 *
 * SPDX-License-Identifier: MIT
 */
#include "source_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/grow.h"
#include "capture/read.h"
#include "source.h"

enum { MAP_VERSION = 3, MAP_FIELDS = 5, MAP_VLQ_BITS = 5, MAP_VLQ_MOST = 32 };

/* The parts of a map's object, which are read when all are known. */
struct map_parts {
    struct jsp_json_in sources, contents, names, sections; /* .at NULL: not there */
    struct jsp_json_in_raw file, root, mappings;
    uint32_t version;
};

struct map_build {
    struct jsp_source_map *map;
    const char *why;
    /* Where the section begins: places, and positions in the tables. */
    uint32_t line, column, first_source, first_name;
    size_t path_bytes;
    bool is_sorted;
};

static int map_bad(struct map_build *b, const char *why)
{
    b->why = why;
    return -EBADMSG;
}

static int map_object(struct map_build *b, struct jsp_json_in *j, struct map_parts *parts)
{
    *parts = (struct map_parts){ 0 };
    jsp_json_in_open(j, '{');
    while (!j->is_bad && jsp_json_in_next(j, '}')) {
        struct jsp_json_in_raw key = jsp_json_in_key(j);
        struct jsp_json_in *list = jsp_json_in_is(key, "sources")          ? &parts->sources
                                   : jsp_json_in_is(key, "sourcesContent") ? &parts->contents
                                   : jsp_json_in_is(key, "names")          ? &parts->names
                                   : jsp_json_in_is(key, "sections")       ? &parts->sections
                                                                           : NULL;
        struct jsp_json_in_raw *text = jsp_json_in_is(key, "file")         ? &parts->file
                                       : jsp_json_in_is(key, "sourceRoot") ? &parts->root
                                       : jsp_json_in_is(key, "mappings")   ? &parts->mappings
                                                                           : NULL;
        if (list)
            *list = *j;
        if (text)
            *text = jsp_json_in_string(j);
        else if (jsp_json_in_is(key, "version"))
            parts->version = jsp_json_in_number(j);
        else
            jsp_json_in_skip(j);
    }
    return j->is_bad ? map_bad(b, "it is not JSON, or not of the form of a source map") : 0;
}

/* -- Sources and names ------------------------------------------------------ */

/* Return the root before a relative path. NULL: no memory. */
static char *map_path(const struct map_parts *parts, struct jsp_json_in_raw raw)
{
    size_t len = 0, root_len = 0;
    char *path = jsp_json_in_text(raw, &len), *whole = NULL;
    char *root = path ? jsp_json_in_text(parts->root, &root_len) : NULL;
    if (root && (*path == '/' || root_len == 0 ||
                 jsp_source_is_url((struct jsp_read_text){ path, (uint32_t)len }))) {
        free(root);
        return path;
    }
    if (root && asprintf(&whole, "%s%s%s", root, root[root_len - 1] == '/' ? "" : "/", path) < 0)
        whole = NULL;
    free(root);
    free(path);
    return whole;
}

static int map_sources(struct map_build *b, const struct map_parts *parts)
{
    struct jsp_source_map *m = b->map;
    struct jsp_json_in j = parts->sources, contents = parts->contents;
    if (j.at)
        jsp_json_in_open(&j, '[');
    bool has_content = contents.at && jsp_json_in_open(&contents, '[');
    while (j.at && !j.is_bad && jsp_json_in_next(&j, ']')) {
        struct jsp_source_map_source source = { NULL, { NULL, 0 } };
        struct jsp_json_in_raw raw = jsp_json_in_string(&j);
        has_content = has_content && !contents.is_bad && jsp_json_in_next(&contents, ']');
        if (has_content)
            source.content = jsp_json_in_string(&contents);
        if (j.is_bad)
            break;
        b->path_bytes += raw.len + parts->root.len;
        if (m->n_sources == JSP_SOURCE_MAP_SOURCES || b->path_bytes > JSP_SOURCE_MAP_PATHS)
            return map_bad(b, "it has too many sources");
        if (jsp_grow(&m->sources, &m->sources_room, m->n_sources, sizeof source) < 0)
            return -ENOMEM;
        source.path = map_path(parts, raw);
        if (!source.path)
            return -ENOMEM;
        m->sources[m->n_sources++] = source;
    }
    if (j.is_bad || contents.is_bad)
        return map_bad(b, "its sources are not texts");
    return 0;
}

static int map_names(struct map_build *b, const struct map_parts *parts)
{
    struct jsp_source_map *m = b->map;
    struct jsp_json_in j = parts->names;
    if (j.at)
        jsp_json_in_open(&j, '[');
    while (j.at && !j.is_bad && jsp_json_in_next(&j, ']')) {
        if (m->n_names == JSP_SOURCE_MAP_NAMES)
            return map_bad(b, "it has too many names");
        if (jsp_grow(&m->names, &m->names_room, m->n_names, sizeof *m->names) < 0)
            return -ENOMEM;
        m->names[m->n_names++] = jsp_json_in_string(&j);
    }
    return j.is_bad ? map_bad(b, "its names are not texts") : 0;
}

/* -- Mappings --------------------------------------------------------------- */

static int map_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Read a number: five bits in each digit, the lowest ones first, the lowest bit is the sign. */
static bool map_vlq(const char **at, const char *end, int64_t *out)
{
    uint64_t value = 0;
    int shift = 0, digit = 0x20;
    for (; digit & 0x20; shift += MAP_VLQ_BITS) {
        digit = *at < end ? map_digit(**at) : -1;
        if (digit < 0 || shift > MAP_VLQ_MOST)
            return false;
        value |= (uint64_t)(digit & 0x1F) << shift;
        ++*at;
    }
    *out = value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
    return true;
}

static bool map_add(struct map_build *b, struct jsp_source_map_segment s)
{
    struct jsp_source_map *m = b->map;
    if (jsp_grow(&m->segments, &m->segments_room, m->n_segments, sizeof s) < 0)
        return false;
    if (m->n_segments) {
        const struct jsp_source_map_segment *last = &m->segments[m->n_segments - 1];
        b->is_sorted &= last->line < s.line || (last->line == s.line && last->column <= s.column);
    }
    m->segments[m->n_segments++] = s;
    return true;
}

/* The running numbers of a list of mappings, in the order of their fields. */
enum { MAP_COLUMN, MAP_SOURCE, MAP_LINE, MAP_TO_COLUMN, MAP_NAME };

/* Check the numbers of a segment with `n` fields, and add it. */
static int map_segment(struct map_build *b, const int64_t numbers[MAP_FIELDS], int n,
                       uint32_t line)
{
    const struct jsp_source_map *m = b->map;
    for (int i = 0; i < n; i++)
        if (numbers[i] < 0 || numbers[i] > INT32_MAX)
            return map_bad(b, "its mappings are broken");
    uint64_t source = (uint64_t)numbers[MAP_SOURCE] + b->first_source;
    uint64_t name = (uint64_t)numbers[MAP_NAME] + b->first_name;
    bool has_source = n > 1, has_name = n > 4;
    if (n == 2 || n == 3 || (has_source && source >= m->n_sources) ||
        (has_name && name >= m->n_names))
        return map_bad(b, "its mappings are broken");
    if (m->n_segments == JSP_SOURCE_MAP_SEGMENTS)
        return map_bad(b, "it has too many mappings");
    struct jsp_source_map_segment s = {
        .line = b->line + line,
        .column = (uint32_t)numbers[MAP_COLUMN] + (line ? 0 : b->column),
        .source = has_source ? (uint32_t)source : JSP_SOURCE_MAP_NONE,
        .to_line = has_source ? (uint32_t)numbers[MAP_LINE] : 0,
        .to_column = has_source ? (uint32_t)numbers[MAP_TO_COLUMN] : 0,
        .name = has_name ? (uint32_t)name : JSP_SOURCE_MAP_NONE,
    };
    return map_add(b, s) ? 0 : -ENOMEM;
}

static int map_text(struct map_build *b, const char *at, const char *end)
{
    int64_t numbers[MAP_FIELDS] = { 0 };
    uint32_t line = 0;
    int err = 0;
    while (at < end && err == 0) {
        int n = 0;
        if (*at == ';') {
            if (line++ > INT32_MAX - b->line)
                return map_bad(b, "its mappings are broken");
            numbers[MAP_COLUMN] = 0;
        }
        if (*at == ';' || *at == ',') {
            at++;
            continue;
        }
        for (int64_t by; n < MAP_FIELDS && at < end && *at != ',' && *at != ';'; n++) {
            if (!map_vlq(&at, end, &by))
                return map_bad(b, "its mappings are broken");
            numbers[n] += by;
        }
        if (at < end && *at != ',' && *at != ';')
            return map_bad(b, "its mappings are broken");
        err = map_segment(b, numbers, n, line);
    }
    return err;
}

static int map_mappings(struct map_build *b, struct jsp_json_in_raw raw)
{
    if (!raw.at)
        return map_bad(b, "it has no mappings");
    if (!memchr(raw.at, '\\', raw.len))
        return map_text(b, raw.at, raw.at + raw.len);
    size_t len;
    char *text = jsp_json_in_text(raw, &len);
    int err = text ? map_text(b, text, text + len) : -ENOMEM;
    free(text);
    return err;
}

/* -- Maps and indexes of maps ----------------------------------------------- */

static int map_plain(struct map_build *b, const struct map_parts *parts)
{
    b->first_source = b->map->n_sources;
    b->first_name = b->map->n_names;
    int err = map_sources(b, parts);
    if (err == 0)
        err = map_names(b, parts);
    return err ? err : map_mappings(b, parts->mappings);
}

static void map_offset(struct map_build *b, struct jsp_json_in *j)
{
    jsp_json_in_open(j, '{');
    while (!j->is_bad && jsp_json_in_next(j, '}')) {
        struct jsp_json_in_raw key = jsp_json_in_key(j);
        if (jsp_json_in_is(key, "line"))
            b->line = jsp_json_in_number(j);
        else if (jsp_json_in_is(key, "column"))
            b->column = jsp_json_in_number(j);
        else
            jsp_json_in_skip(j);
    }
    j->is_bad |= b->line > INT32_MAX || b->column > INT32_MAX;
}

/* Read one section: {"offset": {"line": 0, "column": 0}, "map": {...}}. */
static int map_section(struct map_build *b, struct jsp_json_in *j)
{
    struct map_parts parts;
    struct jsp_json_in inner = { 0 };
    b->line = b->column = 0;
    jsp_json_in_open(j, '{');
    while (!j->is_bad && jsp_json_in_next(j, '}')) {
        struct jsp_json_in_raw key = jsp_json_in_key(j);
        if (jsp_json_in_is(key, "map"))
            inner = *j;
        if (jsp_json_in_is(key, "offset"))
            map_offset(b, j);
        else
            jsp_json_in_skip(j);
    }
    if (j->is_bad || !inner.at)
        return map_bad(b, "its sections are not maps");
    int err = map_object(b, &inner, &parts);
    return err ? err : map_plain(b, &parts);
}

static int map_compare(const void *x, const void *y)
{
    const struct jsp_source_map_segment *a = x, *b = y;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    if (a->to_line != b->to_line)
        return a->to_line < b->to_line ? -1 : 1;
    return a->to_column < b->to_column ? -1 : a->to_column > b->to_column;
}

static int map_all(struct map_build *b, const char *text, size_t len)
{
    struct map_parts parts;
    /* A first line ")]}'" keeps browsers from running the map. */
    if (len > 3 && memcmp(text, ")]}", 3) == 0) {
        const char *line = memchr(text, '\n', len);
        len -= line ? (size_t)(line - text) : len;
        text = line ? line : text;
    }
    struct jsp_json_in j = { .at = text, .end = text + len };
    int err = map_object(b, &j, &parts);
    if (err)
        return err;
    if (parts.version != MAP_VERSION)
        return map_bad(b, "its version is not 3");
    b->map->file = parts.file;
    if (!parts.sections.at)
        return map_plain(b, &parts);
    jsp_json_in_open(&parts.sections, '[');
    while (!err && !parts.sections.is_bad && jsp_json_in_next(&parts.sections, ']'))
        err = map_section(b, &parts.sections);
    return err ? err : parts.sections.is_bad ? map_bad(b, "its sections are not maps") : 0;
}

int jsp_source_map_read(struct jsp_source_map *m, const char *text, size_t len, const char **why)
{
    struct map_build b = { .map = m, .is_sorted = true };
    memset(m, 0, sizeof *m);
    int err = map_all(&b, text, len);
    if (err) {
        *why = b.why;
        jsp_source_map_free(m);
        return err;
    }
    if (!b.is_sorted)
        qsort(m->segments, m->n_segments, sizeof *m->segments, map_compare);
    return 0;
}

void jsp_source_map_free(struct jsp_source_map *m)
{
    for (uint32_t i = 0; i < m->n_sources; i++)
        free(m->sources[i].path);
    free(m->sources);
    free(m->names);
    free(m->segments);
    memset(m, 0, sizeof *m);
}

/* -- Looking up ------------------------------------------------------------- */

struct map_place {
    uint32_t line, column;
};

static bool map_is_before(const void *item, const void *key)
{
    const struct jsp_source_map_segment *s = item;
    const struct map_place *p = key;
    return s->line != p->line ? s->line < p->line : s->column < p->column;
}

static bool map_is_up_to(const void *item, const void *key)
{
    const struct jsp_source_map_segment *s = item;
    const struct map_place *p = key;
    return s->line != p->line ? s->line < p->line : s->column <= p->column;
}

const struct jsp_source_map_segment *jsp_source_map_find(const struct jsp_source_map *m,
                                                         uint32_t line, uint32_t column)
{
    const struct map_place place = { line, column };
    size_t n = jsp_bisect(m->segments, m->n_segments, sizeof *m->segments, map_is_up_to, &place);
    const struct jsp_source_map_segment *s = n ? &m->segments[n - 1] : NULL;
    return s && s->line == line && s->source != JSP_SOURCE_MAP_NONE ? s : NULL;
}

uint32_t jsp_source_map_from(const struct jsp_source_map *m, uint32_t line, uint32_t column)
{
    const struct map_place place = { line, column };
    return (uint32_t)jsp_bisect(m->segments, m->n_segments, sizeof *m->segments, map_is_before,
                                &place);
}
