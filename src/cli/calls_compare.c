/* cli/calls_compare.c - how exact calls of two captures differ.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "options.h"

/* "+12,345", "-3", "=" */
static void compare_change(char out[CLI_NUMBER], const char *show(char[CLI_NUMBER], uint64_t),
                           uint64_t a, uint64_t b)
{
    char n[CLI_NUMBER];
    if (a == b)
        strcpy(out, "=");
    else
        snprintf(out, CLI_NUMBER, "%c%.29s", b > a ? '+' : '-', show(n, b > a ? b - a : a - b));
}

/* -- Columns ---------------------------------------------------------------- */

/* What both captures counted. */
struct compare_of {
    uint64_t modes;
};

/* What a function has in one capture. */
struct compare_side {
    uint64_t calls, self, total, self_bytes, total_bytes; /* times in ns */
};

struct compare_row {
    jsprof_read_call_change is;
    struct compare_side first, second;
};

static bool compare_has_time(const void *of)
{
    return ((const struct compare_of *)of)->modes & CLI_CALLS_TIME;
}

static bool compare_has_bytes(const void *of)
{
    return ((const struct compare_of *)of)->modes & CLI_CALLS_BYTES;
}

static struct cli_cell compare_calls_change(CLI_OF_ROW)
{
    const struct compare_row *p = row;
    struct cli_cell cell = { 0 };
    compare_change(cell.shown, cli_count, p->first.calls, p->second.calls);
    return cell;
}

static struct cli_cell compare_self_change(CLI_OF_ROW)
{
    const struct compare_row *p = row;
    struct cli_cell cell = { 0 };
    compare_change(cell.shown, cli_exact_duration, p->first.self, p->second.self);
    return cell;
}

static struct cli_cell compare_bytes_change(CLI_OF_ROW)
{
    const struct compare_row *p = row;
    struct cli_cell cell = { 0 };
    compare_change(cell.shown, cli_bytes, p->first.self_bytes, p->second.self_bytes);
    return cell;
}

static struct cli_cell compare_each(CLI_OF_ROW)
{
    const struct compare_row *p = row;
    struct cli_cell cell = cli_cell_u64(p->second.calls ? p->second.total / p->second.calls : 0);
    cell.is_blank = !p->second.calls;
    return cell;
}

/* Write the ratio of total time per call, as in "x1.25"; "new" or "gone" where one capture
 * lacks the function. */
static struct cli_cell compare_times(CLI_OF_ROW)
{
    const struct compare_row *p = row;
    double a = (double)p->first.total / (double)(p->first.calls ? p->first.calls : 1);
    double b = (double)p->second.total / (double)(p->second.calls ? p->second.calls : 1);
    struct cli_cell cell = { 0 };
    if (!p->is.is_there[0] || !p->is.is_there[1])
        strcpy(cell.shown, p->is.is_there[0] ? "gone" : "new");
    else if (a > 0)
        snprintf(cell.shown, sizeof cell.shown, "x%.2f", b / a);
    return cell;
}

static const char *compare_heading_times(const struct cli_table *t)
{
    return compare_has_time(cli_table_of(t)) ? "OF A" : "";
}

#define COMPARE_COST(field) .get = cli_get_u64, .offset = offsetof(struct compare_side, field)

/* What a function has in one capture. */
static const struct cli_column compare_cost[] = {
    { .name = "calls", .type = CLI_TYPE_COUNT, COMPARE_COST(calls),
      .means = "How often it was called; 0: it is not in this capture." },
    { .name = "self_ns", .type = CLI_TYPE_EXACT_NS, COMPARE_COST(self),
      .means = "Time in the function itself." },
    { .name = "total_ns", .type = CLI_TYPE_EXACT_NS, COMPARE_COST(total),
      .means = "Time in the function and in what it called; recursion counts once." },
    { .name = "self_bytes", .type = CLI_TYPE_BYTES, COMPARE_COST(self_bytes),
      .means = "Bytes allocated in the function itself." },
    { .name = "total_bytes", .type = CLI_TYPE_BYTES, COMPARE_COST(total_bytes),
      .means = "Bytes allocated in the function and in what it called." },
    { 0 }
};

#define COMPARE_ROW(field) .offset = offsetof(struct compare_row, field)
#define COMPARE_PAIR(field) .get = cli_get_u64, COMPARE_ROW(field), .in = CLI_IN_CSV

static const struct cli_column compare_columns[] = {
    { .name = "function", .type = CLI_TYPE_TEXT, .get = cli_get_string, COMPARE_ROW(is.name),
      .means = "The name of the function." },
    { .name = "file", .type = CLI_TYPE_TEXT, .get = cli_get_string, COMPARE_ROW(is.file),
      .means = "The source file; empty where it is not known." },
    { .name = "line", .type = CLI_TYPE_COUNT, .get = cli_get_u32, COMPARE_ROW(is.line),
      .means = "The line of the definition; 0: not known." },
    { .name = "kind", .type = CLI_TYPE_WORD, .get = cli_get_kind,
      COMPARE_ROW(is.kind), .words = cli_kinds,
      .means = "What the function is." },
    { .name = "calls_a", .type = CLI_TYPE_COUNT, COMPARE_PAIR(first.calls) },
    { .name = "calls_b", .head = "CALLS IN B", .type = CLI_TYPE_COUNT,
      COMPARE_PAIR(second.calls), .place = 10, .width = 12 },
    { .name = "self_ns_a", .type = CLI_TYPE_EXACT_NS, COMPARE_PAIR(first.self) },
    { .name = "self_ns_b", .head = "SELF", .type = CLI_TYPE_EXACT_NS, COMPARE_PAIR(second.self),
      .place = 30, .width = 10, .fits = compare_has_time },
    { .name = "total_ns_a", .type = CLI_TYPE_EXACT_NS, COMPARE_PAIR(first.total) },
    { .name = "total_ns_b", .type = CLI_TYPE_EXACT_NS, COMPARE_PAIR(second.total) },
    { .name = "self_bytes_a", .type = CLI_TYPE_BYTES, COMPARE_PAIR(first.self_bytes) },
    { .name = "self_bytes_b", .type = CLI_TYPE_BYTES, COMPARE_PAIR(second.self_bytes) },
    { .name = "a", .type = CLI_TYPE_OBJECT, .get = cli_get_object, COMPARE_ROW(first),
      .columns = compare_cost, .in = CLI_IN_JSON, .means = "In the first capture." },
    { .name = "b", .type = CLI_TYPE_OBJECT, .get = cli_get_object, COMPARE_ROW(second),
      .columns = compare_cost, .in = CLI_IN_JSON, .means = "In the second capture." },
    { .head = "SINCE A", .type = CLI_TYPE_TEXT, .get = compare_calls_change, .place = 20,
      .width = 12 },
    { .head = "SINCE A", .type = CLI_TYPE_TEXT, .get = compare_self_change, .place = 40,
      .width = 11, .fits = compare_has_time },
    { .head = "PER CALL", .type = CLI_TYPE_EXACT_NS, .get = compare_each, .place = 50,
      .width = 10, .fits = compare_has_time },
    { .head = "OF A", .heading = compare_heading_times, .type = CLI_TYPE_TEXT,
      .get = compare_times, .place = 60, .width = 8 },
    { .head = "BYTES", .type = CLI_TYPE_TEXT, .get = compare_bytes_change, .place = 70,
      .width = 12, .fits = compare_has_bytes },
    { .head = "FUNCTION", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      COMPARE_ROW(is.shown), .place = 80, .least = 8 },
    { 0 }
};

/* The whole captures. */
struct compare_head {
    const struct cli_calls *a, *b;
};

static struct cli_cell compare_capture(CLI_OF_ROW)
{
    return (struct cli_cell){ .object = *(const struct cli_calls *const *)
                                          ((const char *)row + c->offset) };
}

static const struct cli_column compare_heads[] = {
    { .name = "a", .type = CLI_TYPE_OBJECT, .get = compare_capture,
      .offset = offsetof(struct compare_head, a), .columns = cli_calls_summary,
      .means = "The first capture." },
    { .name = "b", .type = CLI_TYPE_OBJECT, .get = compare_capture,
      .offset = offsetof(struct compare_head, b), .columns = cli_calls_summary,
      .means = "The second capture." },
    { 0 }
};

const struct cli_document cli_calls_compare_document = {
    .means = "Exact calls of two captures, function by function; with a second capture.",
    .head = compare_heads,
    .lists = { { .name = "functions", .means = "The functions of either capture.",
                 .columns = compare_columns } },
    .is_one_line = true,
};

/* -- Rows ------------------------------------------------------------------- */

static void compare_which(char which, const struct cli_calls *c)
{
    char calls[CLI_NUMBER], time[CLI_NUMBER];
    printf("%c  ", which);
    cli_name(&c->capture.style, cli_span(c->capture.label), 0);
    printf(": %s call%s", cli_count(calls, c->sum.calls), cli_s(c->sum.calls));
    if (c->sum.has_time)
        printf(" in %s", cli_exact_duration(time, c->sum.inside_ns));
    putchar('\n');
}

static struct compare_side compare_side_of(const jsprof_read_call_change *p, int side)
{
    return (struct compare_side){ p->calls[side], p->self_ns[side], p->total_ns[side],
                                  p->self_bytes[side], p->total_bytes[side] };
}

int cli_calls_compare(const struct cli_calls *first, const struct cli_calls *second,
                      const struct cli_calls_ask *ask)
{
    struct compare_of of = { first->modes & second->modes };
    struct compare_head head = { first, second };
    jsprof_read_calls_comparison *pairs;
    bool is_text = cli_form_is_text(&ask->form);
    if (cli_incomplete(jsprof_read_calls_compare(&pairs, first->calls, second->calls,
                                                 ask->filter.sort, ask->filter.min, NULL) < 0))
        return CLI_OK; /* main reports it */
    uint64_t n = (uint64_t)jsprof_read_call_changes(pairs, 0, NULL, 0);
    uint64_t shown = ask->limit && ask->limit < n ? ask->limit : n;
    if (is_text) {
        compare_which('A', first);
        compare_which('B', second);
        putchar('\n');
    }
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &ask->form, .command = "calls",
        .columns = compare_columns, .document = &cli_calls_compare_document,
        .head = &head, .of = &of, .capture = &second->capture });
    for (uint64_t i = 0; t && i < shown; i++) {
        struct compare_row row = { .is.size = sizeof row.is };
        if (cli_incomplete(jsprof_read_call_changes(pairs, i, &row.is, 1) < 0))
            break;
        row.first = compare_side_of(&row.is, 0);
        row.second = compare_side_of(&row.is, 1);
        cli_table_row(t, &row);
    }
    jsprof_read_calls_compare_close(pairs);
    int status = cli_table_close(t);
    if (is_text)
        cli_more(12, (uint32_t)(n - shown), "function");
    if (is_text && first->modes != second->modes)
        puts("\nThe two captures counted different things: only columns of both are shown.");
    return status;
}
