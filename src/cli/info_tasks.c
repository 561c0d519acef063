/* cli/info_tasks.c - the line of `jsprof info` on tasks and turns.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/tasks.h"
#include "info.h"

/* Print "3 ends without a begin", after a comma if it is not the first. */
static void info_count(uint64_t n, const char *one, const char *many, bool *is_begun)
{
    char text[CLI_NUMBER];
    if (!n)
        return;
    printf("%s%s %s", *is_begun ? ", " : "", cli_count(text, n), n == 1 ? one : many);
    *is_begun = true;
}

/* Print what a host did wrong, and what is missing. */
static void info_tasks_wrong(const struct cli_capture *c, const struct jsp_tasks *t,
                             const char *label)
{
    const struct jsp_account *a = &c->profile->account;
    struct jsp_account_thread sum = { 0 };
    for (uint32_t i = 0; i < a->n_threads; i++)
        jsp_embedded_account_add(&sum, &a->threads[i]);
    uint64_t unknown = t->defects.unknown - t->defects.before;
    uint64_t lost = sum.tasks_lost + a->session.tasks_unwritten;
    bool is_begun = false;
    if (!(lost | sum.tasks_unmatched | sum.tasks_left | sum.tasks_deep | sum.tasks_foreign |
          unknown | t->defects.before | t->defects.repeated | t->defects.crossing | t->defects.bad))
        return;
    cli_label(&c->style, label);
    info_count(lost, "record lost", "records lost", &is_begun);
    info_count(sum.tasks_unmatched, "end without a begin", "ends without a begin", &is_begun);
    info_count(sum.tasks_left, "run left without an end", "runs left without an end", &is_begun);
    info_count(sum.tasks_deep, "run inside too many", "runs inside too many", &is_begun);
    info_count(sum.tasks_foreign, "wrong handle", "wrong handles", &is_begun);
    info_count(t->defects.before, "run of a task made before", "runs of tasks made before",
               &is_begun);
    info_count(unknown, "run of an unknown task", "runs of unknown tasks", &is_begun);
    info_count(t->defects.repeated, "task twice", "tasks twice", &is_begun);
    info_count(t->defects.crossing, "run across its outer one", "runs across their outer ones",
               &is_begun);
    info_count(t->defects.bad, "malformed part", "malformed parts", &is_begun);
    putchar('\n');
}

void cli_info_tasks(const struct cli_capture *c, const char *label)
{
    struct jsp_tasks t;
    bool is_begun = false;
    if (c->profile->stall_ns) {
        cli_label(&c->style, label);
        printf("only turns of a loop that took longer than %g ms\n",
               (double)c->profile->stall_ns / 1e6);
    }
    if (jsp_tasks_read(&t, c->profile) < 0)
        return;
    if (t.n_tasks | t.n_runs | t.n_turns) {
        cli_label(&c->style, label);
        info_count(t.n_tasks, "task", "tasks", &is_begun);
        info_count(t.n_runs, "run", "runs", &is_begun);
        info_count(t.n_turns, "turn of a loop", "turns of loops", &is_begun);
        putchar('\n');
    }
    info_tasks_wrong(c, &t, label);
    jsp_tasks_free(&t);
}
