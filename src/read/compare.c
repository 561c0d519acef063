/* read/compare.c - functions of two captures by their shares.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/diff.h"
#include "analyze/roots.h"

struct jsprof_read_comparison {
    struct jsp_diff of;
};

static int compare_build(struct jsp_diff *out, jsprof_reader *const of[2])
{
    struct jsp_functions functions[2] = { { 0 }, { 0 } };
    struct jsp_diff_side sides[2];
    struct jsp_roots roots;
    int err = 0;
    for (int i = 0; err == 0 && i < 2; i++) {
        err = jsp_functions_build(&functions[i], &of[i]->profile, &of[i]->choice.select);
        sides[i] = (struct jsp_diff_side){ &of[i]->profile, &functions[i] };
    }
    if (err == 0)
        err = jsp_roots_strip(&roots,
                              (struct jsp_profile *[]){ &of[0]->profile, &of[1]->profile });
    if (err == 0) {
        jsp_roots_free(&roots);
        err = jsp_diff_build(out, sides);
    }
    for (int i = 0; i < 2; i++)
        jsp_functions_free(&functions[i]);
    return err;
}

int jsprof_read_compare(jsprof_read_comparison **out, jsprof_reader *before,
                        jsprof_reader *after, const char *sort, jsprof_read_error *error)
{
    static const char *const sorts[] = { "self", "total", NULL };
    int by = sort ? jsp_reader_word(error, "sort", sort, sorts) : 0;
    if (by < 0)
        return by;
    jsprof_read_comparison *c = calloc(1, sizeof *c);
    int err = c ? compare_build(&c->of, (jsprof_reader *[]){ before, after }) : -ENOMEM;
    if (err) {
        free(c);
        return jsp_reader_errno(error, err, NULL);
    }
    if (by)
        jsp_diff_sort_total(&c->of);
    *out = c;
    return 0;
}

int64_t jsprof_read_changes(const jsprof_read_comparison *c, uint64_t first,
                            jsprof_read_change *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(c->of.n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_diff_row *from = &c->of.rows[first + i];
        jsprof_read_change row = {
            .name = from->name, .module = from->module, .kind = jsp_kind_name(from->kind),
            .chance = from->chance, .total_chance = from->total_chance,
            .is_real = jsp_diff_is_real(from->chance, c->of.n_judged),
            .is_total_real = jsp_diff_is_real(from->total_chance, c->of.n_total_judged),
        };
        for (int side = 0; side < 2; side++) {
            row.share[side] = from->share[side];
            row.total_share[side] = from->total_share[side];
            row.self[side] = from->self[side];
            row.total[side] = from->total[side];
            row.samples[side] = from->samples[side];
        }
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

void jsprof_read_compare_close(jsprof_read_comparison *c)
{
    if (!c)
        return;
    jsp_diff_free(&c->of);
    free(c);
}
