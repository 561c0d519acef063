/* cli/loop.c - `jsprof loop`: what the event loop ran.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/loop.h"

#include <errno.h>
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

struct loop {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    struct jsp_tasks tasks;
    struct jsp_loop loop;
    struct jsp_loop_ask ask;
    struct cli_head head;
    uint32_t limit;
};

/* -- Columns ---------------------------------------------------------------- */

static bool loop_is_by(const void *of, enum jsp_loop_by by)
{
    return ((const struct loop *)of)->ask.by == by;
}

static bool loop_has_kind(const void *of)
{
    return !loop_is_by(of, JSP_LOOP_THREAD);
}

static bool loop_has_name(const void *of)
{
    return loop_is_by(of, JSP_LOOP_NAME) || loop_is_by(of, JSP_LOOP_TASK);
}

static bool loop_has_task(const void *of)
{
    return loop_is_by(of, JSP_LOOP_TASK);
}

static bool loop_has_thread(const void *of)
{
    return loop_is_by(of, JSP_LOOP_TASK) || loop_is_by(of, JSP_LOOP_THREAD);
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
    return ((const struct jsp_loop_row *)row)->delay.n ? loop_ns(c, of, row) : none;
}

static struct cli_cell loop_text(const struct jsp_loop_row *r, struct jsp_read_text text)
{
    return r->is_unknown ? cli_cell_none() : cli_cell_text(text);
}

static struct cli_cell loop_kind(CLI_OF_ROW)
{
    return loop_is_by(of, JSP_LOOP_THREAD)
               ? cli_cell_none()
               : loop_text(row, ((const struct jsp_loop_row *)row)->kind);
}

static struct cli_cell loop_name(CLI_OF_ROW)
{
    return loop_text(row, ((const struct jsp_loop_row *)row)->name);
}

static struct cli_cell loop_made(CLI_OF_ROW)
{
    const struct jsp_loop_row *r = row;
    return r->is_unknown ? cli_cell_none() : cli_cell_u64(r->made);
}

static struct cli_cell loop_task(CLI_OF_ROW)
{
    const struct jsp_loop_row *r = row;
    return r->is_unknown ? cli_cell_none() : cli_cell_u64(r->task);
}

static struct cli_cell loop_number(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_i32(c, of, row);
    return cell.i64 ? cell : cli_cell_none();
}

static struct cli_span loop_span(struct jsp_read_text t)
{
    return (struct cli_span){ t.at, t.len };
}

/* Print "kind  name"; of a thread its number. */
static void loop_draw(const struct cli_table *t, const void *row, int room)
{
    const struct jsp_loop_row *r = row;
    const struct loop *l = cli_table_of(t);
    const struct cli_style *s = cli_table_style(t);
    if (l->ask.by == JSP_LOOP_THREAD) {
        printf("thread %" PRId32 " of process %" PRId32, r->tid, r->pid);
        return;
    }
    if (r->is_unknown) {
        cli_name(s, cli_span("(of tasks that this capture does not have)"), room);
        return;
    }
    int used = cli_name(s, loop_span(r->kind), room ? LOOP_KIND : 0);
    if (r->name.len) {
        used += printf("%*s", used && used < LOOP_KIND ? LOOP_KIND - used : 1, "");
        used += cli_name(s, loop_span(r->name), room > used ? room - used : room ? 1 : 0);
    }
    if (l->ask.by == JSP_LOOP_TASK && (!room || room - used > 12))
        printf(" #%" PRIu64, r->task);
    if (!r->kind.len && !r->name.len)
        fputs("(without a name)", stdout);
}

static const char *loop_heading(const struct cli_table *t)
{
    const struct loop *l = cli_table_of(t);
    return l->ask.by == JSP_LOOP_THREAD ? "THREAD" : l->ask.by == JSP_LOOP_KIND ? "KIND" : "TASK";
}

#define LOOP_FIELD(field) .offset = offsetof(struct jsp_loop_row, field)

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
      LOOP_FIELD(run.n), .place = 10, .width = 8, .means = "How many times they ran." },
    { .name = "self_ns", .head = "SELF", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(self), .place = 20, .width = 9,
      .means = "Time in which no run inside these ran, in nanoseconds." },
    { .name = "total_ns", .head = "TOTAL", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(run.total), .place = 30, .width = 9, .minimum = 60,
      .means = "The sum of the runs, in nanoseconds." },
    { .name = "mean_ns", .head = "MEAN", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(run.mean), .place = 40, .width = 9, .minimum = 90,
      .means = "The mean of a run, in nanoseconds." },
    { .name = "median_ns", .head = "MEDIAN", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(run.median), .place = 50, .width = 9, .minimum = 72,
      .means = "The median run, in nanoseconds." },
    { .name = "p95_ns", .head = "95%", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(run.p95), .place = 60, .width = 9, .minimum = 66,
      .means = "The 95th percentile, in nanoseconds." },
    { .name = "max_ns", .head = "MAX", .type = CLI_TYPE_REAL, .get = loop_ns,
      LOOP_FIELD(run.max), .place = 70, .width = 9, .means = "The longest run, in nanoseconds." },
    { .name = "delays", .type = CLI_TYPE_COUNT, .get = cli_get_u64, LOOP_FIELD(delay.n),
      .means = "Of how many runs the delay is known." },
    { .name = "delay_median_ns", .type = CLI_TYPE_REAL, .get = loop_delay,
      LOOP_FIELD(delay.median), .may_lack = true,
      .means = "The median delay in nanoseconds; null: none is known." },
    { .name = "delay_p95_ns", .head = "DELAY", .type = CLI_TYPE_REAL, .get = loop_delay,
      LOOP_FIELD(delay.p95), .place = 80, .width = 9, .minimum = 54, .may_lack = true,
      .means = "Their 95th percentile in nanoseconds; null: none is known." },
    { .name = "delay_max_ns", .type = CLI_TYPE_REAL, .get = loop_delay, LOOP_FIELD(delay.max),
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
    const struct jsp_events_sum *turns = &l->loop.turns;
    char runs[CLI_NUMBER], tasks[CLI_NUMBER], self[CLI_NUMBER];
    struct cli_span command = cli_head_command(&l->capture);
    if (command.len) {
        cli_name(s, command, s->columns);
        putchar('\n');
    }
    printf("%s run%s of %s task%s · %s\n", cli_count(runs, l->loop.runs),
           cli_s(l->loop.runs), cli_count(tasks, l->tasks.n_tasks), cli_s(l->tasks.n_tasks),
           cli_exact_duration(self, (uint64_t)l->loop.self));
    if (turns->n)
        printf("%s turn%s of the loop · median %s · 95%% %s · longest %s\n",
               cli_count(runs, turns->n), cli_s(turns->n),
               cli_exact_duration(tasks, (uint64_t)turns->median),
               cli_exact_duration(self, (uint64_t)turns->p95),
               cli_exact_duration((char[CLI_NUMBER]){ "" }, (uint64_t)turns->max));
    putchar('\n');
}

static int loop_print(struct loop *l)
{
    bool is_text = cli_form_is_text(&l->form);
    uint32_t n = l->loop.n_rows, shown = l->limit && l->limit < n ? l->limit : n;
    if (is_text)
        loop_first_lines(l);
    else if (cli_head_of(&l->head, &l->capture))
        return CLI_FAILED;
    struct cli_table *t = cli_table_open(&(struct cli_show){
        .form = &l->form, .command = "loop", .columns = loop_columns,
        .document = &loop_document, .head = &l->head, .of = l, .capture = &l->capture });
    for (uint32_t i = 0; t && i < shown; i++)
        cli_table_row(t, &l->loop.rows[i]);
    int status = cli_table_close(t);
    if (is_text && n > shown)
        printf("%8s %" PRIu32 " more row%s (--limit 0 shows them)\n", "", n - shown,
               cli_s(n - shown));
    return status;
}

static int loop_show(struct loop *l)
{
    int err = jsp_tasks_read(&l->tasks, l->capture.profile);
    if (!err && !l->tasks.n_tasks && !l->tasks.n_runs && !l->tasks.n_turns)
        return cli_fail(l->capture.label, CLI_NO_TASKS);
    if (!err)
        err = jsp_loop_build(&l->loop, &l->tasks, l->capture.profile, &l->ask);
    return err ? cli_fail(l->capture.label, "%s", strerror(-err)) : loop_print(l);
}

static int loop_run(struct cli_arguments *a)
{
    static const char *const all_by[] = { "name", "kind", "task", "thread", NULL };
    static const char *const sorts[] = { "self", "total", "runs", "mean", "95%", "max", "delay",
                                         NULL };
    const char *by = "name", *sort = "self";
    struct loop l = { .limit = UINT32_MAX };
    struct cli_filter *f = &l.filter;
    const struct cli_option options[] = { { "by", NULL, &by, NULL },
                                          { "sort", NULL, &sort, NULL },
                                          { "limit", NULL, NULL, &l.limit },
                                          { "thread", NULL, &f->thread, NULL },
                                          { "process", NULL, &f->process, NULL },
                                          { "time", NULL, &f->time, NULL },
                                          CLI_FORM_OPTIONS(&l.form),
                                          { 0 } };
    f->has_idle = true; /* it shows no stacks */
    int rows = cli_options(a, options) ? -1 : cli_choice(a->command, "by", by, all_by);
    int order = rows < 0 ? -1 : cli_choice(a->command, "sort", sort, sorts);
    if (order < 0 || cli_form_check(a->command, &l.form))
        return CLI_USAGE;
    if (l.limit == UINT32_MAX) /* not given */
        l.limit = cli_form_is_text(&l.form) ? LOOP_LIMIT : 0;
    int status = cli_filter_open(&l.capture, cli_one_file(a), f, a->command);
    if (status)
        return status;
    l.ask = (struct jsp_loop_ask){ (enum jsp_loop_by)rows, (enum jsp_loop_sort)order,
                                   l.capture.select.threads };
    status = loop_show(&l);
    jsp_loop_free(&l.loop);
    jsp_tasks_free(&l.tasks);
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
