/* analyze/name_parts.h - "name (file:line:column)" in its parts.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_NAME_PARTS_H
#define JSP_ANALYZE_NAME_PARTS_H

#include "capture/read.h"

/* The parts borrow from the name. A name without a place is all name. A function without a name
 * is named by its place, "file:line:column": then that is the name, too. */
struct jsp_name_parts {
    struct jsp_read_text name, file;
    uint32_t line, column; /* 0: unknown */
};
struct jsp_name_parts jsp_name_split(const char *name);

/* Return true if the name of a function is the file of its script. */
bool jsp_name_is_file(struct jsp_read_text name);

#endif
