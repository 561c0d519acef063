/* cli/info_tasks.c - the line of `jsprof info` on tasks and turns.
 *
 * SPDX-License-Identifier: MIT
 */
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
static void info_tasks_wrong(const struct cli_capture *c, const jsprof_read_tasks_sum *t,
                             const char *label)
{
    const struct {
        uint64_t n;
        const char *one, *many;
    } all[] = {
        { t->lost, "record lost", "records lost" },
        { t->ends_unmatched, "end without a begin", "ends without a begin" },
        { t->runs_left, "run left without an end", "runs left without an end" },
        { t->runs_deep, "run inside too many", "runs inside too many" },
        { t->wrong_handles, "wrong handle", "wrong handles" },
        { t->before, "run of a task made before", "runs of tasks made before" },
        { t->unknown - t->before, "run of an unknown task", "runs of unknown tasks" },
        { t->repeated, "task twice", "tasks twice" },
        { t->crossing, "run across its outer one", "runs across their outer ones" },
        { t->malformed, "malformed part", "malformed parts" },
    };
    bool is_begun = false;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].n && !is_begun)
            cli_label(&c->style, label);
        info_count(all[i].n, all[i].one, all[i].many, &is_begun);
    }
    if (is_begun)
        putchar('\n');
}

bool cli_info_tasks_of(const struct cli_capture *c, jsprof_read_tasks_sum *out)
{
    jsprof_read_tasks *tasks;
    *out = (jsprof_read_tasks_sum){ .size = sizeof *out };
    if (cli_incomplete(jsprof_read_tasks_open(&tasks, c->reader, NULL) < 0))
        return false;
    jsprof_read_tasks_of(tasks, out);
    jsprof_read_tasks_close(tasks);
    return out->tasks | out->runs | out->turns | out->stall_ns;
}

void cli_info_tasks(const struct cli_capture *c, const char *label)
{
    jsprof_read_tasks_sum t;
    bool is_begun = false;
    cli_info_tasks_of(c, &t);
    if (t.stall_ns) {
        cli_label(&c->style, label);
        printf("only turns of a loop that took longer than %g ms\n", (double)t.stall_ns / 1e6);
    }
    if (t.tasks | t.runs | t.turns) {
        cli_label(&c->style, label);
        info_count(t.tasks, "task", "tasks", &is_begun);
        info_count(t.runs, "run", "runs", &is_begun);
        info_count(t.turns, "turn of a loop", "turns of loops", &is_begun);
        putchar('\n');
    }
    info_tasks_wrong(c, &t, label);
}
