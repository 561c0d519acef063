/* read/neighbours.c - one function with its callers and its callees.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/neighbours.h"

struct jsprof_read_neighbours {
    jsprof_reader *reader;
    struct jsp_neighbours of;
};

int jsprof_read_neighbours_open(jsprof_read_neighbours **out, jsprof_reader *r, const char *name,
                                jsprof_read_error *error)
{
    jsprof_read_neighbours *n = calloc(1, sizeof *n);
    if (!n)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    n->reader = r;
    int err = jsp_neighbours_build(&n->of, &r->profile, &r->choice.select, name);
    if (err == 0 && n->of.function == UINT32_MAX)
        err = jsp_reader_fail(error, (struct jsp_reader_fault){ .code = -ENOENT },
                              "no function \"%s\"", name);
    else
        jsp_reader_errno(error, err, NULL);
    if (err) {
        jsprof_read_neighbours_close(n);
        return err;
    }
    *out = n;
    return 0;
}

int jsprof_read_neighbours_of(const jsprof_read_neighbours *n, jsprof_read_centre *out)
{
    const struct jsp_function *f = &n->reader->profile.functions[n->of.function];
    const jsprof_read_centre centre = {
        .name = f->name, .module = f->module, .n_functions = n->of.n_of_name,
        .self = n->of.self, .total = n->of.total, .self_samples = n->of.self_samples,
        .total_samples = n->of.total_samples, .value = n->of.value, .samples = n->of.samples,
    };
    jsp_reader_give(out, 0, &centre, sizeof centre);
    return 0;
}

static int64_t neighbours_rows(const jsprof_read_neighbours *n, const struct jsp_neighbour *from,
                               jsprof_read_neighbour *out, uint64_t n_rows)
{
    const struct jsp_profile *p = &n->reader->profile;
    for (uint64_t i = 0; i < n_rows; i++) {
        const struct jsp_function *f =
            from[i].function == UINT32_MAX ? NULL : &p->functions[from[i].function];
        const jsprof_read_neighbour row = { .name = f ? f->name : NULL,
                                            .module = f ? f->module : "",
                                            .value = from[i].value,
                                            .samples = from[i].samples };
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return (int64_t)n_rows;
}

int64_t jsprof_read_callers(const jsprof_read_neighbours *n, uint64_t first,
                            jsprof_read_neighbour *out, uint64_t n_rows)
{
    int64_t rows;
    bool has_rows = jsp_reader_range(n->of.n_callers, first, n_rows, out, &rows);
    return has_rows ? neighbours_rows(n, n->of.callers + first, out, (uint64_t)rows) : rows;
}

int64_t jsprof_read_callees(const jsprof_read_neighbours *n, uint64_t first,
                            jsprof_read_neighbour *out, uint64_t n_rows)
{
    int64_t rows;
    bool has_rows = jsp_reader_range(n->of.n_callees, first, n_rows, out, &rows);
    return has_rows ? neighbours_rows(n, n->of.callees + first, out, (uint64_t)rows) : rows;
}

void jsprof_read_neighbours_close(jsprof_read_neighbours *n)
{
    if (!n)
        return;
    jsp_neighbours_free(&n->of);
    free(n);
}
