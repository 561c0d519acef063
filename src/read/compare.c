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
    struct jsp_roots roots;
    jsprof_read_sum sums[2];
};

static int compare_build(jsprof_read_comparison *out, jsprof_reader *const of[2])
{
    struct jsp_functions functions[2] = { { 0 }, { 0 } };
    struct jsp_diff_side sides[2];
    int err = 0;
    for (int i = 0; err == 0 && i < 2; i++) {
        err = jsp_functions_build(&functions[i], &of[i]->profile, &of[i]->choice.select);
        sides[i] = (struct jsp_diff_side){ &of[i]->profile, &functions[i] };
        out->sums[i] = (jsprof_read_sum){ .value = functions[i].value,
                                          .samples = functions[i].samples,
                                          .weight = functions[i].weight };
    }
    if (err == 0)
        err = jsp_roots_strip(&out->roots,
                              (struct jsp_profile *[]){ &of[0]->profile, &of[1]->profile });
    if (err == 0)
        err = jsp_diff_build(&out->of, sides);
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
    int err = c ? compare_build(c, (jsprof_reader *[]){ before, after }) : -ENOMEM;
    if (err) {
        jsprof_read_compare_close(c);
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
            .times = jsp_diff_times(from->chance, c->of.n_judged),
            .total_times = jsp_diff_times(from->total_chance, c->of.n_total_judged),
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

int jsprof_read_compared(const jsprof_read_comparison *c, int side, jsprof_read_sum *out)
{
    if (side != 0 && side != 1)
        return -EINVAL;
    jsp_reader_give(out, 0, &c->sums[side], sizeof c->sums[side]);
    return 0;
}

int64_t jsprof_read_folders(const jsprof_read_comparison *c, uint64_t first,
                            jsprof_read_folder *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(c->roots.n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_root *root = &c->roots.list[first + i];
        const jsprof_read_folder row = { .before = root->of[0], .after = root->of[1] };
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

void jsprof_read_compare_close(jsprof_read_comparison *c)
{
    if (!c)
        return;
    jsp_roots_free(&c->roots);
    jsp_diff_free(&c->of);
    free(c);
}
