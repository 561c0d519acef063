/* read/calls.c - what the host counted exactly.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/exact.h"

struct jsprof_read_calls {
    jsprof_reader *reader;
    struct jsp_exact of;
};

int jsprof_read_calls_open(jsprof_read_calls **out, jsprof_reader *r, jsprof_read_error *error)
{
    jsprof_read_calls *c = calloc(1, sizeof *c);
    int err = c ? jsp_exact_read(&c->of, &r->read, NULL) : -ENOMEM;
    if (err) {
        free(c);
        return jsp_reader_errno(error, err, NULL);
    }
    c->reader = r;
    err = jsp_exact_show(&c->of, r->profile.naming);
    if (err)
        jsp_reader_errno(error, err, NULL);
    else if (!c->of.is_there)
        err = jsp_reader_fail(error, (struct jsp_reader_fault){ .code = -ENODATA },
                              "no exact calls in this capture: the host counted none");
    if (err) {
        jsprof_read_calls_close(c);
        return err;
    }
    *out = c;
    return 0;
}

int jsprof_read_calls_of(const jsprof_read_calls *c, jsprof_read_counted *out)
{
    const jsprof_read_counted counted = {
        .process = c->of.pid, .has_others = c->of.has_others,
        .has_time = c->of.modes & JSP_EXACT_TIME, .has_bytes = c->of.modes & JSP_EXACT_ALLOC,
        .has_edges = c->of.modes & JSP_EXACT_EDGES,
        .calls = c->of.commit[JSP_WIRE_COMMIT_CALLS],
        .own_ns = jsp_exact_ns(&c->of, c->of.commit[JSP_WIRE_COMMIT_OWN]),
        .collector_ns = jsp_exact_ns(&c->of, c->of.commit[JSP_WIRE_COMMIT_GC]),
    };
    jsp_reader_give(out, 0, &counted, sizeof counted);
    return 0;
}

int64_t jsprof_read_called_rows(const jsprof_read_calls *c, uint64_t first,
                                jsprof_read_called *out, uint64_t n)
{
    jsprof_reader *r = c->reader;
    int64_t rows;
    if (!jsp_reader_range(c->of.n_functions, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_exact_function *from = &c->of.functions[first + i];
        const struct jsp_exact_cost *cost = &from->cost;
        const jsprof_read_called row = {
            .name = jsp_reader_text(r, from->name), .file = jsp_reader_text(r, from->file),
            .kind = jsp_kind_name(from->kind), .line = from->line, .calls = cost->calls,
            .self_ns = jsp_exact_ns(&c->of, cost->self),
            .total_ns = jsp_exact_ns(&c->of, cost->total),
            .self_bytes = cost->self_bytes, .total_bytes = cost->total_bytes,
        };
        if (!row.name || !row.file)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_edges(const jsprof_read_calls *c, uint64_t first, jsprof_read_edge *out,
                          uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(c->of.n_edges, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_exact_edge *from = &c->of.edges[first + i];
        const jsprof_read_edge edge = { .caller = from->caller, .callee = from->callee,
                                        .calls = from->cost.calls,
                                        .total_ns = jsp_exact_ns(&c->of, from->cost.total),
                                        .total_bytes = from->cost.total_bytes };
        jsp_reader_give(out, i, &edge, sizeof edge);
    }
    return rows;
}

void jsprof_read_calls_close(jsprof_read_calls *c)
{
    if (!c)
        return;
    jsp_exact_free(&c->of);
    free(c);
}
