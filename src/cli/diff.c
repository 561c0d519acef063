/* cli/diff.c - `jsprof diff`: what changed from one capture to another, by share.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "diff_tasks.h"
#include "filter.h"
#include "head.h"
#include "hints.h"
#include "native.h"

enum { DIFF_LIMIT = 30 };
#define DIFF_LEAST 0.05 /* points: a share's change that is printed as 0.1 points */
#define DIFF_WORTH 1.0  /* points: a change for which more samples are worth their time */

static const char diff_help[] =
    "usage: jsprof diff [OPTION]... BEFORE AFTER\n"
    "\n"
    "Lists functions by the change of their share, in percentage points.\n"
    "\n"
    "  --sort self|total sort by the change of this share (default self)\n"
    "  --limit N         show at most N changed functions; 0 is all (default 30)\n"
    "  --tasks           where the tasks first ran in another order, and nothing else\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    CLI_FILTER_HELP
    "\n"
    "A star marks a change that chance does not explain: a table without any real\n"
    "change has one with a probability below 1 in 20. Two functions are the same if\n"
    "their modules agree, and their names up to the line number at the end.\n";

struct diff {
    struct cli_capture captures[2];
    jsprof_read_comparison *comparison;
    jsprof_read_change *rows; /* owned */
    uint64_t n;
    jsprof_read_sum sums[2];
    struct cli_filter filter;
    struct cli_form form;
    bool is_total;
};

static void diff_side_line(const struct diff *d, int i, const char *what)
{
    const struct cli_capture *c = &d->captures[i];
    const jsprof_read_sum *sum = &d->sums[i];
    char v[CLI_NUMBER], n[CLI_NUMBER];
    printf("%-7s", what);
    int room = c->style.columns ? c->style.columns - 60 : 0;
    cli_name(&c->style, cli_span(c->label), room > 20 || !room ? room : 20);
    if (strcmp(c->info.unit, "samples") == 0)
        printf(": %s sample%s\n", cli_count(n, sum->samples), cli_s(sum->samples));
    else
        printf(": %s of %s in %s sample%s\n", cli_value_of(v, c->info.unit, sum->value),
               c->info.unit_name, cli_count(n, sum->samples), cli_s(sum->samples));
}

static bool diff_is_real(const struct diff *d, const jsprof_read_change *r)
{
    return d->is_total ? r->is_total_real : r->is_real;
}

/* -- Columns ---------------------------------------------------------------- */

static const double *diff_shares(const struct diff *d, const jsprof_read_change *r)
{
    return d->is_total ? r->total_share : r->share;
}

static double diff_change(const struct diff *d, const jsprof_read_change *r)
{
    return 100 * (diff_shares(d, r)[1] - diff_shares(d, r)[0]);
}

static enum cli_colour diff_colour(const struct diff *d, const jsprof_read_change *r)
{
    return !diff_is_real(d, r) ? CLI_DIM : diff_change(d, r) > 0 ? CLI_HOT : CLI_GOOD;
}

static struct cli_cell diff_before(CLI_OF_ROW)
{
    struct cli_cell cell = cli_cell_real(diff_shares(of, row)[0]);
    cell.colour = diff_colour(of, row);
    return cell;
}

static struct cli_cell diff_after(CLI_OF_ROW)
{
    struct cli_cell cell = cli_cell_real(diff_shares(of, row)[1]);
    cell.colour = diff_colour(of, row);
    return cell;
}

static struct cli_cell diff_points(CLI_OF_ROW)
{
    struct cli_cell cell = { .colour = diff_colour(of, row) };
    snprintf(cell.shown, sizeof cell.shown, "%+.1f", diff_change(of, row));
    return cell;
}

static struct cli_cell diff_star(CLI_OF_ROW)
{
    struct cli_cell cell = { .colour = diff_colour(of, row), .shown = "*" };
    cell.is_blank = !diff_is_real(of, row);
    return cell;
}

static struct cli_cell diff_significant(CLI_OF_ROW)
{
    return cli_cell_bool(diff_is_real(of, row));
}

/* Dim the name of a change that chance explains. Otherwise only the figures are coloured. */
static void diff_draw(const struct cli_table *t, const void *row, int room)
{
    const struct cli_style *s = cli_table_style(t);
    cli_colour(s, diff_is_real(cli_table_of(t), row) ? CLI_PLAIN : CLI_DIM);
    cli_name(s, cli_span(((const jsprof_read_change *)row)->name), room);
    cli_colour(s, CLI_PLAIN);
}

static const char *diff_heading(const struct cli_table *t)
{
    const struct diff *d = cli_table_of(t);
    int columns = cli_table_style(t)->columns;
    if (columns && columns < 60)
        return "FUNCTION";
    return d->is_total ? "FUNCTION (share of total)" : "FUNCTION (share of self)";
}

#define DIFF_FIELD(field) .offset = offsetof(jsprof_read_change, field)

static const struct cli_column diff_columns[] = {
    { .name = "function", .head = "FUNCTION", .heading = diff_heading,
      .type = CLI_TYPE_TEXT,
      .get = cli_get_string, DIFF_FIELD(name), .draw = diff_draw, .place = 50,
      .means = "The name of the function." },
    { .name = "kind", .type = CLI_TYPE_WORD, .get = cli_get_string, DIFF_FIELD(kind),
      .words = cli_kinds,
      .means = "What the function is." },
    { .name = "module", .type = CLI_TYPE_TEXT, .get = cli_get_string, DIFF_FIELD(module),
      .means = "The file of native code; empty where there is none." },
    { .name = "self_before", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      DIFF_FIELD(self[0]),
      .means = "Self in the first capture." },
    { .name = "self_after", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      DIFF_FIELD(self[1]),
      .means = "Self in the second capture." },
    { .name = "total_before", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      DIFF_FIELD(total[0]),
      .means = "Total in the first capture." },
    { .name = "total_after", .type = CLI_TYPE_VALUE, .get = cli_get_u64,
      DIFF_FIELD(total[1]),
      .means = "Total in the second capture." },
    { .name = "share_before", .type = CLI_TYPE_SHARE, .get = cli_get_real,
      DIFF_FIELD(share[0]),
      .means = "The share of self in the first capture." },
    { .name = "share_after", .type = CLI_TYPE_SHARE, .get = cli_get_real,
      DIFF_FIELD(share[1]),
      .means = "The share of self in the second capture." },
    { .name = "total_share_before", .type = CLI_TYPE_SHARE, .get = cli_get_real,
      DIFF_FIELD(total_share[0]), .means = "The share of total in the first capture." },
    { .name = "total_share_after", .type = CLI_TYPE_SHARE, .get = cli_get_real,
      DIFF_FIELD(total_share[1]), .means = "The share of total in the second capture." },
    { .name = "chance", .type = CLI_TYPE_SHARE, .get = cli_get_real, DIFF_FIELD(chance),
      .means = "How often chance alone changes self as much." },
    { .name = "total_chance", .type = CLI_TYPE_SHARE, .get = cli_get_real,
      DIFF_FIELD(total_chance), .means = "How often chance alone changes total as much." },
    { .name = "significant", .type = CLI_TYPE_BOOL, .get = diff_significant,
      .means = "Chance does not explain the change by which the rows are sorted." },
    { .head = "BEFORE", .type = CLI_TYPE_SHARE, .get = diff_before, .place = 10,
      .width = 8 },
    { .head = "AFTER", .type = CLI_TYPE_SHARE, .get = diff_after, .place = 20,
      .width = 8 },
    { .head = "CHANGE", .type = CLI_TYPE_REAL, .get = diff_points, .place = 30,
      .width = 9 },
    { .head = "", .type = CLI_TYPE_WORD, .get = diff_star, .place = 40, .width = 2 },
    { 0 }
};

/* The two captures. */
static const struct cli_column diff_heads[] = {
    { .name = "before", .type = CLI_TYPE_OBJECT, .get = cli_get_object, .offset = 0,
      .columns = cli_head_columns, .means = "The first capture." },
    { .name = "after", .type = CLI_TYPE_OBJECT, .get = cli_get_object,
      .offset = sizeof(struct cli_head), .columns = cli_head_columns,
      .means = "The second capture." },
    { 0 }
};

static const struct cli_document diff_document = {
    .means = "What changed from the first capture to the second.",
    .head = diff_heads,
    .lists = { { .name = "rows", .means = "The functions of either capture.",
                 .columns = diff_columns } },
};

/* -- Rows ------------------------------------------------------------------- */

static int diff_rows(const struct diff *d, uint64_t n)
{
    struct cli_head heads[2];
    for (int i = 0; i < 2; i++)
        heads[i] = (struct cli_head){ &d->captures[i], d->sums[i].samples, d->sums[i].value };
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &d->form, .command = "diff", .columns = diff_columns,
        .document = &diff_document, .head = heads,
        .of = d });
    for (uint64_t i = 0; t && i < n; i++)
        cli_table_row(t, &d->rows[i]);
    return cli_table_close(t);
}

/* Where nothing is sure, print how many samples would make the largest change sure. */
static int diff_doubt(const struct diff *d)
{
    const jsprof_read_change *r = d->rows;
    char sentence[CLI_HINT], place[CLI_PLACE];
    bool is_alike = strcmp(d->captures[0].info.unit, d->captures[1].info.unit) == 0;
    if (!is_alike || !d->n || fabs(diff_change(d, r)) < DIFF_WORTH)
        return 0;
    double times = d->is_total ? r->total_times : r->times;
    if (times <= 0)
        return 0;
    cli_native_text(place, &d->captures[0], r->name);
    if (!*place && *r->name)
        return cli_fail(d->captures[0].label, "%s", strerror(ENOMEM));
    snprintf(sentence, sizeof sentence,
             "There are too few samples to trust a difference: the largest, %+.1f points of %s, "
             "would need %.0f times as many. Record for longer, or at a higher rate.",
             diff_change(d, r), place, ceil(times));
    cli_wrap(&d->captures[0].style, sentence);
    return 0;
}

static int diff_print(const struct diff *d, uint32_t limit)
{
    uint64_t n = d->n, real = 0;
    /* With a limit, print only rows that show more than "+0.0". They are sorted by change. */
    for (uint64_t i = 0; limit && i < n; i++) {
        const jsprof_read_change *r = &d->rows[i];
        if (i == limit || (fabs(diff_change(d, r)) < DIFF_LEAST && !diff_is_real(d, r)))
            n = i;
    }
    diff_side_line(d, 0, "before");
    diff_side_line(d, 1, "after");
    putchar('\n');
    int status = diff_rows(d, n);
    for (uint64_t i = 0; i < d->n; i++)
        real += diff_is_real(d, &d->rows[i]);
    cli_more(8, (uint32_t)(d->n - n), "function");
    for (int i = 0; i < 2; i++)
        cli_head_idle(&(struct cli_head){ &d->captures[i], d->sums[i].samples,
                                          d->sums[i].value });
    printf("\n%" PRIu64 " of %" PRIu64 " function%s changed by more than chance explains (*).\n",
           real, d->n, cli_s(d->n));
    if (real == 0 && status == 0)
        status = diff_doubt(d);
    return status;
}

static int diff_show(struct diff *d, uint32_t limit)
{
    jsprof_read_error error = { .size = sizeof error };
    if (jsprof_read_compare(&d->comparison, d->captures[0].reader, d->captures[1].reader,
                            d->is_total ? "total" : "self", &error) < 0)
        return cli_refuse(&d->captures[0], &error, "diff");
    for (int i = 0; i < 2; i++) {
        d->sums[i].size = sizeof d->sums[i];
        jsprof_read_compared(d->comparison, i, &d->sums[i]);
        cli_native_complain(&d->captures[i]);
        if (!d->sums[i].samples)
            return cli_no_samples(&d->captures[i]);
    }
    d->n = (uint64_t)jsprof_read_changes(d->comparison, 0, NULL, 0);
    d->rows = calloc(d->n + 1, sizeof *d->rows);
    if (cli_folders_complain(d->captures, d->comparison) < 0 || !d->rows)
        return cli_fail(d->captures[0].label, "%s", strerror(ENOMEM));
    const char *const units[] = { d->captures[0].info.unit_name, d->captures[1].info.unit_name };
    if (strcmp(units[0], units[1]) != 0)
        cli_fail(d->captures[1].label, "shares of %s are compared with shares of %s", units[1],
                 units[0]);
    d->rows->size = sizeof *d->rows;
    if (jsprof_read_changes(d->comparison, 0, d->rows, d->n) < 0)
        return cli_fail(d->captures[0].label, "%s", strerror(ENOMEM));
    if (cli_form_is_text(&d->form))
        return diff_print(d, limit == UINT32_MAX ? DIFF_LIMIT : limit);
    return diff_rows(d, limit && limit < d->n ? limit : d->n);
}

static int diff_run(struct cli_arguments *a)
{
    struct diff d = { 0 };
    uint32_t limit = UINT32_MAX;
    const char *sort = "self";
    bool has_tasks = false;
    const struct cli_option options[] = { { "sort", NULL, &sort, NULL },
                                          { "limit", NULL, NULL, &limit },
                                          { "tasks", &has_tasks, NULL, NULL },
                                          CLI_FORM_OPTIONS(&d.form),
                                          CLI_FILTER_OPTIONS(&d.filter),
                                          { 0 } };
    if (cli_options(a, options) || cli_form_check(a->command, &d.form))
        return CLI_USAGE;
    int by = cli_choice(a->command, "sort", sort, (const char *[]){ "self", "total", NULL });
    if (by < 0)
        return CLI_USAGE;
    d.is_total = by == 1;
    if (a->n_files != 2)
        return cli_usage(a->command, "two captures are wanted, before and after");
    int status = cli_filter_open(&d.captures[0], a->files[0], &d.filter, a->command);
    if (status)
        return status;
    status = cli_filter_open(&d.captures[1], a->files[1], &d.filter, a->command);
    if (status == CLI_OK) {
        status = has_tasks ? cli_diff_tasks(d.captures, &d.form) : diff_show(&d, limit);
        jsprof_read_compare_close(d.comparison);
        free(d.rows);
        cli_close(&d.captures[1]);
    }
    cli_close(&d.captures[0]);
    return status;
}

const struct cli_command cli_diff = {
    .name = "diff",
    .summary = "what changed between two captures, and what chance explains",
    .help = diff_help,
    .run = diff_run,
    .is_followed = true,
    .documents = { &diff_document, &cli_diff_tasks_document },
};
