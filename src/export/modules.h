/* export/modules.h - the modules of functions: files, or names in brackets.
 *
 * Formats with a table of libraries need one for each function. VM code, the kernel and
 * functions that the host or jsprof made up belong to no library: they get a name in
 * brackets. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_MODULES_H
#define JSP_EXPORT_MODULES_H

#include "analyze/profile.h"
#include "strings.h"

struct jsp_module {
    struct jsp_read_text path, build_id;
    uint64_t start, end, offset; /* of its first mapping; 0: unknown */
    bool is_file;                /* not one in brackets */
};

struct jsp_modules {
    struct jsp_module *list;
    uint32_t n, room;
    uint32_t *of_function; /* index of the module of each function of the profile */
    struct jsp_strings paths;
};

/* Call this when the profile's functions are known. Return 0 or -ENOMEM. */
int jsp_modules_build(struct jsp_modules *m, const struct jsp_profile *p);
void jsp_modules_free(struct jsp_modules *m);

#endif
