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

struct diff_tasks {
    struct cli_capture *captures[2];
    struct jsp_tasks tasks[2];
    struct jsp_order order;
    struct jsp_profile_frame *frames; /* owned; room for a stack */
};

static void diff_tasks_name(const struct cli_style *s, const struct jsp_task_what *w)
{
    cli_name(s, (struct cli_span){ w->kind.at, w->kind.len }, 0);
    if (w->kind.len && w->name.len)
        putchar(' ');
    cli_name(s, (struct cli_span){ w->name.at, w->name.len }, 0);
    if (!w->kind.len && !w->name.len)
        fputs("(without a name)", stdout);
}

/* Print the functions on whose stack the task was made: the VM's, or all if there are none. */
static int diff_tasks_stack(struct diff_tasks *d, int side, uint32_t stack)
{
    struct cli_capture *c = d->captures[side];
    const char *arrow = c->style.is_utf8 ? " ← " : " < ", *between = "";
    int n = stack == JSP_TASK_NONE
                ? 0
                : jsp_tasks_stack_frames(&d->tasks[side], c->profile, stack, d->frames);
    bool has_vm = false;
    for (int i = 0; i < n; i++)
        has_vm |= d->frames[i].origin == JSP_ORIGIN_VM;
    if (n > 0)
        fputs("      made in ", stdout);
    for (int i = 0; i < n; i++) {
        if (has_vm && d->frames[i].origin != JSP_ORIGIN_VM)
            continue;
        fputs(between, stdout);
        between = arrow;
        cli_name(&c->style, cli_span(c->profile->functions[d->frames[i].function].name), 0);
    }
    if (n > 0)
        putchar('\n');
    return n < 0 ? n : 0;
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
    for (; err == 0 && task != JSP_TASK_NONE && links < 8; task = t->tasks[task].parent) {
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

int cli_diff_tasks(struct cli_capture captures[2])
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
    if (err == 0 && status == CLI_OK)
        err = diff_tasks_print(&d);
    if (err)
        status = cli_fail(captures[0].label, "%s", strerror(-err));
    jsp_order_free(&d.order);
    for (int i = 0; i < 2; i++)
        jsp_tasks_free(&d.tasks[i]);
    free(d.frames);
    return status;
}
