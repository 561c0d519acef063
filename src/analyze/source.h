/* analyze/source.h - the lines of a source file that a capture names.
 *
 * The path is a claim of the capture: only a regular file is read. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_SOURCE_H
#define JSP_ANALYZE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "capture/read.h"

struct jsp_source {
    char *path;      /* the path where it was found; NULL: it was not */
    char *text;      /* `size` bytes */
    size_t size;
    size_t *starts;  /* of each line; n_lines + 1 of them */
    uint32_t n_lines;
    time_t changed;  /* 0: unknown */
};

/* Read the file at the path, or else below `directory` (NULL: nowhere), by as many of the
 * last parts of the path as exist there. -ENOENT, -ENOMEM or errno; *s is then empty. */
int jsp_source_read(struct jsp_source *s, const char *path, const char *directory);

/* Read the same file, but only below the directory. */
int jsp_source_below(struct jsp_source *s, const char *path, const char *directory);

/* Make a source of a text, which it then owns, also after -ENOMEM. Return 0 or -ENOMEM. */
int jsp_source_of_text(struct jsp_source *s, const char *path, char *text, size_t size);

/* Free the text. */
void jsp_source_free(struct jsp_source *s);

/* Return line `n`, counted from 1, without its end; empty where there is none. */
struct jsp_read_text jsp_source_line(const struct jsp_source *s, uint32_t n);

/* Return the path of a file URL, or a copy of any other text. The caller frees it. NULL: no
 * memory. */
char *jsp_source_path(struct jsp_read_text text);

/* Return true for "scheme://...". */
bool jsp_source_is_url(struct jsp_read_text text);

/* Replace each %XX by its byte, in place. Return the new length. */
size_t jsp_source_unescape(char *text, size_t len);

#endif
