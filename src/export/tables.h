/* export/tables.h - the tables from which most formats are written: stacks, files,
 * moments.
 *
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_TABLES_H
#define JSP_EXPORT_TABLES_H

#include "export.h"
#include "modules.h"
#include "moments.h"

struct jsp_tables {
    struct jsp_calltree stacks;
    struct jsp_modules modules;
    struct jsp_moments moments;
};

/* Build the tables of the selected part of the profile. Return 0, -ENODATA if nothing is
 * selected, or -ENOMEM. Call jsp_tables_free in any case. */
int jsp_tables_build(struct jsp_tables *t, const struct jsp_export *e,
                     enum jsp_calltree_detail detail);
void jsp_tables_free(struct jsp_tables *t);

/* Return the module of a function of the profile. */
static inline const struct jsp_module *jsp_tables_module(const struct jsp_tables *t,
                                                         uint32_t function)
{
    return &t->modules.list[t->modules.of_function[function]];
}

#endif
