/* analyze/naming.h - the names of functions and files as they are shown.
 *
 * A host names a function "name (file:line:column)", and a script by its file alone. A file URL
 * is shown as the path that it means, so that the reader of a report and other programs find
 * the file. Where the file has a source map, the original's name, file and lines are shown. Then
 * the user's rules apply to the path. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_NAMING_H
#define JSP_ANALYZE_NAMING_H

#include "originals.h"

struct jsp_naming_options { /* borrowed */
    const char *const *maps;  /* OLD=NEW: paths below OLD are below NEW; the first one counts */
    const char *const *trims; /* folders that shown paths omit; likewise */
    uint32_t n_maps, n_trims;
    const char *source_maps; /* a source map, or a folder with some; NULL: none */
    bool has_no_source_maps; /* show generated code as it is */
};

struct jsp_naming;

/* Open a naming with these options, which are borrowed. Return 0 or -ENOMEM. */
int jsp_naming_open(struct jsp_naming **out, const struct jsp_naming_options *o);

/* Free the naming. NULL does nothing. */
void jsp_naming_close(struct jsp_naming *n);

/* Set the time of the recording's end, in s, before any name is shown. 0: unknown. */
void jsp_naming_recorded(struct jsp_naming *n, int64_t end);

/* The source maps, or NULL without any. */
const struct jsp_originals *jsp_naming_originals(const struct jsp_naming *n);

/* Return the path of a recorded file as it is shown. The caller frees it. NULL: no memory. */
char *jsp_naming_file(const struct jsp_naming *n, struct jsp_read_text file);

/* How a recorded name is shown. */
struct jsp_naming_name {
    char *text;         /* the caller frees it */
    uint32_t generated; /* for jsp_naming_line; 0: its lines are as recorded */
};
int jsp_naming_name(struct jsp_naming *n, struct jsp_read_text recorded,
                    struct jsp_naming_name *out); /* 0 or -ENOMEM */

/* The original of a line in such a function. */
struct jsp_naming_line {
    uint32_t line; /* 0: unknown */
    char *file;    /* the shown path; the caller frees it. NULL: the file of the name */
};
int jsp_naming_line(struct jsp_naming *n, uint32_t generated, uint32_t line,
                    struct jsp_naming_line *out); /* 0 or -ENOMEM */

/* Read a file by its shown path, like jsp_source_read. */
int jsp_naming_read(struct jsp_naming *n, struct jsp_source *s, const char *path,
                    const char *directory);

#endif
