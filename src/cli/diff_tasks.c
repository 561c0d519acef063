/* cli/diff_tasks.c - `jsprof diff --tasks`: the first place where the tasks of two captures ran in
 * different orders.
 *
 * SPDX-License-Identifier: MIT
 */
#include "diff_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "task_stack.h"

struct diff_tasks {
    struct cli_capture *captures[2];
    jsprof_read_tasks *tasks[2]; /* owned */
    jsprof_read_divergence order;
    struct cli_table *table;          /* of rows for programs */
};

enum { DIFF_TASKS_LINKS = 8 }; /* of a chain in text */

/* Return the names of the functions on whose stack a task was made: all, or those of the VM. The
 * caller frees it. */
static char *diff_tasks_text(const struct diff_tasks *d, int side, uint32_t task,
                             const char *between, bool is_vm)
{
    return cli_task_stack(&(struct cli_task_stack){
        .tasks = d->tasks[side], .task = task, .between = between, .is_vm = is_vm });
}

/* Print the functions on whose stack the task was made: the VM's, or all if there are none. */
static int diff_tasks_stack(const struct diff_tasks *d, int side, uint32_t task)
{
    const struct cli_style *s = &d->captures[side]->style;
    char *text = diff_tasks_text(d, side, task, s->is_utf8 ? " ← " : " < ", true);
    if (text && *text) {
        fputs("      made in ", stdout);
        cli_name(s, cli_span(text), 0);
        putchar('\n');
    }
    free(text);
    return text ? 0 : -ENOMEM;
}

/* Read a task. Return 0 or -ENOMEM. */
static int diff_tasks_read(const struct diff_tasks *d, int side, uint32_t at,
                           jsprof_read_task *out)
{
    *out = (jsprof_read_task){ .size = sizeof *out };
    return jsprof_read_task_rows(d->tasks[side], at, out, 1) == 1 ? 0 : -ENOMEM;
}

/* Find the task of the run where the orders differ. Return 0 or -ENOMEM. */
static int diff_tasks_first(const struct diff_tasks *d, int side, uint32_t *task)
{
    jsprof_read_run run = { .size = sizeof run };
    bool is_read = jsprof_read_runs(d->tasks[side], d->order.run[side], &run, 1) == 1;
    *task = is_read ? run.task : JSPROF_READ_NONE;
    return is_read ? 0 : -ENOMEM;
}

/* Return true if two links of a chain are shown as one. */
static bool diff_tasks_is_same_link(const jsprof_read_task *a, const jsprof_read_task *b)
{
    return a->stack == b->stack && strcmp(a->kind, b->kind) == 0 && strcmp(a->name, b->name) == 0;
}

/* Print the run and its chain. Repeated links are one line. */
static int diff_tasks_run(const struct diff_tasks *d, int side)
{
    jsprof_read_task k, last = { .size = 0 };
    uint32_t task;
    int err = diff_tasks_first(d, side, &task), links = 0;
    if (err == 0 && task == JSPROF_READ_NONE)
        puts("    (of a task that this capture does not have)");
    for (; err == 0 && task != JSPROF_READ_NONE && links < DIFF_TASKS_LINKS; task = k.parent) {
        err = diff_tasks_read(d, side, task, &k);
        if (err < 0 || (last.size && diff_tasks_is_same_link(&last, &k)))
            continue;
        fputs(links++ ? "    by " : "    ", stdout);
        cli_task_name(&d->captures[side]->style, k.kind, k.name);
        putchar('\n');
        err = diff_tasks_stack(d, side, task);
        last = k;
    }
    return err;
}

/* Print what ran there on one side, and where the other side's run is. */
static int diff_tasks_side(const struct diff_tasks *d, int side)
{
    const jsprof_read_divergence *o = &d->order;
    char n[CLI_NUMBER];
    printf("  %s: ", side ? "after" : "before");
    cli_name(&d->captures[side]->style, cli_span(d->captures[side]->label), 0);
    if (o->run[side] == JSPROF_READ_NONE) {
        printf(" ends here\n");
        return 0;
    }
    putchar('\n');
    int err = diff_tasks_run(d, side);
    if (o->other[side] < o->runs[side])
        printf("    what the other one ran there is run %s here\n",
               cli_count(n, o->other[side] + 1));
    else if (o->run[!side] != JSPROF_READ_NONE)
        puts("    what the other one ran there is no run here");
    return err;
}

static int diff_tasks_print(const struct diff_tasks *d)
{
    const jsprof_read_divergence *o = &d->order;
    char n[CLI_NUMBER], m[CLI_NUMBER];
    if (o->is_same) {
        printf("The same order: %s run%s in both.\n", cli_count(n, o->at), cli_s(o->at));
        return 0;
    }
    printf("The orders differ at run %s, of %s before", cli_count(n, o->at + 1),
           cli_count(m, o->runs[0]));
    printf(" and %s after.\n", cli_count(m, o->runs[1]));
    int err = diff_tasks_side(d, 0);
    return err ? err : diff_tasks_side(d, 1);
}

/* -- Programs ------------------------------------------------------------------ */

struct diff_tasks_row {
    const char *side;
    uint64_t run;                /* from 1 */
    struct cli_cell other_run;
    uint64_t level, times;
    const char *kind, *name;
    const char *stack;
};

static struct cli_cell diff_tasks_is_same(CLI_OF_ROW)
{
    return cli_cell_bool(((const struct diff_tasks *)row)->order.is_same);
}

/* The number of runs of the side that is c->offset. */
static struct cli_cell diff_tasks_runs(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct diff_tasks *)row)->order.runs[c->offset]);
}

static struct cli_cell diff_tasks_at(CLI_OF_ROW)
{
    const jsprof_read_divergence *o = &((const struct diff_tasks *)row)->order;
    return o->is_same ? cli_cell_none() : cli_cell_u64(o->at + 1);
}

static const char *const diff_tasks_sides[] = { "before", "after", NULL };

static const struct cli_column diff_tasks_head[] = {
    { .name = "is_same", .type = CLI_TYPE_BOOL, .get = diff_tasks_is_same,
      .means = "The tasks of both captures ran in the same order." },
    { .name = "runs_before", .type = CLI_TYPE_COUNT, .get = diff_tasks_runs, .offset = 0,
      .means = "Runs in the first capture." },
    { .name = "runs_after", .type = CLI_TYPE_COUNT, .get = diff_tasks_runs, .offset = 1,
      .means = "Runs in the second capture." },
    { .name = "differs_at", .type = CLI_TYPE_COUNT, .get = diff_tasks_at, .may_lack = true,
      .means = "The first run, from 1, that is another one in the second capture; null: none." },
    { 0 }
};

#define DIFF_TASKS_FIELD(field) .offset = offsetof(struct diff_tasks_row, field)

static const struct cli_column diff_tasks_columns[] = {
    { .name = "side", .type = CLI_TYPE_WORD, .get = cli_get_string, DIFF_TASKS_FIELD(side),
      .words = diff_tasks_sides, .means = "The capture." },
    { .name = "run", .type = CLI_TYPE_COUNT, .get = cli_get_u64, DIFF_TASKS_FIELD(run),
      .means = "The number of the run there, from 1." },
    { .name = "other_run", .type = CLI_TYPE_COUNT, .get = cli_get_cell, .may_lack = true,
      DIFF_TASKS_FIELD(other_run),
      .means = "The number in this capture of the run that the other one has there; null: none." },
    { .name = "level", .type = CLI_TYPE_COUNT, .get = cli_get_u64, DIFF_TASKS_FIELD(level),
      .means = "0 for the task that ran, 1 for its maker, and so on." },
    { .name = "times", .type = CLI_TYPE_COUNT, .get = cli_get_u64, DIFF_TASKS_FIELD(times),
      .means = "How often the link repeats itself." },
    { .name = "kind", .type = CLI_TYPE_TEXT, .get = cli_get_string, DIFF_TASKS_FIELD(kind),
      .means = "What the task is, as the host calls it." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = cli_get_string, DIFF_TASKS_FIELD(name),
      .means = "Its name." },
    { .name = "stack", .type = CLI_TYPE_TEXT, .get = cli_get_string, DIFF_TASKS_FIELD(stack),
      .means = "The functions on whose stack it was made, the innermost first, joined by ;." },
    { 0 }
};

const struct cli_document cli_diff_tasks_document = {
    .means = "Where the tasks of two captures first ran in another order; with --tasks.",
    .head = diff_tasks_head,
    .lists = { { .name = "links", .columns = diff_tasks_columns,
                 .means = "What ran there in either capture, and the tasks that made it." } },
};

/* Print a link of a chain, which repeats itself so often. */
static int diff_tasks_link(struct diff_tasks *d, int side, struct diff_tasks_row *row,
                           uint32_t task)
{
    char *stack = diff_tasks_text(d, side, task, ";", false);
    if (!stack)
        return -ENOMEM;
    row->stack = stack;
    cli_table_row(d->table, row);
    free(stack);
    row->level++;
    return 0;
}

/* Print the chain of the run at which this side differs, one row a link. */
static int diff_tasks_links(struct diff_tasks *d, int side)
{
    const jsprof_read_divergence *o = &d->order;
    struct diff_tasks_row row = { .side = diff_tasks_sides[side], .run = o->at + 1,
                                  .other_run = cli_cell_none(), .times = 1, .kind = "",
                                  .name = "" };
    jsprof_read_task k, up;
    uint32_t at, link;
    if (o->run[side] == JSPROF_READ_NONE)
        return 0;
    if (o->other[side] < o->runs[side])
        row.other_run = cli_cell_u64(o->other[side] + 1);
    int err = diff_tasks_first(d, side, &at);
    if (err == 0 && at == JSPROF_READ_NONE)
        return diff_tasks_link(d, side, &row, at);
    while (err == 0 && at != JSPROF_READ_NONE) {
        link = at;
        err = diff_tasks_read(d, side, at, &k);
        row.times = 1;
        row.kind = k.kind;
        row.name = k.name;
        for (at = k.parent; err == 0 && at != JSPROF_READ_NONE; at = up.parent, row.times++) {
            err = diff_tasks_read(d, side, at, &up);
            if (err < 0 || !diff_tasks_is_same_link(&up, &k))
                break;
        }
        if (err == 0)
            err = diff_tasks_link(d, side, &row, link);
    }
    return err;
}

static int diff_tasks_rows(struct diff_tasks *d, const struct cli_form *form)
{
    int err = 0;
    d->table = cli_table_open(&(struct cli_show){
        .form = form, .command = "diff", .columns = diff_tasks_columns,
        .document = &cli_diff_tasks_document, .head = d, .of = d });
    for (int side = 0; d->table && err == 0 && side < 2 && !d->order.is_same; side++)
        err = diff_tasks_links(d, side);
    cli_incomplete(err < 0);
    return cli_table_close(d->table);
}

int cli_diff_tasks(struct cli_capture captures[2], const struct cli_form *form)
{
    struct diff_tasks d = { .captures = { &captures[0], &captures[1] },
                            .order.size = sizeof d.order };
    jsprof_read_error error = { .size = sizeof error };
    int err = 0, status = CLI_OK;
    for (int i = 0; i < 2 && err == 0 && status == CLI_OK; i++) {
        err = jsprof_read_tasks_open(&d.tasks[i], captures[i].reader, &error);
        if (err == 0 && jsprof_read_runs(d.tasks[i], 0, NULL, 0) == 0)
            status = cli_fail(captures[i].label, CLI_NO_TASKS);
    }
    if (err == 0 && status == CLI_OK)
        err = jsprof_read_diverge(d.tasks[0], d.tasks[1], &d.order, &error);
    if (err == 0 && status == CLI_OK && !cli_form_is_text(form))
        status = diff_tasks_rows(&d, form);
    else if (err == 0 && status == CLI_OK)
        err = diff_tasks_print(&d);
    if (err)
        status = cli_fail(captures[0].label, "%s", strerror(-err));
    for (int i = 0; i < 2; i++)
        jsprof_read_tasks_close(d.tasks[i]);
    return status;
}
