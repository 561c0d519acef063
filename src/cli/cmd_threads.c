/* cli/cmd_threads.c - `jsprof threads`: which thread of which process had how much.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "filter.h"
#include "base/clocks.h"
#include "head.h"

enum { CMD_THREADS_UNSEEN = 10 }; /* the width of that column */

static const char cmd_threads_help[] =
    "usage: jsprof threads [OPTION]... FILE\n"
    "\n"
    "Lists the sampled threads, the busiest first: their share, the times of their\n"
    "first and last sample, and their most frequent innermost function. Without a\n"
    "filter, share and time come from the threads' clocks, and UNSEEN is the part of\n"
    "that time that no sample covers.\n"
    "\n"
    CLI_FORM_FOLLOW_HELP
    "\n"
    CLI_FILTER_HELP;

struct cmd_threads_sum {
    int32_t pid, tid;
    const char *name;
    jsprof_read_thread of; /* size 0: it has no sample */
    uint64_t value, samples;
    uint64_t unseen; /* in the unit of the capture; value is without it */
    const char *top; /* function */
    uint64_t top_value;
    struct cli_cell from, to, cpu, top_name, top_self; /* none without a sample */
};

struct cmd_threads_stack { /* one that counts */
    uint32_t thread, function; /* the innermost */
    const char *name;          /* of the function */
    uint64_t value;
    uint32_t at;               /* its number */
};

struct cmd_threads_self { /* the value of the last thread that ran the function, so that no
                           * thread clears them all */
    uint64_t value;
    uint32_t thread;
};

struct cmd_threads {
    struct cli_capture capture;
    struct cli_filter filter;
    struct cli_form form;
    struct cmd_threads_sum *sums; /* owned; those of threads with samples come first */
    struct cmd_threads_stack *stacks; /* owned */
    uint64_t n_sums, n_stacks;
    uint32_t n_functions; /* the largest number + 1 */
    uint64_t value, samples, unseen;
};

/* Order stacks by thread. Each thread needs its busiest function; a pass over all stacks for
 * each thread would be quadratic. */
static int cmd_threads_compare_stack(const void *a, const void *b)
{
    const struct cmd_threads_stack *x = a, *y = b;
    return x->thread != y->thread ? (x->thread > y->thread) - (x->thread < y->thread)
                                  : (x->at > y->at) - (x->at < y->at);
}

static int cmd_threads_tops(struct cmd_threads *t)
{
    struct cmd_threads_self *selves = calloc((size_t)t->n_functions + 1, sizeof *selves);
    if (!selves)
        return -ENOMEM;
    qsort(t->stacks, t->n_stacks, sizeof *t->stacks, cmd_threads_compare_stack);
    for (uint64_t i = 0; i < t->n_stacks; i++) {
        const struct cmd_threads_stack *k = &t->stacks[i];
        struct cmd_threads_sum *sum = &t->sums[k->thread];
        struct cmd_threads_self *self = &selves[k->function];
        if (self->thread != k->thread)
            *self = (struct cmd_threads_self){ 0, k->thread };
        self->value += k->value;
        if (self->value > sum->top_value || sum->top_value == 0) {
            sum->top = k->name;
            sum->top_value = self->value;
        }
    }
    free(selves);
    return 0;
}

static uint64_t cmd_threads_time(const struct cmd_threads_sum *s)
{
    return s->value + s->unseen;
}

static int cmd_threads_compare(const void *a, const void *b)
{
    const struct cmd_threads_sum *x = a, *y = b;
    uint64_t of_x = cmd_threads_time(x), of_y = cmd_threads_time(y);
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid)
                            : (x->tid > y->tid) - (x->tid < y->tid);
}

static uint64_t cmd_threads_unseen(const struct cmd_threads *t, uint64_t n)
{
    uint64_t most = UINT64_MAX / 4 / (t->n_sums + 1), period = t->capture.info.period_ns;
    return n < most / period ? n * period : 0; /* or it is a lie */
}

/* Add unseen time. Threads that ended before their first sample are only in the account. */
static void cmd_threads_account(struct cmd_threads *t, uint64_t n_threads)
{
    jsprof_read_account a = { .size = sizeof a };
    uint64_t n = n_threads;
    for (uint64_t i = 0; i < n_threads; i++)
        t->sums[i].unseen = cmd_threads_unseen(t, t->sums[i].of.unseen);
    for (uint64_t i = 0; jsprof_read_accounts(t->capture.reader, i, &a, 1) == 1; i++) {
        uint64_t unseen =
            a.is_newest && !a.in_file ? cmd_threads_unseen(t, a.unseen_of_tid) : 0;
        if (unseen && !a.kept_of_tid)
            t->sums[n++] = (struct cmd_threads_sum){ .pid = a.pid, .tid = a.tid,
                                                     .name = a.name, .unseen = unseen };
    }
    t->n_sums = n;
    for (uint64_t i = 0; i < n; i++)
        t->unseen += t->sums[i].unseen;
}

/* Unseen time counts where the account of a thread covers exactly what the options chose, in the
 * same unit. */
static bool cmd_threads_is_whole(const struct cmd_threads *t)
{
    const jsprof_read_info *info = &t->capture.info;
    const struct jsp_clock_row *driver = jsp_clock_find(info->clock);
    const struct cli_filter *f = &t->filter;
    bool is_own = cli_unit_is_count(info->unit) || (driver && !strcmp(info->unit, driver->unit));
    return info->period_ns && is_own && !f->time && !f->only && !f->under && !f->category &&
           !f->thread && !f->process;
}

/* Add up the stacks that count. */
static int cmd_threads_stacks(struct cmd_threads *t)
{
    jsprof_reader *r = t->capture.reader;
    jsprof_read_stack k = { .size = sizeof k };
    jsprof_read_frame frame = { .size = sizeof frame };
    uint64_t all = (uint64_t)jsprof_read_stacks(r, 0, NULL, 0);
    t->stacks = malloc((all + 1) * sizeof *t->stacks);
    if (!t->stacks)
        return -ENOMEM;
    for (uint64_t i = 0; i < all; i++) {
        int64_t n = jsprof_read_frames(r, (uint32_t)i, 0, &frame, 1);
        if (n < 0 || jsprof_read_stacks(r, i, &k, 1) < 0)
            return -ENOMEM;
        if (n == 0)
            continue;
        t->stacks[t->n_stacks++] = (struct cmd_threads_stack){ k.thread, frame.function,
                                                               frame.name, k.value, (uint32_t)i };
        if (frame.function >= t->n_functions)
            t->n_functions = frame.function + 1;
        t->sums[k.thread].value += k.value;
        t->sums[k.thread].samples += k.samples;
        t->value += k.value;
        t->samples += k.samples;
    }
    return 0;
}

static void cmd_threads_cells(struct cmd_threads *t, struct cmd_threads_sum *s)
{
    s->from = s->to = s->cpu = s->top_name = s->top_self = cli_cell_none();
    if (!s->of.size || !s->samples)
        return;
    int64_t start = t->capture.info.start;
    s->from = cli_cell_time(cli_when(&t->capture, s->of.first), start, 2);
    s->to = cli_cell_time(cli_when(&t->capture, s->of.last), start, 2);
    s->cpu = cli_cell_u64(s->of.cpu_ns);
    s->top_name = cli_cell_string(s->top);
    s->top_self = cli_cell_u64(s->top_value);
}

static int cmd_threads_build(struct cmd_threads *t)
{
    jsprof_reader *r = t->capture.reader;
    uint64_t n_threads = (uint64_t)jsprof_read_threads(r, 0, NULL, 0);
    t->n_sums = n_threads + (uint64_t)jsprof_read_accounts(r, 0, NULL, 0);
    t->sums = calloc(t->n_sums + 1, sizeof *t->sums);
    if (!t->sums)
        return -ENOMEM;
    for (uint64_t i = 0; i < n_threads; i++) {
        struct cmd_threads_sum *s = &t->sums[i];
        s->of.size = sizeof s->of;
        jsprof_read_threads(r, i, &s->of, 1);
        s->pid = s->of.pid;
        s->tid = s->of.tid;
        s->name = s->of.name;
    }
    int err = cmd_threads_stacks(t);
    if (err == 0)
        err = cmd_threads_tops(t);
    if (err)
        return err;
    if (cmd_threads_is_whole(t))
        cmd_threads_account(t, n_threads);
    else
        t->n_sums = n_threads;
    for (uint64_t i = 0; i < t->n_sums; i++)
        cmd_threads_cells(t, &t->sums[i]);
    qsort(t->sums, t->n_sums, sizeof *t->sums, cmd_threads_compare);
    return 0;
}

/* -- Columns ---------------------------------------------------------------- */

static bool cmd_threads_has_unseen(const void *of)
{
    return ((const struct cmd_threads *)of)->unseen;
}

static struct cli_cell cmd_threads_share(CLI_OF_ROW)
{
    const struct cmd_threads *t = of;
    uint64_t all = t->value + t->unseen;
    return cli_cell_real(all ? (double)cmd_threads_time(row) / (double)all : 0);
}

static struct cli_cell cmd_threads_all(CLI_OF_ROW)
{
    return cli_cell_u64(cmd_threads_time(row));
}

static struct cli_cell cmd_threads_unseen_of(CLI_OF_ROW)
{
    struct cli_cell cell = cli_get_u64(c, of, row);
    if (!cell.u64)
        strcpy(cell.shown, "-");
    return cell;
}

#define CMD_THREADS_FIELD(field) .offset = offsetof(struct cmd_threads_sum, field)

static const struct cli_column cmd_threads_columns[] = {
    { .name = "process", .head = "PROCESS", .type = CLI_TYPE_INTEGER, .get = cli_get_i32,
      CMD_THREADS_FIELD(pid), .place = 10, .width = 8, .means = "The number of the process." },
    { .name = "thread", .head = "THREAD", .type = CLI_TYPE_INTEGER, .get = cli_get_i32,
      CMD_THREADS_FIELD(tid), .place = 20, .width = 9, .means = "The number of the thread." },
    { .name = "name", .head = "NAME", .type = CLI_TYPE_TEXT, .get = cli_get_string,
      CMD_THREADS_FIELD(name), .place = 30, .width = -20, .minimum = 56,
      .means = "The name of the thread; empty where it has none." },
    { .head = "SHARE", .type = CLI_TYPE_SHARE, .get = cmd_threads_share, .place = 40, .width = 7 },
    { .head = "TIME",
      .heading = cli_table_unit, .type = CLI_TYPE_VALUE, .get = cmd_threads_all,
      .place = 50, .width = 10 },
    { .name = "value", .type = CLI_TYPE_VALUE, .get = cli_get_u64, CMD_THREADS_FIELD(value),
      .means = "What its samples come to." },
    { .name = "samples", .type = CLI_TYPE_COUNT, .get = cli_get_u64,
      CMD_THREADS_FIELD(samples), .means = "Samples of the thread." },
    { .name = "first_time_ns", .head = "FROM s", .type = CLI_TYPE_TIME, .get = cli_get_cell,
      CMD_THREADS_FIELD(from), .place = 70, .width = 9, .minimum = 90, .may_lack = true,
      .means = "The time of its first sample; null without samples." },
    { .name = "last_time_ns", .head = "TO s", .type = CLI_TYPE_TIME, .get = cli_get_cell,
      CMD_THREADS_FIELD(to), .place = 80, .width = 9, .minimum = 90, .may_lack = true,
      .means = "The time of its last sample; null without samples." },
    { .name = "cpu_ns", .type = CLI_TYPE_NS, .get = cli_get_cell, CMD_THREADS_FIELD(cpu),
      .may_lack = true,
      .means = "CPU time that passed between its samples; null without samples." },
    { .name = "top", .head = "MOST OF IT IN", .type = CLI_TYPE_TEXT, .get = cli_get_cell,
      CMD_THREADS_FIELD(top_name), .place = 90, .minimum = 70, .may_lack = true,
      .means = "The function with the most self; null without samples." },
    { .name = "top_self", .type = CLI_TYPE_VALUE, .get = cli_get_cell,
      CMD_THREADS_FIELD(top_self), .may_lack = true,
      .means = "Self of that function; null without samples." },
    { .name = "unseen", .head = "UNSEEN", .type = CLI_TYPE_VALUE, .get = cmd_threads_unseen_of,
      CMD_THREADS_FIELD(unseen), .place = 60, .width = CMD_THREADS_UNSEEN,
      .fits = cmd_threads_has_unseen,
      .means = "What passed on its clock and is in no sample; not part of `value`." },
    { 0 }
};

static const struct cli_document cmd_threads_document = {
    .means = "Threads, the busiest first.",
    .head = cli_head_columns,
    .lists = { { .name = "rows", .means = "The threads.",
                 .columns = cmd_threads_columns } },
};

static int cmd_threads_print(const struct cmd_threads *t)
{
    bool is_text = cli_form_is_text(&t->form);
    /* Rows of text include unseen time. */
    struct cli_head head = { &t->capture, t->samples, t->value + (is_text ? t->unseen : 0) };
    if (is_text)
        cli_heading(&head);
    struct cli_table *table = cli_table_open(&(struct cli_show){
        .form = &t->form, .command = "threads",
        .columns = cmd_threads_columns, .document = &cmd_threads_document,
        .head = &head, .of = t, .capture = &t->capture,
        .extra = t->unseen ? CMD_THREADS_UNSEEN : 0 });
    for (uint64_t i = 0; table && i < t->n_sums; i++)
        if (t->sums[i].samples || t->sums[i].unseen)
            cli_table_row(table, &t->sums[i]);
    int status = cli_table_close(table);
    if (is_text)
        cli_closing(&head);
    return status;
}

static int cmd_threads_run(struct cli_arguments *a)
{
    struct cmd_threads t = { 0 };
    const struct cli_option options[] = { CLI_FORM_OPTIONS(&t.form),
                                          CLI_FILTER_OPTIONS(&t.filter),
                                          { 0 } };
    t.filter.has_idle = true; /* all time of a thread, whatever it did */
    if (cli_options(a, options) || cli_form_check(a->command, &t.form))
        return CLI_USAGE;
    int status = cli_filter_open(&t.capture, cli_one_file(a), &t.filter, a->command);
    if (status)
        return status;
    int err = cmd_threads_build(&t);
    if (!err)
        cli_native_complain(&t.capture);
    status = err < 0                             ? cli_fail(t.capture.label, "%s", strerror(-err))
             : t.samples == 0 && t.unseen == 0 ? cli_no_samples(&t.capture)
                                                 : cmd_threads_print(&t);
    free(t.sums);
    free(t.stacks);
    cli_close(&t.capture);
    return status;
}

const struct cli_command cli_threads = {
    .name = "threads",
    .summary = "the threads: their share, their time, what they ran",
    .help = cmd_threads_help,
    .run = cmd_threads_run,
    .is_followed = true,
    .documents = { &cmd_threads_document },
};
