/* analyze/source_map.h - a source map, version 3: which place of an original source each place
 * of a generated file is from.
 *
 * The map comes from anywhere, so reading checks everything and is bounded. Lines and columns
 * count from 0 here, as in the map. The map borrows its text. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_SOURCE_MAP_H
#define JSP_ANALYZE_SOURCE_MAP_H

#include "json_in.h"

enum { JSP_SOURCE_MAP_NONE = 0xFFFFFFFF };

/* The most of a map. */
enum {
    JSP_SOURCE_MAP_SEGMENTS = 1 << 22,
    JSP_SOURCE_MAP_SOURCES = 1 << 16,
    JSP_SOURCE_MAP_NAMES = 1 << 20,
    JSP_SOURCE_MAP_PATHS = 1 << 24, /* bytes of all paths of sources */
};

struct jsp_source_map_segment {
    uint32_t line, column;       /* generated */
    uint32_t source;             /* in sources[]; NONE: this place has no original */
    uint32_t to_line, to_column; /* original */
    uint32_t name;               /* in names[]; NONE: without a name */
};

struct jsp_source_map_source {
    char *path;                     /* with the map's root; owned */
    struct jsp_json_in_raw content; /* the text of the source; .at NULL: not in the map */
};

struct jsp_source_map {
    struct jsp_source_map_segment *segments; /* sorted by line and column */
    struct jsp_source_map_source *sources;
    struct jsp_json_in_raw *names;
    struct jsp_json_in_raw file; /* the generated file; .at NULL: unknown */
    uint32_t n_segments, n_sources, n_names;
    uint32_t segments_room, sources_room, names_room;
};

/* Read a map. Return 0, -ENOMEM, or -EBADMSG and in *why what is wrong with it; *m is then
 * empty. */
int jsp_source_map_read(struct jsp_source_map *m, const char *text, size_t len,
                        const char **why);

/* Free the map. */
void jsp_source_map_free(struct jsp_source_map *m);

/* Return the segment of a place: the last one of its line that begins at or before it. NULL:
 * there is none, or it has no original. */
const struct jsp_source_map_segment *jsp_source_map_find(const struct jsp_source_map *m,
                                                         uint32_t line, uint32_t column);

/* Return the position of the first segment at or after a place. */
uint32_t jsp_source_map_from(const struct jsp_source_map *m, uint32_t line, uint32_t column);

#endif
