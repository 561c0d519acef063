/* export/tables.c - the tables from which most formats are written: stacks, files, moments.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int jsp_export_tree(struct jsp_calltree *t, const struct jsp_export *e)
{
    int err = jsp_calltree_of(t, e->profile, e->select, JSP_CALLTREE_LINES);
    if (err != -ENODATA || !e->may_be_empty)
        return err;
    memset(t, 0, sizeof *t);
    return 0;
}

struct jsp_calltree_count *jsp_export_counts(const struct jsp_calltree *t,
                                             const struct jsp_profile *p, uint32_t *n)
{
    *n = 0;
    return t->n_nodes ? jsp_calltree_counts_of_states(t, p, n) : calloc(1, 1);
}
