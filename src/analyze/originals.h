/* analyze/originals.h - the original places of code that a compiler or bundler generated, from
 * the source maps of the generated files.
 *
 * A generated file names its map in a comment, "//# sourceMappingURL=..." (in Lua after "--"),
 * as a file or as data. A file that changed after the recording, and one that does not belong to
 * its map, is not mapped: its lines would be wrong. Lines and columns count from 1 here. One
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_ORIGINALS_H
#define JSP_ANALYZE_ORIGINALS_H

#include "name_parts.h"
#include "source.h"

struct jsp_originals;

struct jsp_original {
    const char *path;      /* of the source; owned by the originals. NULL: unknown */
    uint32_t source;       /* its number in the map */
    uint32_t line, column; /* 0: unknown */
};

struct jsp_originals_at { /* the generated place of a function */
    uint32_t line, column;
};

/* Open with a map, or a folder of maps, that counts instead of the comments; NULL: none.
 * Borrowed. Return 0 or -ENOMEM. */
int jsp_originals_open(struct jsp_originals **out, const char *maps);

/* Free all maps. NULL does nothing. */
void jsp_originals_close(struct jsp_originals *o);

/* Set the time of the recording's end, in s. 0: unknown. */
void jsp_originals_recorded(struct jsp_originals *o, int64_t end);

/* Find the map of a generated file. *out is its number, or 0 if the file has no usable map.
 * Return 0 or -ENOMEM. */
int jsp_originals_file(struct jsp_originals *o, const char *path, uint32_t *out);

/* Find the original of a function by the place and the name of the generated one. *name is the
 * original's name if it is known to differ, which the caller frees, or NULL. Return 0 or
 * -ENOMEM. */
int jsp_originals_function(struct jsp_originals *o, uint32_t file,
                           const struct jsp_name_parts *generated, struct jsp_original *out,
                           char **name);

/* Find the original line of a generated line inside the function of that place. The column of
 * the code is not known: where one generated line has code from distant lines, as in a file
 * without line breaks, the line is unknown. */
struct jsp_original jsp_originals_line(const struct jsp_originals *o, uint32_t file,
                                       struct jsp_originals_at function, uint32_t line);

/* Return the only source of a file, or one with path NULL if it has several. */
struct jsp_original jsp_originals_script(const struct jsp_originals *o, uint32_t file);

/* Read a source by the path above: the text in its map, or the file. Return like
 * jsp_source_read; -ENOENT also for paths of no map. */
int jsp_originals_read(struct jsp_originals *o, struct jsp_source *s, const char *path);

/* How many files were mapped; and the files that have a map which is not used. */
struct jsp_originals_defect {
    const char *file, *why;
};

/* Return how many files were mapped. */
uint32_t jsp_originals_n_mapped(const struct jsp_originals *o);

/* Describe the i-th file that has a map which is not used. Return false if there are fewer. */
bool jsp_originals_defect(const struct jsp_originals *o, uint32_t i,
                          struct jsp_originals_defect *out);

#endif
