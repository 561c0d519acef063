/* analyze/map_find.h - finds the source map of a generated file.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_MAP_FIND_H
#define JSP_ANALYZE_MAP_FIND_H

#include "source.h"

struct jsp_map_text {
    char *text;      /* `len` bytes; the caller frees both */
    char *directory; /* its sources are relative to this folder; "" is the current one */
    size_t len;
    int64_t changed; /* when; 0: unknown */
    bool is_given;   /* found in `maps`, not by the file's comment */
};

/* Find the map of the file at `path`: in `maps`, a folder or a map with the name of the file and
 * ".map" (NULL: neither), or by the comment at the end of the file. Return 0, -ENOENT, -ENOMEM
 * or another error of reading it. */
int jsp_map_find(struct jsp_map_text *out, const char *path, const struct jsp_source *generated,
                 const char *maps);

/* Return the path of a map's source, which is relative to the map, or its address. The caller
 * frees it. NULL: no memory. */
char *jsp_map_path(const char *directory, const char *source);

#endif
