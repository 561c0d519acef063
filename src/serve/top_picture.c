/* serve/top_picture.c - what `jsprof top` shows of a recording that goes on.
 *
 * SPDX-License-Identifier: MIT
 */
#include "top.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/head.h"
#include "cli/native.h"

const char *const top_views[] = { "function", "line", "thread", "category", "module", NULL };
const char *const top_sorts[] = { "self", "total", "samples", "name", NULL };

/* -- Reading -------------------------------------------------------------------- */

static int top_choose(struct top_picture *p, jsprof_read_error *error)
{
    const struct top_choice *c = p->choice;
    const jsprof_read_filter filter = {
        .size = sizeof filter, .thread = c->thread, .only = *c->only ? c->only : NULL,
        .flags = (c->has_native ? JSPROF_READ_NATIVE : 0u) | (c->is_vm_only ? JSPROF_READ_VM : 0u),
    };
    int err = jsprof_read_select(p->capture.reader, &filter, error);
    cli_about(&p->capture);
    return err;
}

/* The part in which the collector ran: each stack counts once. */
static int top_collector(struct top_picture *p)
{
    jsprof_read_functions *kinds;
    jsprof_read_function kind = { .size = sizeof kind };
    const jsprof_read_order order = { .size = sizeof order, .by = "kind" };
    int err = jsprof_read_functions_open(&kinds, p->capture.reader, &order, NULL);
    if (err)
        return err;
    for (uint64_t i = 0; jsprof_read_function_rows(kinds, i, &kind, 1) == 1; i++)
        if (strcmp(kind.name, "gc") == 0)
            p->gc = kind.total;
    jsprof_read_functions_close(kinds);
    return 0;
}

static int top_build(struct top_picture *p, jsprof_read_error *error)
{
    const jsprof_read_order order = { .size = sizeof order, .by = top_views[p->choice->view],
                                      .sort = top_sorts[p->choice->sort] };
    int err = cli_functions_read(&p->rows, &p->capture, &order, error);
    if (err == 0 && (err = top_collector(p)) != 0)
        snprintf(error->message, sizeof error->message, "%s", strerror(-err));
    return err;
}

static void top_account(struct top_picture *p)
{
    const jsprof_read_info *info = &p->capture.info;
    p->expirations = info->expirations;
    p->lost = info->lost;
    double end = info->last > 0 ? (double)info->last / 1e9 : 0;
    if (end > p->span.to)
        p->span.to = end;
}

void top_read(struct top_picture *p, const char *path, const struct top_choice *choice,
              struct top_span span)
{
    char time[48];
    const jsprof_read_input input = { .size = sizeof input, .path = path };
    jsprof_read_error error = { .size = sizeof error };
    snprintf(time, sizeof time, "%.0fms..", span.from * 1000);
    const jsprof_read_options options = { .size = sizeof options, .inputs = &input, .n_inputs = 1,
                                          .time = span.from > 0 ? time : NULL };
    memset(p, 0, sizeof *p);
    p->choice = choice;
    p->span = span;
    cli_name_capture(&p->capture, path);
    int err = jsprof_read_open(&p->capture.reader, &options, &error);
    if (err == 0) {
        cli_about(&p->capture);
        top_account(p);
        err = top_choose(p, &error);
    }
    if (err == 0)
        err = top_build(p, &error);
    if (err)
        snprintf(p->error, sizeof p->error, "%.150s", error.message);
    if (err && p->capture.reader) { /* it has no rows */
        top_forget(p);
        p->choice = choice;
    }
}

void top_forget(struct top_picture *p)
{
    cli_functions_free(&p->rows);
    jsprof_read_close(p->capture.reader);
    p->rows = (struct cli_functions){ .n = 0 };
    p->capture.reader = NULL;
}

/* -- The head ------------------------------------------------------------------- */

static double top_seconds(const struct top_picture *p)
{
    return p->span.to > p->span.from ? p->span.to - p->span.from : 0;
}

/* The chosen time of the threads, as a part of one processor's. */
static double top_load(const struct top_picture *p)
{
    double seconds = top_seconds(p);
    const char *unit = p->capture.reader ? p->capture.info.unit : "samples";
    bool is_time = !cli_unit_is_count(unit) && !cli_unit_is_bytes(unit);
    return is_time && seconds > 0 ? (double)p->rows.sum.value / 1e9 / seconds : 0;
}

static double top_share(const struct top_picture *p, uint64_t value)
{
    return cli_functions_share(&p->rows, value);
}

void top_head(const struct top_picture *p, const struct remote_ask *ask)
{
    const struct cli_style *s = &p->capture.style;
    const char *dot = s->is_utf8 ? " · " : ", ";
    char load[CLI_NUMBER], gc[CLI_NUMBER], n[CLI_NUMBER], lost[CLI_NUMBER], all[CLI_NUMBER];
    cli_colour(s, CLI_BOLD);
    printf("%d ", (int)ask->pid);
    if (p->capture.reader)
        cli_name(s, cli_head_command(&p->capture), s->columns ? s->columns - 12 : 0);
    cli_colour(s, CLI_PLAIN);
    printf("\n%s %s%sgc %s%s%s sample%s%s%s of %s lost%s%s %.1f s\n", ask->clock,
           cli_percent(load, top_load(p)), dot, cli_percent(gc, top_share(p, p->gc)), dot,
           cli_count(n, p->rows.sum.samples), cli_s(p->rows.sum.samples), dot,
           cli_count(lost, p->lost), cli_count(all, p->expirations), dot,
           p->choice->is_all ? "all" : "last", top_seconds(p));
}

/* -- Rows ------------------------------------------------------------------------- */

static struct cli_cell top_self(CLI_OF_ROW)
{
    const jsprof_read_function *f = row;
    struct cli_cell cell = cli_cell_real(top_share(of, f->self));
    cell.is_blank = f->self_samples == 0;
    cell.colour = cli_heat(cell.real);
    return cell;
}

static struct cli_cell top_total(CLI_OF_ROW)
{
    return cli_cell_real(top_share(of, ((const jsprof_read_function *)row)->total));
}

/* Print the name, and of a function its module and its hottest line. */
static void top_draw(const struct cli_table *t, const void *row, int room)
{
    const struct top_picture *p = cli_table_of(t);
    const struct cli_style *s = &p->capture.style;
    const jsprof_read_function *f = row;
    char module[CLI_PLACE] = "", place[CLI_PLACE] = "";
    if (p->choice->view == TOP_FUNCTIONS) {
        cli_native_module(module, &p->capture, f->name, f->module);
        cli_native_place(place, &p->capture, (struct cli_line){ f->file, f->line });
    }
    int used = (int)strlen(module) + (int)strlen(place);
    if (room && room < used + 16)
        used = 0, *module = 0, *place = 0;
    cli_name(s, cli_span(f->name), room ? room - used : 0);
    cli_colour(s, CLI_DIM);
    fputs(module, stdout);
    fputs(place, stdout);
    cli_colour(s, CLI_PLAIN);
}

static const char *top_heading(const struct cli_table *t)
{
    static const char *const heads[] = { "FUNCTION", "LINE", "THREAD", "CATEGORY", "MODULE" };
    return heads[((const struct top_picture *)cli_table_of(t))->choice->view];
}

#define TOP_FIELD(field) .offset = offsetof(jsprof_read_function, field)

static const struct cli_column top_columns[] = {
    { .name = "name", .head = "FUNCTION", .heading = top_heading, .type = CLI_TYPE_TEXT,
      .get = cli_get_string, TOP_FIELD(name), .draw = top_draw, .place = 90,
      .means = "The function, line, thread, category or module: see --by." },
    { .name = "self_share", .head = "SELF", .type = CLI_TYPE_SHARE, .get = top_self, .place = 10,
      .width = 7, .means = "The part of the time that was spent in the row itself." },
    { .name = "self", .head = "TIME", .heading = cli_table_unit, .type = CLI_TYPE_VALUE,
      .get = cli_get_u64, TOP_FIELD(self), .place = 20, .width = 10, .minimum = 50,
      .means = "The same time." },
    { .name = "total_share", .head = "TOTAL", .type = CLI_TYPE_SHARE, .get = top_total,
      .place = 30, .width = 8,
      .means = "The part that was spent in the row and in what it called." },
    { .name = "total", .head = "TIME", .heading = cli_table_unit, .type = CLI_TYPE_VALUE,
      .get = cli_get_u64, TOP_FIELD(total), .place = 40, .width = 10, .minimum = 70,
      .means = "The same time." },
    { .name = "samples", .head = "SAMPLES", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      TOP_FIELD(self_samples), .place = 50, .width = 9, .minimum = 100,
      .means = "Samples in the row itself." },
    { 0 }
};

static struct cli_cell top_get_seconds(CLI_OF_ROW)
{
    return cli_cell_real(top_seconds(row));
}

static struct cli_cell top_get_load(CLI_OF_ROW)
{
    return cli_cell_real(top_load(row));
}

static struct cli_cell top_get_gc(CLI_OF_ROW)
{
    return cli_cell_real(top_share(row, ((const struct top_picture *)row)->gc));
}

#define TOP_HEAD(field) .offset = offsetof(struct top_picture, field)

static const struct cli_column top_head_columns[] = {
    { .name = "seconds", .type = CLI_TYPE_REAL, .get = top_get_seconds,
      .means = "How long it was recorded." },
    { .name = "load", .type = CLI_TYPE_SHARE, .get = top_get_load,
      .means = "The time of all threads together, as a part of this time." },
    { .name = "gc", .type = CLI_TYPE_SHARE, .get = top_get_gc,
      .means = "The part of the threads' time in which a garbage collector ran." },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64, TOP_HEAD(rows.sum.samples),
      .means = "Samples that count." },
    { .name = "value", .type = CLI_TYPE_VALUE, .get = cli_get_u64, TOP_HEAD(rows.sum.value),
      .means = "The value of these samples." },
    { .name = "lost", .type = CLI_TYPE_COUNT, .get = cli_get_u64, TOP_HEAD(lost),
      .means = "Expirations that are in no sample." },
    { .name = "expirations", .type = CLI_TYPE_COUNT, .get = cli_get_u64, TOP_HEAD(expirations),
      .means = "Expirations of the timer." },
    { 0 }
};

const struct cli_document top_document = {
    .means = "What a process does (jsprof top).",
    .head = top_head_columns,
    .lists = { { .name = "rows", .means = "The busiest first.", .columns = top_columns } },
};

int top_rows(const struct top_picture *p, const struct cli_form *form, uint32_t limit)
{
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = form, .command = "top", .columns = top_columns, .document = &top_document,
        .head = p, .of = p, .capture = &p->capture });
    for (uint64_t i = 0; t && i < p->rows.n && (limit == 0 || i < limit); i++)
        cli_table_row(t, &p->rows.rows[i]);
    return cli_table_close(t);
}
