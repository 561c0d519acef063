/* export/tables.c - the tables from which most formats are written: stacks, files, moments.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tables.h"

int jsp_tables_build(struct jsp_tables *t, const struct jsp_export *e,
                     enum jsp_calltree_detail detail)
{
    *t = (struct jsp_tables){ 0 };
    int err = jsp_calltree_of(&t->stacks, e->profile, e->select, detail);
    if (err == 0)
        err = jsp_modules_build(&t->modules, e->profile);
    if (err == 0)
        err = jsp_moments_build(&t->moments, e->profile, &t->stacks, e->select);
    return err;
}

void jsp_tables_free(struct jsp_tables *t)
{
    jsp_calltree_free(&t->stacks);
    jsp_modules_free(&t->modules);
    jsp_moments_free(&t->moments);
}
