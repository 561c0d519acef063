/* cli/loop.c - `jsprof loop`: what the event loop ran.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "head.h"

enum { LOOP_LIMIT = 30, LOOP_KIND = 14 };

static const char loop_help[] =
    "usage: jsprof loop [OPTION]... FILE\n"
    "\n"
    "Shows what the event loop ran: how often, for how long, and how long it had to\n"
    "wait for its turn. A task is what a program schedules: a timer, a callback, a\n"
    "promise's reaction. It may run many times.\n"
    "\n"
    "  --by name|kind|task|thread   what a row has in common (default name)\n"
    "  --sort self|total|runs|mean|95%|max|delay   (default self)\n"
    "  --limit N        show at most N rows; 0 is all (default 30)\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    "  --thread WHICH, --process WHICH  where they ran, by name or number\n"
    "  --time FROM..TO  as in 2s..5s, ..500ms, 1m..\n"
    "\n"
    "SELF is the time of the runs without the runs inside them, TOTAL is with them.\n"
    "95% and MAX are of single runs. DELAY is the 95th percentile of the time from\n"
    "the moment a task could run until it ran, or since it was made until its first\n"
    "run.\n";

enum loop_by { LOOP_BY_NAME, LOOP_BY_KIND, LOOP_BY_TASK, LOOP_BY_THREAD };
static const char *const loop_bys[] = { "name", "kind", "task", "thread", NULL };

struct loop {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    jsprof_read_run_groups *groups;
    jsprof_read_run_groups_sum sum;
    int by; /* enum loop_by */
    struct cli_head head;
    uint32_t limit;
};

/* -- Columns ---------------------------------------------------------------- */

static bool loop_is_by(const void *of, enum loop_by by)
{
    return ((const struct loop *)of)->by == (int)by;
}

static bool loop_has_kind(const void *of)
{
    return !loop_is_by(of, LOOP_BY_THREAD);
}

static bool loop_has_name(const void *of)
{
    return loop_is_by(of, LOOP_BY_NAME) || loop_is_by(of, LOOP_BY_TASK);
}

static bool loop_has_task(const void *of)
{
    return loop_is_by(of, LOOP_BY_TASK);
}

static bool loop_has_thread(const void *of)
{
    return loop_is_by(of, LOOP_BY_TASK) || loop_is_by(of, LOOP_BY_THREAD);
}

/* Return a time of the runs; text shows it to three digits. */
static struct cli_cell loop_ns(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_real(c, of, row);
    cli_exact_duration(cell.shown, cell.real > 0 ? (uint64_t)cell.real : 0);
    return cell;
}

static struct cli_cell loop_delay(CLI_OF_ROW)
{
    struct cli_cell none = cli_cell_none();
    strcpy(none.shown, "-");
    return ((const jsprof_read_run_group *)row)->delays ? loop_ns(c, of, row) : none;
}

static struct cli_cell loop_text(const jsprof_read_run_group *r, const char *text)
{
    return r->is_unknown ? cli_cell_none() : cli_cell_string(text);
}

static struct cli_cell loop_kind(CLI_OF_ROW)
{
    return loop_is_by(of, LOOP_BY_THREAD)
               ? cli_cell_none()
               : loop_text(row, ((const jsprof_read_run_group *)row)->kind);
}

static struct cli_cell loop_name(CLI_OF_ROW)
{
    return loop_text(row, ((const jsprof_read_run_group *)row)->name);
}

static struct cli_cell loop_made(CLI_OF_ROW)
{
    const jsprof_read_run_group *r = row;
    return r->is_unknown ? cli_cell_none() : cli_cell_u64(r->made);
}

static struct cli_cell loop_task(CLI_OF_ROW)
{
    const jsprof_read_run_group *r = row;
    return r->is_unknown ? cli_cell_none() : cli_cell_u64(r->task);
}

static struct cli_cell loop_number(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_i32(c, of, row);
    return cell.i64 ? cell : cli_cell_none();
}

/* Print "kind  name"; of a thread its number. */
static void loop_draw(const struct cli_table *t, const void *row, int room)
{
    const jsprof_read_run_group *r = row;
    const struct loop *l = cli_table_of(t);
    const struct cli_style *s = cli_table_style(t);
    if (l->by == LOOP_BY_THREAD) {
        printf("thread %" PRId32 " of process %" PRId32, r->tid, r->pid);
        return;
    }
    if (r->is_unknown) {
        cli_name(s, cli_span("(of tasks that this capture does not have)"), room);
        return;
    }
    int used = cli_name(s, cli_span(r->kind), room ? LOOP_KIND : 0);
    if (*r->name) {
        used += printf("%*s", used && used < LOOP_KIND ? LOOP_KIND - used : 1, "");
        used += cli_name(s, cli_span(r->name), room > used ? room - used : room ? 1 : 0);
    }
    if (l->by == LOOP_BY_TASK && (!room || room - used > 12))
        printf(" #%" PRIu64, r->task);
    if (!*r->kind && !*r->name)
        fputs("(without a name)", stdout);
}

static const char *loop_heading(const struct cli_table *t)
{
    const struct loop *l = cli_table_of(t);
    return l->by == LOOP_BY_THREAD ? "THREAD" : l->by == LOOP_BY_KIND ? "KIND" : "TASK";
}

#define LOOP_FIELD(field) .offset = offsetof(jsprof_read_run_group, field)

static const struct cli_column loop_columns[] = {
    { .name = "kind", .head = "TASK", .heading = loop_heading, .type = CLI_TYPE_TEXT,
      .get = loop_kind, .draw = loop_draw, .place = 90, .least = 30,
      .may_lack = true,
      .means = "What the tasks are, as the host calls it; null: not known, or several." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = loop_name, .may_lack = true,
      .when = loop_has_name, .means = "The name of the tasks; null: not known." },
    { .name = "task", .type = CLI_TYPE_COUNT, .get = loop_task, .may_lack = true,
      .when = loop_has_task, .means = "The number of the task in its process." },
    { .name = "process", .type = CLI_TYPE_INTEGER, .get = loop_number, LOOP_FIELD(pid),
      .may_lack = true, .when = loop_has_thread, .means = "The number of the process." },
    { .name = "thread", .type = CLI_TYPE_INTEGER, .get = loop_number, LOOP_FIELD(tid),
      .may_lack = true, .when = loop_has_thread,
      .means = "The thread on which they ran; of a task, on which it was made." },
    { .name = "made", .type = CLI_TYPE_COUNT, .get = loop_made, .may_lack = true,
      .when = loop_has_kind, .means = "How many such tasks were made; null: not known." },
    { .name = "runs", .head = "RUNS", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      LOOP_FIELD(runs), .place = 10, .width = 8, .means = "How many times they ran." },
    { .name = "self_ns", .head = "SELF", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(self), .place = 20, .width = 9,
      .means = "Time in which no run inside these ran, in nanoseconds." },
    { .name = "total_ns", .head = "TOTAL", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(total), .place = 30, .width = 9, .minimum = 60,
      .means = "The sum of the runs, in nanoseconds." },
    { .name = "mean_ns", .head = "MEAN", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(mean), .place = 40, .width = 9, .minimum = 90,
      .means = "The mean of a run, in nanoseconds." },
    { .name = "median_ns", .head = "MEDIAN", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(median), .place = 50, .width = 9, .minimum = 72,
      .means = "The median run, in nanoseconds." },
    { .name = "p95_ns", .head = "95%", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(p95), .place = 60, .width = 9, .minimum = 66,
      .means = "The 95th percentile, in nanoseconds." },
    { .name = "max_ns", .head = "MAX", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(max), .place = 70, .width = 9, .means = "The longest run, in nanoseconds." },
    { .name = "delays", .type = CLI_TYPE_COUNT, .get = cli_get_u64, LOOP_FIELD(delays),
      .means = "Of how many runs the delay is known." },
    { .name = "delay_median_ns", .type = CLI_TYPE_REAL, .get = loop_delay,
      LOOP_FIELD(delay_median), .may_lack = true,
      .means = "The median delay in nanoseconds; null: none is known." },
    { .name = "delay_p95_ns", .head = "DELAY", .type = CLI_TYPE_REAL, .get = loop_delay,
      LOOP_FIELD(delay_p95), .place = 80, .width = 9, .minimum = 54, .may_lack = true,
      .means = "Their 95th percentile in nanoseconds; null: none is known." },
    { .name = "delay_max_ns", .type = CLI_TYPE_REAL, .get = loop_delay, LOOP_FIELD(delay_max),
      .may_lack = true, .means = "The longest in nanoseconds; null: none is known." },
    { .name = "open", .type = CLI_TYPE_COUNT, .get = cli_get_u64, LOOP_FIELD(open),
      .means = "Runs that have no end in the capture." },
    { .name = "left", .type = CLI_TYPE_COUNT, .get = cli_get_u64, LOOP_FIELD(left),
      .means = "Runs that ended because one around them ended." },
    { 0 }
};

static const struct cli_document loop_document = {
    .means = "What the event loop ran: the runs of tasks in groups.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The groups.", .columns = loop_columns } },
};

/* -- Text --------------------------------------------------------------------- */

static void loop_first_lines(const struct loop *l)
{
    const struct cli_style *s = &l->capture.style;
    const jsprof_read_run_groups_sum *sum = &l->sum;
    char runs[CLI_NUMBER], tasks[CLI_NUMBER], self[CLI_NUMBER];
    struct cli_span command = cli_head_command(&l->capture);
    if (command.len) {
        cli_name(s, command, s->columns);
        putchar('\n');
    }
    printf("%s run%s of %s task%s · %s\n", cli_count(runs, sum->runs), cli_s(sum->runs),
           cli_count(tasks, sum->tasks), cli_s(sum->tasks),
           cli_exact_duration(self, (uint64_t)sum->self));
    if (sum->turns)
        printf("%s turn%s of the loop · median %s · 95%% %s · longest %s\n",
               cli_count(runs, sum->turns), cli_s(sum->turns),
               cli_exact_duration(tasks, (uint64_t)sum->turn_median),
               cli_exact_duration(self, (uint64_t)sum->turn_p95),
               cli_exact_duration((char[CLI_NUMBER]){ "" }, (uint64_t)sum->turn_max));
    putchar('\n');
}

static int loop_print(struct loop *l)
{
    bool is_text = cli_form_is_text(&l->form);
    uint64_t n = (uint64_t)jsprof_read_run_group_rows(l->groups, 0, NULL, 0);
    uint64_t shown = l->limit && l->limit < n ? l->limit : n;
    jsprof_read_run_group row = { .size = sizeof row };
    int64_t got = 1;
    if (is_text)
        loop_first_lines(l);
    else if (cli_head_of(&l->head, &l->capture))
        return CLI_FAILED;
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &l->form, .command = "loop", .columns = loop_columns,
        .document = &loop_document, .head = &l->head, .of = l, .capture = &l->capture });
    for (uint64_t i = 0; t && i < shown; i++)
        if ((got = jsprof_read_run_group_rows(l->groups, i, &row, 1)) == 1)
            cli_table_row(t, &row);
    cli_incomplete(got < 0);
    int status = cli_table_close(t);
    if (is_text && n > shown)
        printf("%8s %" PRIu64 " more row%s (--limit 0 shows them)\n", "", n - shown,
               cli_s(n - shown));
    return status;
}

static int loop_run(struct cli_arguments *a)
{
    static const char *const sorts[] = { "self", "total", "runs", "mean", "95%", "max", "delay",
                                         NULL };
    jsprof_read_order order = { .size = sizeof order, .by = "name", .sort = "self" };
    jsprof_read_error error = { .size = sizeof error };
    struct loop l = { .limit = UINT32_MAX, .sum.size = sizeof l.sum };
    struct cli_filter *f = &l.filter;
    const struct cli_option options[] = { { "by", NULL, &order.by, NULL },
                                          { "sort", NULL, &order.sort, NULL },
                                          { "limit", NULL, NULL, &l.limit },
                                          { "thread", NULL, &f->thread, NULL },
                                          { "process", NULL, &f->process, NULL },
                                          { "time", NULL, &f->time, NULL },
                                          CLI_FORM_OPTIONS(&l.form),
                                          { 0 } };
    f->has_idle = true; /* it shows no stacks */
    l.by = cli_options(a, options) ? -1 : cli_choice(a->command, "by", order.by, loop_bys);
    if (l.by < 0 || cli_choice(a->command, "sort", order.sort, sorts) < 0 ||
        cli_form_check(a->command, &l.form))
        return CLI_USAGE;
    if (l.limit == UINT32_MAX) /* not given */
        l.limit = cli_form_is_text(&l.form) ? LOOP_LIMIT : 0;
    int status = cli_filter_open(&l.capture, cli_one_file(a), f, a->command);
    if (status)
        return status;
    if (jsprof_read_run_groups_open(&l.groups, l.capture.reader, &order, &error) < 0) {
        status = cli_refuse(&l.capture, &error, a->command);
    } else {
        jsprof_read_run_groups_of(l.groups, &l.sum);
        status = loop_print(&l);
    }
    jsprof_read_run_groups_close(l.groups);
    cli_close(&l.capture);
    return status;
}

const struct cli_command cli_loop = {
    .name = "loop",
    .summary = "what the event loop ran: how often, for how long, with which delay",
    .help = loop_help,
    .run = loop_run,
    .is_followed = true,
    .documents = { &loop_document },
};
