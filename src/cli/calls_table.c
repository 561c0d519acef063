/* cli/calls_table.c - exact calls of one capture: functions, or edges.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "options.h"

/* A function, or a time that belongs to none and only has names. */
struct calls_row {
    jsprof_read_called function;
    bool is_extra;
};

/* -- Columns of functions --------------------------------------------------- */

static bool calls_has_time(const void *of)
{
    uint64_t modes = ((const struct cli_calls *)of)->modes;
    return !modes || modes & CLI_CALLS_TIME;
}

static bool calls_has_bytes(const void *of)
{
    return ((const struct cli_calls *)of)->modes & CLI_CALLS_BYTES;
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

static struct cli_cell calls_self(CLI_OF_ROW)
{
    const struct calls_row *r = row;
    struct cli_cell cell = cli_get_u64(c, of, row);
    if (!r->is_extra)
        cell.colour = cli_heat(r->function.self_share);
    return cell;
}

static struct cli_cell calls_share(CLI_OF_ROW)
{
    const struct calls_row *r = row;
    return calls_but_extra(cli_cell_real(r->function.self_share), r);
}

static struct cli_cell calls_each(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_u64(c, of, row);
    cell.is_blank = !((const struct calls_row *)row)->function.calls;
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
    { .name = "function", .type = CLI_TYPE_TEXT, .get = cli_get_string, CALLS_FIELD(name),
      .means = "The name of the function." },
    { .name = "file", .type = CLI_TYPE_TEXT, .get = cli_get_string, CALLS_FIELD(file),
      .means = "The source file; empty where it is not known." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u32, CALLS_FIELD(line),
      .means = "The line of the definition; 0: not known." },
    { .name = "kind", .head = "KIND", .type = CLI_TYPE_WORD, .get = calls_kind,
      CALLS_FIELD(kind), .words = cli_kinds, .place = 80, .width = -8, .minimum = 90,
      .means = "What the function is." },
    { .name = "calls", .head = "CALLS", .type = CLI_TYPE_COUNT, .get = calls_count,
      CALLS_FIELD(calls), .place = 10, .width = 12, .means = "How often it was called." },
    { .name = "self_ns", .head = "SELF", .type = CLI_TYPE_EXACT_NS, .get = calls_self,
      CALLS_FIELD(self_ns), .place = 20, .width = 10, .fits = calls_has_time,
      .means = "Time in the function itself." },
    { .head = "", .type = CLI_TYPE_SHARE, .get = calls_share, .place = 30, .width = 8,
      .minimum = 80, .fits = calls_has_time },
    { .name = "total_ns", .head = "TOTAL", .type = CLI_TYPE_EXACT_NS, .get = calls_count,
      CALLS_FIELD(total_ns), .place = 40, .width = 10, .fits = calls_has_time,
      .means = "Time in the function and in what it called; recursion counts once." },
    { .name = "per_call_ns", .head = "PER CALL", .type = CLI_TYPE_EXACT_NS, .get = calls_each,
      CALLS_FIELD(each_ns), .place = 50, .width = 10, .minimum = 60, .fits = calls_has_time,
      .means = "Total by calls." },
    { .name = "self_bytes", .head = "BYTES", .type = CLI_TYPE_BYTES, .get = calls_bytes,
      CALLS_FIELD(self_bytes), .place = 60, .width = 12, .minimum = 70,
      .fits = calls_has_bytes, .means = "Bytes allocated in the function itself." },
    { .name = "total_bytes", .head = "IN TOTAL", .type = CLI_TYPE_BYTES, .get = calls_bytes,
      CALLS_FIELD(total_bytes), .place = 70, .width = 12, .minimum = 110,
      .fits = calls_has_bytes,
      .means = "Bytes allocated in the function and in what it called." },
    { .head = "FUNCTION", .type = CLI_TYPE_TEXT, .get = cli_get_string, CALLS_FIELD(shown),
      .place = 90, .least = 6 },
    { 0 }
};

/* -- Columns of edges ------------------------------------------------------- */

struct calls_edge {
    jsprof_read_called caller, callee;
    jsprof_read_edge edge;
};

static struct cli_cell calls_edge_each(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_u64(c, of, row);
    cell.is_blank = !((const struct calls_edge *)row)->edge.calls;
    return cell;
}

static void calls_draw(const struct cli_table *t, const void *row, int room)
{
    const struct cli_style *s = cli_table_style(t);
    const struct calls_edge *e = row;
    bool is_rest = e->caller.is_rest && e->callee.is_rest;
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
      CALLS_EDGE(edge.calls), .place = 10, .width = 12,
      .means = "How often the one called the other." },
    { .name = "total_ns", .head = "TOTAL", .type = CLI_TYPE_EXACT_NS, .get = cli_get_u64,
      CALLS_EDGE(edge.total_ns), .place = 20, .width = 10, .fits = calls_has_time,
      .means = "The time of these calls, with what the callee called." },
    { .name = "per_call_ns", .head = "PER CALL", .type = CLI_TYPE_EXACT_NS,
      .get = calls_edge_each, CALLS_EDGE(edge.each_ns), .place = 30, .width = 10,
      .fits = calls_has_time, .means = "Total by calls." },
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

/* Read the numbers of those that are shown; the caller frees them. NULL: no memory. *n is the
 * number of all. */
static uint32_t *calls_order(const struct cli_calls *c, const struct cli_calls_ask *ask,
                             bool is_of_edges, uint64_t *shown, uint64_t *n)
{
    int64_t (*order)(jsprof_read_calls *, uint64_t, uint32_t *, uint64_t) =
        is_of_edges ? jsprof_read_edge_order : jsprof_read_called_order;
    int64_t all = order(c->calls, 0, NULL, 0);
    *n = all > 0 ? (uint64_t)all : 0;
    *shown = ask->limit && ask->limit < *n ? ask->limit : *n;
    uint32_t *numbers = all < 0 ? NULL : malloc((*shown + 1) * sizeof *numbers);
    if (numbers && *shown && order(c->calls, 0, numbers, *shown) < 0) {
        free(numbers);
        numbers = NULL;
    }
    if (cli_incomplete(!numbers))
        *shown = *n = 0;
    return numbers;
}

static bool calls_row_of(const struct cli_calls *c, uint32_t number, jsprof_read_called *out)
{
    *out = (jsprof_read_called){ .size = sizeof *out };
    return !cli_incomplete(jsprof_read_called_rows(c->calls, number, out, 1) < 0);
}

static void calls_functions(const struct cli_calls *c, const struct cli_calls_ask *ask,
                            struct cli_table *t)
{
    uint64_t n, shown;
    uint32_t *order = calls_order(c, ask, false, &shown, &n);
    for (uint64_t i = 0; i < shown; i++) {
        struct calls_row row = { .is_extra = false };
        if (calls_row_of(c, order[i], &row.function))
            cli_table_row(t, &row);
    }
    if (cli_form_is_text(&ask->form))
        cli_more(12, (uint32_t)(n - shown), "function");
    free(order);
    if (!ask->form.is_csv && (!cli_form_is_text(&ask->form) || !calls_has_time(c)))
        return;
    /* Add the times that belong to no function. They have no calls. */
    const struct calls_row own = {
        { .name = "[own cost of counting]", .kind = "synth",
          .shown = "[own cost of counting, subtracted above]", .self_ns = c->sum.own_ns }, true };
    const struct calls_row gc = {
        { .name = "[garbage collection]", .kind = "synth",
          .shown = "[garbage collection, part of the rows above]",
          .self_ns = c->sum.collector_ns }, true };
    cli_table_row(t, &own);
    cli_table_row(t, &gc);
}

static void calls_edges(const struct cli_calls *c, const struct cli_calls_ask *ask,
                        struct cli_table *t)
{
    uint64_t n, shown;
    uint32_t *order = calls_order(c, ask, true, &shown, &n);
    for (uint64_t i = 0; i < shown; i++) {
        struct calls_edge row = { .edge.size = sizeof row.edge };
        if (jsprof_read_edges(c->calls, order[i], &row.edge, 1) == 1 &&
            calls_row_of(c, row.edge.caller, &row.caller) &&
            calls_row_of(c, row.edge.callee, &row.callee))
            cli_table_row(t, &row);
    }
    if (cli_form_is_text(&ask->form))
        cli_more(12, (uint32_t)(n - shown), "edge");
    free(order);
}

static void calls_heading(const struct cli_calls *c)
{
    const struct cli_style *s = &c->capture.style;
    const char *dot = s->is_utf8 ? " · " : ", ";
    char n[CLI_NUMBER], time[CLI_NUMBER], modes[64];
    cli_colour(s, CLI_BOLD);
    cli_name(s, cli_span(*c->sum.command ? c->sum.command : "?"), s->columns);
    cli_colour(s, CLI_PLAIN);
    printf("\n%s call%s", cli_count(n, c->sum.calls), cli_s(c->sum.calls));
    if (c->sum.has_time)
        printf(" in %s", cli_exact_duration(time, c->sum.inside_ns));
    if (c->sum.has_bytes)
        printf("%s%s allocated", dot, cli_bytes(n, c->sum.bytes));
    if (c->sum.threads > 1)
        printf("%s%s threads", dot, cli_count(n, c->sum.threads));
    cli_calls_modes_text(modes, c->modes);
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
