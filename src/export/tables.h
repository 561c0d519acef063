/* export/tables.h - what most formats are written from: stacks, their files, moments.
 *
 * SPDX-License-Identifier: MIT
 *
 * One thread.
 */
#ifndef JSP_EXPORT_TABLES_H
#define JSP_EXPORT_TABLES_H

#include "export/export.h"
#include "export/modules.h"
#include "export/moments.h"

struct jsp_tables {
    struct jsp_stacks stacks;
    struct jsp_modules modules;
    struct jsp_moments moments;
};

/* Of what was chosen of the profile. -ENODATA: nothing of it counts; -ENOMEM. In any case
 * jsp_tables_free gives back what there is. */
int jsp_tables_build(struct jsp_tables *t, const struct jsp_export *e,
                     enum jsp_stacks_detail detail);
void jsp_tables_free(struct jsp_tables *t);

/* The file that a function of the profile comes from. */
static inline const struct jsp_module *jsp_tables_module(const struct jsp_tables *t,
                                                         uint32_t function)
{
    return &t->modules.list[t->modules.of_function[function]];
}

#endif
