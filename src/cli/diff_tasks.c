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

#include "analyze/order.h"
#include "command.h"
#include "task_stack.h"

struct diff_tasks {
    struct cli_capture *captures[2];
    struct jsp_tasks tasks[2];
    struct jsp_order order;
    struct jsp_profile_frame *frames; /* owned; room for a stack */
    struct cli_table *table;          /* of rows for programs */
};

enum { DIFF_TASKS_LINKS = 8 }; /* of a chain in text */

static void diff_tasks_name(const struct cli_style *s, const struct jsp_task_what *w)
{
    cli_name(s, (struct cli_span){ w->kind.at, w->kind.len }, 0);
    if (w->kind.len && w->name.len)
        putchar(' ');
    cli_name(s, (struct cli_span){ w->name.at, w->name.len }, 0);
    if (!w->kind.len && !w->name.len)
        fputs("(without a name)", stdout);
}

/* Return the names of a stack's functions: all, or those of the VM. The caller frees it. */
static char *diff_tasks_text(struct diff_tasks *d, int side, uint32_t stack, const char *between,
                             bool is_vm)
{
    return cli_task_stack(&(struct cli_task_stack){
        .tasks = &d->tasks[side], .profile = d->captures[side]->profile, .frames = d->frames,
        .between = between, .is_vm = is_vm }, stack);
}

/* Print the functions on whose stack the task was made: the VM's, or all if there are none. */
static int diff_tasks_stack(struct diff_tasks *d, int side, uint32_t stack)
{
    const struct cli_style *s = &d->captures[side]->style;
    char *text = diff_tasks_text(d, side, stack, s->is_utf8 ? " ← " : " < ", true);
    if (text && *text) {
        fputs("      made in ", stdout);
        cli_name(s, cli_span(text), 0);
        putchar('\n');
    }
    free(text);
    return text ? 0 : -ENOMEM;
}

/* Print the run and its chain. Repeated links are one line. */
static int diff_tasks_run(struct diff_tasks *d, int side, uint32_t at)
{
    const struct jsp_tasks *t = &d->tasks[side];
    const struct cli_style *s = &d->captures[side]->style;
    const struct jsp_task_run *run = &t->runs[d->order.sides[side].runs[at]];
    uint32_t task = run->task, last = JSP_TASK_NONE;
    int err = 0, links = 0;
    if (task == JSP_TASK_NONE)
        puts("    (of a task that this capture does not have)");
    for (; err == 0 && task != JSP_TASK_NONE && links < DIFF_TASKS_LINKS;
         task = t->tasks[task].parent) {
        const struct jsp_task *k = &t->tasks[task];
        if (last != JSP_TASK_NONE && t->tasks[last].what == k->what &&
            t->tasks[last].stack == k->stack)
            continue;
        fputs(links++ ? "    by " : "    ", stdout);
        diff_tasks_name(s, &t->whats[k->what]);
        putchar('\n');
        err = diff_tasks_stack(d, side, k->stack);
        last = task;
    }
    return err;
}

/* Print what ran there on one side, and where the other side's run is. */
static int diff_tasks_side(struct diff_tasks *d, int side)
{
    const struct jsp_order_side *s = &d->order.sides[side];
    char n[CLI_NUMBER];
    printf("  %s: ", side ? "after" : "before");
    cli_name(&d->captures[side]->style, cli_span(d->captures[side]->label), 0);
    if (s->at == s->tasks->n_runs) {
        printf(" ends here\n");
        return 0;
    }
    putchar('\n');
    int err = diff_tasks_run(d, side, s->at);
    if (s->other < s->tasks->n_runs)
        printf("    what the other one ran there is run %s here\n", cli_count(n, s->other + 1));
    else if (d->order.sides[!side].at < d->order.sides[!side].tasks->n_runs)
        puts("    what the other one ran there is no run here");
    return err;
}

static int diff_tasks_print(struct diff_tasks *d)
{
    const struct jsp_order_side *s = d->order.sides;
    char n[CLI_NUMBER], m[CLI_NUMBER];
    if (d->order.is_same) {
        printf("The same order: %s run%s in both.\n", cli_count(n, s[0].at), cli_s(s[0].at));
        return 0;
    }
    printf("The orders differ at run %s, of %s before", cli_count(n, s[0].at + UINT64_C(1)),
           cli_count(m, s[0].tasks->n_runs));
    printf(" and %s after.\n", cli_count(m, s[1].tasks->n_runs));
    int err = diff_tasks_side(d, 0);
    return err ? err : diff_tasks_side(d, 1);
}

/* -- Programs ------------------------------------------------------------------ */

struct diff_tasks_row {
    const char *side;
    uint64_t run;                /* from 1 */
    struct cli_cell other_run;
    uint64_t level, times;
    const struct jsp_task_what *what;
    const char *stack;
};

static struct cli_cell diff_tasks_kind(CLI_OF_ROW)
{
    return cli_cell_text(((const struct diff_tasks_row *)row)->what->kind);
}

static struct cli_cell diff_tasks_task(CLI_OF_ROW)
{
    return cli_cell_text(((const struct diff_tasks_row *)row)->what->name);
}

static struct cli_cell diff_tasks_is_same(CLI_OF_ROW)
{
    return cli_cell_bool(((const struct diff_tasks *)row)->order.is_same);
}

/* The number of runs of the side that is c->offset. */
static struct cli_cell diff_tasks_runs(CLI_OF_ROW)
{
    return cli_cell_u64(((const struct diff_tasks *)row)->tasks[c->offset].n_runs);
}

static struct cli_cell diff_tasks_at(CLI_OF_ROW)
{
    const struct jsp_order *o = &((const struct diff_tasks *)row)->order;
    return o->is_same ? cli_cell_none() : cli_cell_u64(o->sides[0].at + UINT64_C(1));
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
    { .name = "kind", .type = CLI_TYPE_TEXT, .get = diff_tasks_kind,
      .means = "What the task is, as the host calls it." },
    { .name = "name", .type = CLI_TYPE_TEXT, .get = diff_tasks_task, .means = "Its name." },
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
                           const struct jsp_task *k)
{
    char *stack = diff_tasks_text(d, side, k ? k->stack : JSP_TASK_NONE, ";", false);
    if (!stack)
        return -ENOMEM;
    row->what = &d->tasks[side].whats[k ? k->what : 0];
    row->stack = stack;
    cli_table_row(d->table, row);
    free(stack);
    row->level++;
    return 0;
}

/* Print the chain of the run at which this side differs, one row a link. */
static int diff_tasks_links(struct diff_tasks *d, int side)
{
    const struct jsp_tasks *t = &d->tasks[side];
    const struct jsp_order_side *s = &d->order.sides[side];
    struct diff_tasks_row row = { .side = diff_tasks_sides[side], .run = s->at + UINT64_C(1),
                                  .other_run = cli_cell_none(), .times = 1 };
    int err = 0;
    if (s->at == t->n_runs)
        return 0;
    if (s->other < t->n_runs)
        row.other_run = cli_cell_u64(s->other + UINT64_C(1));
    uint32_t at = t->runs[s->runs[s->at]].task;
    if (at == JSP_TASK_NONE)
        return diff_tasks_link(d, side, &row, NULL);
    while (err == 0 && at != JSP_TASK_NONE) {
        const struct jsp_task *k = &t->tasks[at], *up;
        row.times = 1;
        while ((at = t->tasks[at].parent) != JSP_TASK_NONE) {
            up = &t->tasks[at];
            if (up->what != k->what || up->stack != k->stack)
                break;
            row.times++;
        }
        err = diff_tasks_link(d, side, &row, k);
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
    struct diff_tasks d = { .captures = { &captures[0], &captures[1] } };
    int err = 0, status = CLI_OK;
    d.frames = malloc(JSP_PROFILE_DEPTH * sizeof *d.frames);
    for (int i = 0; i < 2 && err == 0 && status == CLI_OK; i++) {
        err = jsp_tasks_read(&d.tasks[i], captures[i].profile);
        if (err == 0 && !d.tasks[i].n_runs)
            status = cli_fail(captures[i].label, CLI_NO_TASKS);
    }
    if (err == 0 && status == CLI_OK)
        err = d.frames ? jsp_order_compare(&d.order, &d.tasks[0], &d.tasks[1]) : -ENOMEM;
    if (err == 0 && status == CLI_OK && !cli_form_is_text(form))
        status = diff_tasks_rows(&d, form);
    else if (err == 0 && status == CLI_OK)
        err = diff_tasks_print(&d);
    if (err)
        status = cli_fail(captures[0].label, "%s", strerror(-err));
    jsp_order_free(&d.order);
    for (int i = 0; i < 2; i++)
        jsp_tasks_free(&d.tasks[i]);
    free(d.frames);
    return status;
}
