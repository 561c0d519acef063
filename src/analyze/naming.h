/* analyze/naming.h - the names of functions and files as they are shown.
 *
 * A host names a function "name (file:line:column)", and a script by its file alone. A file URL
 * is shown as the path that it means, so that the reader of a report and other programs find
 * the file. Then the user's rules apply to the path. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_NAMING_H
#define JSP_ANALYZE_NAMING_H

#include "source.h"

struct jsp_naming_options { /* borrowed */
    const char *const *maps;  /* OLD=NEW: paths below OLD are below NEW; the first one counts */
    const char *const *trims; /* folders that shown paths omit; likewise */
    uint32_t n_maps, n_trims;
};

/* Return the path of a recorded file as it is shown. The caller frees it. NULL: no memory. */
char *jsp_naming_file(const struct jsp_naming_options *o, struct jsp_read_text file);

/* Return how a recorded name is shown. The caller frees it. NULL: no memory. */
char *jsp_naming_name(const struct jsp_naming_options *o, struct jsp_read_text recorded);

/* Return true if the name of a function is the file of its script. */
bool jsp_naming_is_file(const char *name);

/* Read a file by its shown path, like jsp_source_read. */
int jsp_naming_read(const struct jsp_naming_options *o, struct jsp_source *s, const char *path,
                    const char *directory);

#endif
