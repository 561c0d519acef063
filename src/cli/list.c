/* cli/list.c - `jsprof list`: the marks and counters of a capture.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "head.h"
#include "threads.h"

enum { LIST_NAME = 24 }; /* the width of a group and a name */

static const char list_help[] =
    "usage: jsprof list [OPTION]... FILE\n"
    "\n"
    "Lists marks by group and name: their number, the sum of their durations, and the\n"
    "minimum, mean, median, 95th percentile and maximum duration. Lists counters with\n"
    "the same figures of their values.\n"
    "\n"
    "  --each           list every single mark, in the order of the file\n"
    "  --messages       sum marks up by message, too\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "Marks belong to a process, not to a thread or a stack. So only --process and\n"
    "--time select marks; the other options have no effect on them.\n";

struct list {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    jsprof_read_events *events;
    jsprof_read_events_sum sum;
    bool is_each, has_messages;
    struct cli_head head;
};

/* -- Columns of the sums ---------------------------------------------------- */

/* What one table of text shows: marks, or counters. */
struct list_of {
    const struct list *list;
    const char *kind;
};

static bool list_is_marks(const void *of)
{
    return *((const struct list_of *)of)->kind == 'm';
}

static bool list_is_counters(const void *of)
{
    return !list_is_marks(of);
}

static bool list_has_messages(const void *of)
{
    return ((const struct list_of *)of)->list->has_messages;
}

/* Text shows marks with their messages in the last column, and few figures before it. */
static bool list_is_long(const void *of)
{
    return list_is_marks(of) && list_has_messages(of);
}

static bool list_is_short(const void *of)
{
    return !list_is_long(of);
}

/* Return a figure. Text shows a duration, or a number in few digits. */
static struct cli_cell list_figure(CLI_OF_ROW)
{
    const jsprof_read_spread *g = row;
    struct cli_cell cell = cli_get_real(c, of, row);
    double v = cell.real;
    bool is_whole = v == (double)(int64_t)v && v < 1e15 && v > -1e15;
    if (!g->is_counter)
        cli_duration(cell.shown, v > 0 ? (uint64_t)v : 0);
    else if (is_whole && v >= 0)
        cli_count(cell.shown, (uint64_t)v);
    else
        snprintf(cell.shown, sizeof cell.shown, is_whole ? "%.0f" : "%.4g", v);
    return cell;
}

static struct cli_cell list_message(CLI_OF_ROW)
{
    const jsprof_read_spread *g = row;
    return g->is_counter ? cli_cell_none() : cli_cell_string(g->message);
}

static const char *const list_units[] = { "ns", NULL };

static struct cli_cell list_unit(CLI_OF_ROW)
{
    bool is_counter = ((const jsprof_read_spread *)row)->is_counter;
    return is_counter ? cli_cell_none() : cli_cell_string(list_units[0]);
}

/* Print "group / name" in the width of its column. */
static void list_draw(const struct cli_table *t, const void *row, int room)
{
    const struct cli_style *s = cli_table_style(t);
    const jsprof_read_spread *g = row;
    int used = cli_name(s, cli_span(g->group), room / 2);
    fputs(" / ", stdout);
    used += 3 + cli_name(s, cli_span(g->name), room - used - 3);
    cli_repeat(" ", room - used);
}

/* Print "group / name  message" in a third of the room, half of the rest, and the rest. */
static void list_draw_long(const struct cli_style *s, const char *const words[3], int room)
{
    int used = cli_name(s, cli_span(words[0]), room ? room / 3 : 0);
    fputs(" / ", stdout);
    used += 3 + cli_name(s, cli_span(words[1]), room ? (room - used) / 2 : 0);
    fputs("  ", stdout);
    if (!room || room - used - 2 > 0)
        cli_name(s, cli_span(words[2]), room ? room - used - 2 : 0);
}

static void list_draw_message(const struct cli_table *t, const void *row, int room)
{
    const jsprof_read_spread *g = row;
    list_draw_long(cli_table_style(t),
                   (const char *[]){ g->group, g->name, g->message }, room);
}

static const char *list_heading(const struct cli_table *t)
{
    return list_is_marks(cli_table_of(t)) ? "MARK" : "COUNTER";
}

static const char *list_heading_count(const struct cli_table *t)
{
    return list_is_marks(cli_table_of(t)) ? "TIMES" : "VALUES";
}

static const char *const list_kinds[] = { "mark", "counter", NULL };

static struct cli_cell list_kind(CLI_OF_ROW)
{
    return cli_cell_string(list_kinds[((const jsprof_read_spread *)row)->is_counter]);
}

#define LIST_FIELD(field) .offset = offsetof(jsprof_read_spread, field)

/* Where there is little room, the last figures stay. */
static const struct cli_column list_columns[] = {
    { .name = "kind", .type = CLI_TYPE_WORD, .get = list_kind,
      .words = list_kinds, .means = "Durations of marks, or values of a counter." },
    { .name = "group", .type = CLI_TYPE_TEXT, .get = cli_get_string, LIST_FIELD(group),
      .means = "The group of the mark or counter." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_string, LIST_FIELD(name),
      .means = "The name of the mark or counter." },
    { .name = "message", .type = CLI_TYPE_TEXT, .get = list_message, .when = list_has_messages,
      .may_lack = true, .means = "The message of the marks; null: a counter has none." },
    { .head = "MARK", .heading = list_heading, .type = CLI_TYPE_TEXT, .draw = list_draw,
      .place = 10, .width = -LIST_NAME, .fits = list_is_short },
    { .name = "count", .head = "TIMES", .heading = list_heading_count, .type = CLI_TYPE_COUNT,
      .get = cli_get_u64, LIST_FIELD(n), .place = 20, .width = 7,
      .means = "How many marks or values there are." },
    { .name = "total", .head = "TOTAL", .type = CLI_TYPE_REAL, .get = list_figure,
      LIST_FIELD(total), .place = 30, .width = 9, .minimum = 85, .fits = list_is_marks,
      .means = "The sum." },
    { .name = "min", .head = "LEAST", .type = CLI_TYPE_REAL, .get = list_figure,
      LIST_FIELD(min), .place = 40, .width = 9, .minimum = 76, .fits = list_is_short,
      .means = "The least." },
    { .name = "mean", .head = "MEAN", .type = CLI_TYPE_REAL, .get = list_figure,
      LIST_FIELD(mean), .place = 50, .width = 9, .minimum = 67, .fits = list_is_short,
      .means = "The mean." },
    { .name = "median", .head = "MEDIAN", .type = CLI_TYPE_REAL, .get = list_figure,
      LIST_FIELD(median), .place = 60, .width = 9, .minimum = 58,
      .means = "The median, which occurs." },
    { .name = "p95", .head = "95%", .type = CLI_TYPE_REAL, .get = list_figure,
      LIST_FIELD(p95), .place = 70, .width = 9, .minimum = 49, .fits = list_is_short,
      .means = "The 95th percentile, which occurs." },
    { .name = "max", .head = "MOST", .type = CLI_TYPE_REAL, .get = list_figure,
      LIST_FIELD(max), .place = 80, .width = 9, .means = "The most." },
    { .name = "last", .head = "LAST", .type = CLI_TYPE_REAL, .get = list_figure,
      LIST_FIELD(last), .place = 30, .width = 9, .minimum = 85, .fits = list_is_counters,
      .means = "The last in the order of time." },
    { .name = "unit", .type = CLI_TYPE_WORD, .get = list_unit, .words = list_units,
      .may_lack = true, .means = "The unit of these figures; null: as the counter has it." },
    { .head = "MARK", .type = CLI_TYPE_TEXT, .draw = list_draw_message, .place = 90,
      .fits = list_is_long },
    { 0 }
};

static const struct cli_document list_document = {
    .means = "Marks and counters by group and name; with --messages, marks also by message.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "Marks, then counters.",
                 .columns = list_columns } },
};

/* -- Columns of single marks ------------------------------------------------ */

static struct cli_cell list_time(CLI_OF_ROW)
{
    return cli_cell_time(((const jsprof_read_mark *)row)->time, 0, 6);
}

static struct cli_cell list_duration(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_i64(c, of, row);
    cli_duration(cell.shown, (uint64_t)cell.i64);
    return cell;
}

static void list_draw_mark(const struct cli_table *t, const void *row, int room)
{
    const jsprof_read_mark *m = row;
    list_draw_long(cli_table_style(t),
                   (const char *[]){ m->group, m->name, m->message }, room);
}

#define LIST_MARK(field) .offset = offsetof(jsprof_read_mark, field)

static const struct cli_column list_each_columns[] = {
    { .name = "time_ns", .head = "FROM s", .type = CLI_TYPE_TIME, .get = list_time, .place = 10,
      .width = 11, .means = "When the mark begins, since the start of the capture." },
    { .name = "duration_ns", .head = "LENGTH", .type = CLI_TYPE_INTEGER, .get = list_duration,
      LIST_MARK(duration), .place = 20, .width = 10, .means = "How long it is, in nanoseconds." },
    { .name = "process", .head = "PROCESS", .type = CLI_TYPE_INTEGER, .get = cli_get_i32,
      LIST_MARK(process), .place = 30, .width = 9, .means = "The number of the process." },
    { .name = "group", .head = "MARK", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      LIST_MARK(group), .draw = list_draw_mark, .place = 40, .means = "The group of the mark." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_string, LIST_MARK(name),
      .means = "The name of the mark." },
    { .name = "message", .type = CLI_TYPE_TEXT, .get = cli_get_string, LIST_MARK(message),
      .means = "The message of the mark." },
    { 0 }
};

static const struct cli_document list_each_document = {
    .means = "Every mark, in the order of the file; with --each.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The marks.", .columns = list_each_columns } },
};

/* -- Rows ------------------------------------------------------------------- */

/* Print a table. In text it has one kind, and is skipped where there is none. Programs get
 * both kinds. */
static int list_table(const struct list *l, const char *kind)
{
    int64_t (*rows)(jsprof_read_events *, uint64_t, jsprof_read_spread *, uint64_t) =
        l->has_messages ? jsprof_read_message_spreads : jsprof_read_spreads;
    struct list_of of = { l, kind };
    bool is_text = cli_form_is_text(&l->form), is_counters = list_is_counters(&of);
    jsprof_read_spread row = { .size = sizeof row };
    int64_t got = 0;
    if (is_text && (is_counters ? l->sum.values : l->sum.marks) == 0)
        return CLI_OK;
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &l->form, .command = "list",
        .columns = list_columns, .document = &list_document,
        .head = &l->head, .of = &of, .capture = &l->capture });
    for (uint64_t i = 0; t && (got = rows(l->events, i, &row, 1)) == 1; i++)
        if (!is_text || row.is_counter == is_counters)
            cli_table_row(t, &row);
    cli_incomplete(got < 0);
    return cli_table_close(t);
}

static int list_each(const struct list *l)
{
    jsprof_read_mark row = { .size = sizeof row };
    int64_t got = 0;
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &l->form, .command = "list",
        .columns = list_each_columns, .document = &list_each_document, .head = &l->head,
        .of = &(struct list_of){ l, "mark" }, .capture = &l->capture });
    for (uint64_t i = 0; t && !ferror(stdout) &&
                         (got = jsprof_read_marks(l->events, i, &row, 1)) == 1; i++)
        cli_table_row(t, &row);
    cli_incomplete(got < 0);
    return cli_table_close(t);
}

static int list_show(struct list *l)
{
    jsprof_read_error error = { .size = sizeof error };
    if (jsprof_read_events_open(&l->events, l->capture.reader, &error) < 0)
        return cli_refuse(&l->capture, &error, "list");
    jsprof_read_events_of(l->events, &l->sum);
    if (l->sum.undefined)
        cli_fail(l->capture.label, "%" PRIu64 " value%s of counters that nothing defines, "
                                   "skipped", l->sum.undefined, cli_s(l->sum.undefined));
    bool is_text = cli_form_is_text(&l->form);
    if (!is_text && cli_head_of(&l->head, &l->capture))
        return CLI_FAILED;
    if (is_text && l->sum.marks == 0 && l->sum.values == 0) {
        puts("No marks and no counters.");
        return CLI_OK;
    }
    if (l->is_each)
        return list_each(l);
    int status = list_table(l, "mark");
    return status || !is_text ? status : list_table(l, "counter");
}

static int list_run(struct cli_arguments *a)
{
    struct list l = { .sum.size = sizeof l.sum };
    const struct cli_option options[] = { { "each", &l.is_each, NULL, NULL },
                                          { "messages", &l.has_messages, NULL, NULL },
                                          CLI_FORM_OPTIONS(&l.form),
                                          CLI_FILTER_OPTIONS(&l.filter),
                                          { 0 } };
    l.filter.has_idle = true; /* it shows no stacks */
    if (cli_options(a, options) || cli_form_check(a->command, &l.form))
        return CLI_USAGE;
    int status = cli_filter_open(&l.capture, cli_one_file(a), &l.filter, a->command);
    if (status)
        return status;
    status = list_show(&l);
    jsprof_read_events_close(l.events);
    cli_close(&l.capture);
    return status;
}

const struct cli_command cli_list = {
    .name = "list",
    .summary = "marks and counters, with their spread",
    .help = list_help,
    .run = list_run,
    .is_followed = true,
    .documents = { &list_document, &list_each_document },
};
