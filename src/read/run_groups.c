/* read/run_groups.c - the runs of tasks in groups.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/loop.h"

struct jsprof_read_run_groups {
    jsprof_reader *reader;
    struct jsp_tasks tasks;
    struct jsp_loop of;
};

int jsprof_read_run_groups_open(jsprof_read_run_groups **out, jsprof_reader *r,
                                const jsprof_read_order *order, jsprof_read_error *error)
{
    static const char *const bys[] = { "name", "kind", "task", "thread", NULL };
    static const char *const sorts[] = { "self", "total", "runs", "mean", "95%", "max", "delay",
                                         NULL };
    jsprof_read_order o;
    jsp_reader_take(&o, sizeof o, order);
    int by = o.by ? jsp_reader_word(error, "by", o.by, bys) : 0;
    int sort = by >= 0 && o.sort ? jsp_reader_word(error, "sort", o.sort, sorts) : 0;
    if (by < 0 || sort < 0)
        return by < 0 ? by : sort;
    const struct jsp_loop_ask ask = { (enum jsp_loop_by)by, (enum jsp_loop_sort)sort,
                                      r->choice.select.threads };
    jsprof_read_run_groups *g = calloc(1, sizeof *g);
    int err = g ? jsp_tasks_read(&g->tasks, &r->profile) : -ENOMEM;
    if (err) {
        free(g);
        return jsp_reader_errno(error, err, NULL);
    }
    g->reader = r;
    if (!g->tasks.n_tasks && !g->tasks.n_runs && !g->tasks.n_turns)
        err = jsp_reader_no_tasks(error);
    else
        err = jsp_reader_errno(error, jsp_loop_build(&g->of, &g->tasks, &r->profile, &ask), NULL);
    if (err)
        jsprof_read_run_groups_close(g);
    else
        *out = g;
    return err;
}

int jsprof_read_run_groups_of(const jsprof_read_run_groups *g, jsprof_read_run_groups_sum *out)
{
    const struct jsp_events_sum *turns = &g->of.turns;
    const jsprof_read_run_groups_sum row = {
        .tasks = g->tasks.n_tasks, .runs = g->of.runs, .self = g->of.self, .turns = turns->n,
        .turn_median = turns->median, .turn_p95 = turns->p95, .turn_max = turns->max,
    };
    jsp_reader_give(out, 0, &row, sizeof row);
    return 0;
}

int64_t jsprof_read_run_group_rows(const jsprof_read_run_groups *g, uint64_t first,
                                   jsprof_read_run_group *out, uint64_t n)
{
    jsprof_reader *r = g->reader;
    int64_t rows;
    if (!jsp_reader_range(g->of.n_rows, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_loop_row *from = &g->of.rows[first + i];
        const jsprof_read_run_group row = {
            .kind = jsp_reader_text(r, from->kind), .name = jsp_reader_text(r, from->name),
            .task = from->task, .pid = from->pid, .tid = from->tid,
            .is_unknown = from->is_unknown, .made = from->made, .open = from->open,
            .left = from->left, .self = from->self, .runs = from->run.n,
            .total = from->run.total, .mean = from->run.mean, .median = from->run.median,
            .p95 = from->run.p95, .max = from->run.max, .delays = from->delay.n,
            .delay_median = from->delay.median, .delay_p95 = from->delay.p95,
            .delay_max = from->delay.max,
        };
        if (!row.kind || !row.name)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

void jsprof_read_run_groups_close(jsprof_read_run_groups *g)
{
    if (!g)
        return;
    jsp_loop_free(&g->of);
    jsp_tasks_free(&g->tasks);
    free(g);
}
