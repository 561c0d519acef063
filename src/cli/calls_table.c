/* cli/calls_table.c - exact calls of one capture: functions, or edges.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/profile.h"
#include "calls.h"
#include "options.h"

/* A function, or a time that belongs to none and only has names. */
struct calls_row {
    struct jsp_exact_function function; /* costs in ticks */
    bool is_extra;
};

/* -- Columns of functions --------------------------------------------------- */

static bool calls_has_time(const void *of)
{
    uint64_t modes = ((const struct cli_calls *)of)->calls.modes;
    return !modes || modes & JSP_EXACT_TIME;
}

static bool calls_has_bytes(const void *of)
{
    return ((const struct cli_calls *)of)->calls.modes & JSP_EXACT_ALLOC;
}

/* Text shows only the names and the time of an extra row. */
static struct cli_cell calls_but_extra(struct cli_cell cell, const struct calls_row *r)
{
    cell.is_blank = r->is_extra;
    return cell;
}

static struct cli_cell calls_kind(CLI_OF_ROW)
{
    return calls_but_extra(cli_get_kind(c, of, row), row);
}

static struct cli_cell calls_count(CLI_OF_ROW)
{
    return calls_but_extra(cli_get_u64(c, of, row), row);
}

/* Convert the ticks at c->offset to ns. */
static struct cli_cell calls_ns(CLI_OF_ROW)
{
    const struct cli_calls *l = of;
    return cli_cell_u64(jsp_exact_ns(&l->calls, cli_get_u64(c, of, row).u64));
}

static double calls_share_of(const struct cli_calls *c, const struct calls_row *r)
{
    uint64_t inside = c->calls.commit[JSP_WIRE_COMMIT_INSIDE];
    return inside ? (double)r->function.cost.self / (double)inside : 0;
}

static struct cli_cell calls_self(CLI_OF_ROW)
{
    struct cli_cell cell = calls_ns(c, of, row);
    if (!((const struct calls_row *)row)->is_extra)
        cell.colour = cli_heat(calls_share_of(of, row));
    return cell;
}

static struct cli_cell calls_share(CLI_OF_ROW)
{
    return calls_but_extra(cli_cell_real(calls_share_of(of, row)), row);
}

static struct cli_cell calls_total(CLI_OF_ROW)
{
    return calls_but_extra(calls_ns(c, of, row), row);
}

/* The time of one call, from the cost at c->offset. */
static struct cli_cell calls_each(CLI_OF_ROW)
{
    const struct cli_calls *l = of;
    const struct jsp_exact_cost *cost = cli_get_object(c, of, row).object;
    struct cli_cell cell = cli_cell_u64(jsp_exact_ns(&l->calls, jsp_exact_each(cost)));
    cell.is_blank = !cost->calls;
    return cell;
}

static struct cli_cell calls_bytes(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_u64(c, of, row);
    cell.is_blank = !cell.u64;
    return cell;
}

#define CALLS_FIELD(field) .offset = offsetof(struct calls_row, function.field)

static const struct cli_column calls_columns[] = {
    { .name = "id", .type = CLI_TYPE_COUNT, .get = cli_get_u32, CALLS_FIELD(id),
      .in = CLI_IN_JSON, .means = "The number of the function in this capture." },
    { .name = "function", .type = CLI_TYPE_TEXT, .get = cli_get_text, CALLS_FIELD(name),
      .means = "The name of the function." },
    { .name = "file", .type = CLI_TYPE_TEXT, .get = cli_get_text, CALLS_FIELD(file),
      .means = "The source file; empty where it is not known." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u32, CALLS_FIELD(line),
      .means = "The line of the definition; 0: not known." },
    { .name = "kind", .head = "KIND", .type = CLI_TYPE_WORD, .get = calls_kind,
      CALLS_FIELD(kind), .words = cli_kinds, .place = 80, .width = -8, .minimum = 90,
      .means = "What the function is." },
    { .name = "calls", .head = "CALLS", .type = CLI_TYPE_COUNT, .get = calls_count,
      CALLS_FIELD(cost.calls), .place = 10, .width = 12, .means = "How often it was called." },
    { .name = "self_ns", .head = "SELF", .type = CLI_TYPE_EXACT_NS, .get = calls_self,
      CALLS_FIELD(cost.self), .place = 20, .width = 10, .fits = calls_has_time,
      .means = "Time in the function itself." },
    { .head = "", .type = CLI_TYPE_SHARE, .get = calls_share, .place = 30, .width = 8,
      .minimum = 80, .fits = calls_has_time },
    { .name = "total_ns", .head = "TOTAL", .type = CLI_TYPE_EXACT_NS, .get = calls_total,
      CALLS_FIELD(cost.total), .place = 40, .width = 10, .fits = calls_has_time,
      .means = "Time in the function and in what it called; recursion counts once." },
    { .name = "per_call_ns", .head = "PER CALL", .type = CLI_TYPE_EXACT_NS, .get = calls_each,
      CALLS_FIELD(cost), .place = 50, .width = 10, .minimum = 60, .fits = calls_has_time,
      .means = "Total by calls." },
    { .name = "self_bytes", .head = "BYTES", .type = CLI_TYPE_BYTES, .get = calls_bytes,
      CALLS_FIELD(cost.self_bytes), .place = 60, .width = 12, .minimum = 70,
      .fits = calls_has_bytes, .means = "Bytes allocated in the function itself." },
    { .name = "total_bytes", .head = "IN TOTAL", .type = CLI_TYPE_BYTES, .get = calls_bytes,
      CALLS_FIELD(cost.total_bytes), .place = 70, .width = 12, .minimum = 110,
      .fits = calls_has_bytes,
      .means = "Bytes allocated in the function and in what it called." },
    { .head = "FUNCTION", .type = CLI_TYPE_TEXT, .get = cli_get_string, CALLS_FIELD(shown),
      .place = 90, .least = 6 },
    { 0 }
};

/* -- Columns of edges ------------------------------------------------------- */

struct calls_edge {
    struct jsp_exact_function caller, callee;
    struct jsp_exact_cost cost;
};

static void calls_draw(const struct cli_table *t, const void *row, int room)
{
    const struct cli_style *s = cli_table_style(t);
    const struct calls_edge *e = row;
    bool is_rest = e->caller.id == JSP_WIRE_CALLS_OTHER && e->callee.id == JSP_WIRE_CALLS_OTHER;
    int half = room ? (room - 4) / 2 : 0;
    cli_name(s, cli_span(is_rest ? "[edges beyond the table]" : e->caller.shown), half);
    fputs(s->is_utf8 ? " → " : " -> ", stdout);
    cli_name(s, cli_span(e->callee.shown), half);
}

static const char *calls_heading_edge(const struct cli_table *t)
{
    return cli_table_style(t)->is_utf8 ? "CALLER → CALLEE" : "CALLER -> CALLEE";
}

#define CALLS_EDGE(field) .offset = offsetof(struct calls_edge, field)

static const struct cli_column calls_edge_columns[] = {
    { .name = "caller_id", .type = CLI_TYPE_COUNT, .get = cli_get_u32,
      CALLS_EDGE(caller.id), .in = CLI_IN_JSON, .means = "The id of the caller." },
    { .name = "caller", .type = CLI_TYPE_TEXT, .get = cli_get_string, CALLS_EDGE(caller.shown),
      .means = "The name of the caller, with its file and line." },
    { .name = "callee_id", .type = CLI_TYPE_COUNT, .get = cli_get_u32,
      CALLS_EDGE(callee.id), .in = CLI_IN_JSON, .means = "The id of the callee." },
    { .name = "callee", .type = CLI_TYPE_TEXT, .get = cli_get_string, CALLS_EDGE(callee.shown),
      .means = "The name of the callee, with its file and line." },
    { .name = "calls", .head = "CALLS", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      CALLS_EDGE(cost.calls), .place = 10, .width = 12,
      .means = "How often the one called the other." },
    { .name = "total_ns", .head = "TOTAL", .type = CLI_TYPE_EXACT_NS, .get = calls_ns,
      CALLS_EDGE(cost.total), .place = 20, .width = 10, .fits = calls_has_time,
      .means = "The time of these calls, with what the callee called." },
    { .name = "per_call_ns", .head = "PER CALL", .type = CLI_TYPE_EXACT_NS,
      .get = calls_each, CALLS_EDGE(cost), .place = 30, .width = 10, .fits = calls_has_time,
      .means = "Total by calls." },
    { .head = "CALLER", .heading = calls_heading_edge, .type = CLI_TYPE_TEXT,
      .draw = calls_draw, .place = 40 },
    { 0 }
};

const struct cli_document cli_calls_document = {
    .means = "Exact calls of one capture: functions, and who called whom.",
    .head = cli_calls_summary,
    .lists = { { .name = "functions", .means = "The functions.",
                 .columns = calls_columns },
               { "edges", "Who called whom; absent with --limit, unless --edges is given.",
                 calls_edge_columns, .may_lack = true } },
    .is_one_line = true,
};

/* -- Tables ----------------------------------------------------------------- */

static void calls_functions(const struct cli_calls *c, const struct cli_calls_ask *ask,
                            struct cli_table *t)
{
    uint32_t n = 0, *order = jsp_exact_order(&c->calls, ask->sort, ask->limit, &n);
    cli_incomplete(!order);
    uint32_t shown = !order ? 0 : ask->limit && ask->limit < n ? ask->limit : n;
    for (uint32_t i = 0; i < shown; i++)
        cli_table_row(t, &(struct calls_row){ .function = c->calls.functions[order[i]] });
    if (cli_form_is_text(&ask->form))
        cli_more(12, n - shown, "function");
    free(order);
    if (!ask->form.is_csv && (!cli_form_is_text(&ask->form) || !calls_has_time(c)))
        return;
    /* Add the times that belong to no function. They have no calls. */
    static const char own_name[] = "[own cost of counting]", gc_name[] = "[garbage collection]";
    const struct calls_row own = {
        { .name = { own_name, sizeof own_name - 1 }, .kind = JSPROF_KIND_SYNTH,
          .shown = "[own cost of counting, subtracted above]",
          .cost.self = c->calls.commit[JSP_WIRE_COMMIT_OWN] }, true };
    const struct calls_row gc = {
        { .name = { gc_name, sizeof gc_name - 1 }, .kind = JSPROF_KIND_SYNTH,
          .shown = "[garbage collection, part of the rows above]",
          .cost.self = c->calls.commit[JSP_WIRE_COMMIT_GC] }, true };
    cli_table_row(t, &own);
    cli_table_row(t, &gc);
}

static void calls_edges(const struct cli_calls *c, const struct cli_calls_ask *ask,
                        struct cli_table *t)
{
    uint32_t n = 0, *order = jsp_exact_order_edges(&c->calls, ask->sort, ask->limit, &n);
    cli_incomplete(!order);
    uint32_t shown = !order ? 0 : ask->limit && ask->limit < n ? ask->limit : n;
    for (uint32_t i = 0; i < shown; i++) {
        const struct jsp_exact_edge *e = &c->calls.edges[order[i]];
        cli_table_row(t, &(struct calls_edge){ c->calls.functions[e->caller],
                                               c->calls.functions[e->callee], e->cost });
    }
    if (cli_form_is_text(&ask->form))
        cli_more(12, n - shown, "edge");
    free(order);
}

static void calls_heading(const struct cli_calls *c)
{
    const struct cli_style *s = &c->capture.style;
    const char *dot = s->is_utf8 ? " · " : ", ";
    char n[CLI_NUMBER], time[CLI_NUMBER], modes[64];
    cli_colour(s, CLI_BOLD);
    cli_name(s, (struct cli_span){ c->command.len ? c->command.at : "?",
                                   c->command.len ? c->command.len : 1 }, s->columns);
    cli_colour(s, CLI_PLAIN);
    printf("\n%s call%s", cli_count(n, c->calls.commit[JSP_WIRE_COMMIT_CALLS]),
           cli_s(c->calls.commit[JSP_WIRE_COMMIT_CALLS]));
    if (c->calls.modes & JSP_EXACT_TIME)
        printf(" in %s",
               cli_exact_duration(time, jsp_exact_ns(&c->calls,
                                                 c->calls.commit[JSP_WIRE_COMMIT_INSIDE])));
    if (c->calls.modes & JSP_EXACT_ALLOC)
        printf("%s%s allocated", dot,
               cli_bytes(n, c->calls.commit[JSP_WIRE_COMMIT_ALLOC]));
    uint64_t threads = c->calls.commit[JSP_WIRE_COMMIT_THREADS];
    if (threads > 1)
        printf("%s%s threads", dot, cli_count(n, threads));
    cli_calls_modes_text(modes, c->calls.modes);
    printf("%scounted: %s\n\n", dot, modes);
}

int cli_calls_table(const struct cli_calls *c, const struct cli_calls_ask *ask)
{
    bool is_text = cli_form_is_text(&ask->form), is_json = ask->form.is_json;
    if (is_text)
        calls_heading(c);
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &ask->form, .command = "calls",
        .columns = ask->has_edges ? calls_edge_columns : calls_columns,
        .document = &cli_calls_document, .head = c, .of = c, .capture = &c->capture });
    /* JSON has both: functions always, edges where they are asked for or nothing is limited. */
    if (t && (is_json || !ask->has_edges))
        calls_functions(c, ask, t);
    if (t && is_json && (ask->has_edges || !ask->limit))
        cli_table_next(t);
    if (t && (ask->has_edges || (is_json && !ask->limit)))
        calls_edges(c, ask, t);
    int status = cli_table_close(t);
    if (is_text)
        cli_calls_notes(c);
    return status;
}
