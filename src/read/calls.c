/* read/calls.c - what the host counted exactly.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#include <errno.h>
#include <stdlib.h>

/* The process's command line. Return 0 or -ENOMEM. */
static int calls_command(jsprof_read_calls *c)
{
    struct jsp_read_cursor walk;
    struct jsp_read_frame f;
    struct jsp_read_text command = { NULL, 0 };
    jsp_read_start(&walk, &c->reader->read, NULL);
    while (!command.len && jsp_read_next(&walk, &f))
        if (f.type == JSP_WIRE_PROCESS && f.pid == c->of.pid)
            jsp_read_process(&walk, &f, &command);
    c->command = jsp_reader_text(c->reader, command);
    return c->command ? 0 : -ENOMEM;
}

int jsprof_read_calls_open(jsprof_read_calls **out, jsprof_reader *r, jsprof_read_error *error)
{
    jsprof_read_calls *c = calloc(1, sizeof *c);
    r->call_defects = (struct jsp_read_defects){ 0 };
    int err = c ? jsp_exact_read(&c->of, &r->read, &r->call_defects) : -ENOMEM;
    if (err) {
        free(c);
        return jsp_reader_errno(error, err, NULL);
    }
    c->reader = r;
    err = jsp_exact_show(&c->of, r->profile.naming);
    if (!err && c->of.is_there)
        err = calls_command(c);
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

static int64_t calls_since(const jsprof_read_calls *c, uint64_t time)
{
    return (int64_t)(time - (uint64_t)c->reader->profile.start_time);
}

int jsprof_read_calls_of(const jsprof_read_calls *c, jsprof_read_counted *out)
{
    const struct jsp_exact *of = &c->of;
    const uint64_t *commit = of->commit;
    const jsprof_read_counted counted = {
        .process = of->pid, .has_others = of->has_others,
        .has_time = of->modes & JSP_EXACT_TIME, .has_bytes = of->modes & JSP_EXACT_ALLOC,
        .has_edges = of->modes & JSP_EXACT_EDGES, .has_counts = of->modes & JSP_EXACT_COUNTS,
        .calls = commit[JSP_WIRE_COMMIT_CALLS],
        .own_ns = jsp_exact_ns(of, commit[JSP_WIRE_COMMIT_OWN]),
        .collector_ns = jsp_exact_ns(of, commit[JSP_WIRE_COMMIT_GC]),
        .inside_ns = jsp_exact_ns(of, commit[JSP_WIRE_COMMIT_INSIDE]),
        .bytes = commit[JSP_WIRE_COMMIT_ALLOC], .threads = commit[JSP_WIRE_COMMIT_THREADS],
        .threads_waiting = commit[JSP_WIRE_COMMIT_WAITING],
        .functions_lost = commit[JSP_WIRE_COMMIT_FUNCTIONS_LOST],
        .edges_lost = commit[JSP_WIRE_COMMIT_EDGES_LOST],
        .too_deep = commit[JSP_WIRE_COMMIT_DEPTH_LOST],
        .underflows = commit[JSP_WIRE_COMMIT_UNDERFLOWS],
        .foreign = commit[JSP_WIRE_COMMIT_FOREIGN],
        .clock_back = commit[JSP_WIRE_COMMIT_CLOCK_BACK],
        .clock_off_ppm = commit[JSP_WIRE_COMMIT_CLOCK_OFF],
        .beyond_ns = jsp_exact_ns(of, commit[JSP_WIRE_COMMIT_NEGATIVE]),
        .time = calls_since(c, commit[JSP_WIRE_COMMIT_TIME]), .command = c->command,
        .is_over = c->reader->read.end_time != 0,
    };
    jsp_reader_give(out, 0, &counted, sizeof counted);
    return 0;
}

int64_t jsprof_read_countings(const jsprof_read_calls *c, uint64_t first,
                              jsprof_read_counting *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(c->of.n_changes, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_exact_mode *from = &c->of.changes[first + i];
        const jsprof_read_counting row = { .time = calls_since(c, from->time),
                                           .has_counts = from->modes & JSP_EXACT_COUNTS,
                                           .has_time = from->modes & JSP_EXACT_TIME,
                                           .has_bytes = from->modes & JSP_EXACT_ALLOC,
                                           .has_edges = from->modes & JSP_EXACT_EDGES };
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_calls_defects(const jsprof_reader *r, uint64_t first, jsprof_read_defect *out,
                                  uint64_t n)
{
    return jsp_reader_defects(&r->call_defects, first, out, n);
}

int64_t jsprof_read_called_rows(const jsprof_read_calls *c, uint64_t first,
                                jsprof_read_called *out, uint64_t n)
{
    jsprof_reader *r = c->reader;
    uint64_t inside = c->of.commit[JSP_WIRE_COMMIT_INSIDE];
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
            .shown = from->shown, .each_ns = jsp_exact_ns(&c->of, jsp_exact_each(cost)),
            .self_share = inside ? (double)cost->self / (double)inside : 0,
            .id = from->id, .is_rest = from->id == JSP_WIRE_CALLS_OTHER,
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
                                        .total_bytes = from->cost.total_bytes,
                                        .each_ns = jsp_exact_ns(&c->of,
                                                                jsp_exact_each(&from->cost)) };
        jsp_reader_give(out, i, &edge, sizeof edge);
    }
    return rows;
}

void jsprof_read_calls_close(jsprof_read_calls *c)
{
    if (!c)
        return;
    free(c->functions.at);
    free(c->edges.at);
    jsp_exact_free(&c->of);
    free(c);
}
