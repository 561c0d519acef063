/* read/tasks.c - tasks, their runs, and the turns of loops.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/order.h"

_Static_assert(JSPROF_READ_NONE == JSP_TASK_NONE, "numbers of tasks are given as they are");

struct jsprof_read_tasks {
    jsprof_reader *reader;
    struct jsp_tasks of;
};

int jsprof_read_tasks_open(jsprof_read_tasks **out, jsprof_reader *r, jsprof_read_error *error)
{
    jsprof_read_tasks *t = calloc(1, sizeof *t);
    int err = t ? jsp_tasks_read(&t->of, &r->profile) : -ENOMEM;
    if (err) {
        free(t);
        return jsp_reader_errno(error, err, NULL);
    }
    t->reader = r;
    *out = t;
    return 0;
}

int jsprof_read_tasks_of(const jsprof_read_tasks *t, jsprof_read_tasks_sum *out)
{
    const struct jsp_account *a = &t->reader->profile.account;
    const struct jsp_task_defects *d = &t->of.defects;
    struct jsp_account_thread sum = { 0 };
    for (uint32_t i = 0; i < a->n_threads; i++)
        jsp_embedded_account_add(&sum, &a->threads[i]);
    const jsprof_read_tasks_sum row = {
        .tasks = t->of.n_tasks, .runs = t->of.n_runs, .turns = t->of.n_turns,
        .stall_ns = t->reader->profile.stall_ns,
        .lost = sum.tasks_lost + a->session.tasks_unwritten,
        .ends_unmatched = sum.tasks_unmatched, .runs_left = sum.tasks_left,
        .runs_deep = sum.tasks_deep, .wrong_handles = sum.tasks_foreign,
        .unknown = d->unknown, .before = d->before, .repeated = d->repeated,
        .orphans = d->orphans, .crossing = d->crossing, .malformed = d->bad,
    };
    jsp_reader_give(out, 0, &row, sizeof row);
    return 0;
}

int64_t jsprof_read_task_rows(const jsprof_read_tasks *t, uint64_t first, jsprof_read_task *out,
                              uint64_t n)
{
    jsprof_reader *r = t->reader;
    int64_t rows;
    if (!jsp_reader_range(t->of.n_tasks, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_task *from = &t->of.tasks[first + i];
        const struct jsp_task_what *what = &t->of.whats[from->what];
        const struct jsp_task_thread *thread = &t->of.threads[from->thread];
        const jsprof_read_task row = {
            .number = from->number, .time = from->time - r->profile.start_time,
            .done = from->done ? from->done - r->profile.start_time : INT64_MIN,
            .pid = thread->pid, .tid = thread->tid, .parent = from->parent,
            .n_runs = from->n_runs, .kind = jsp_reader_text(r, what->kind),
            .name = jsp_reader_text(r, what->name), .stack = from->stack,
        };
        if (!row.kind || !row.name)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_runs(const jsprof_read_tasks *t, uint64_t first, jsprof_read_run *out,
                         uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(t->of.n_runs, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_task_run *from = &t->of.runs[first + i];
        const struct jsp_task_thread *thread = &t->of.threads[from->thread];
        const jsprof_read_run row = {
            .time = from->begin - t->reader->profile.start_time, .duration = from->duration,
            .inner = from->inner, .delay = from->delay, .pid = thread->pid, .tid = thread->tid,
            .task = from->task, .by = from->by, .outer = from->outer, .turn = from->turn,
            .depth = from->depth, .is_open = from->is_open, .is_left = from->is_left,
        };
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_turns(const jsprof_read_tasks *t, uint64_t first, jsprof_read_turn *out,
                          uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(t->of.n_turns, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_task_turn *from = &t->of.turns[first + i];
        const struct jsp_task_thread *thread = &t->of.threads[from->thread];
        const jsprof_read_turn row = {
            .time = from->begin - t->reader->profile.start_time, .duration = from->duration,
            .inner = from->inner, .pid = thread->pid, .tid = thread->tid, .depth = from->depth,
        };
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsp_reader_task_frames(jsprof_reader *r, const struct jsp_tasks *t, uint32_t stack,
                               const struct jsp_reader_rows *to)
{
    int64_t rows;
    if (stack == JSP_TASK_NONE)
        return 0;
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    int found = frames ? jsp_tasks_stack_frames(t, &r->profile, stack, frames) : -ENOMEM;
    if (found < 0)
        rows = found;
    else if (jsp_reader_range((uint64_t)found, to->first, to->n, to->out, &rows))
        jsp_reader_frame_rows(r, frames + to->first, to->out, (uint64_t)rows);
    free(frames);
    return rows;
}

int64_t jsprof_read_task_frames(const jsprof_read_tasks *t, uint32_t task, uint64_t first,
                                jsprof_read_frame *out, uint64_t n)
{
    if (task >= t->of.n_tasks)
        return 0;
    return jsp_reader_task_frames(t->reader, &t->of, t->of.tasks[task].stack,
                                  &(struct jsp_reader_rows){ first, out, n });
}

int jsprof_read_diverge(const jsprof_read_tasks *before, const jsprof_read_tasks *after,
                        jsprof_read_divergence *out, jsprof_read_error *error)
{
    struct jsp_order order;
    int err = jsp_order_compare(&order, &before->of, &after->of);
    jsprof_read_divergence row = { .is_same = order.is_same, .at = order.sides[0].at };
    for (int i = 0; err == 0 && i < 2; i++) {
        const struct jsp_order_side *s = &order.sides[i];
        row.runs[i] = s->tasks->n_runs;
        row.run[i] = s->at < s->tasks->n_runs ? s->runs[s->at] : JSPROF_READ_NONE;
        row.other[i] = s->other;
    }
    jsp_order_free(&order);
    if (err == 0)
        jsp_reader_give(out, 0, &row, sizeof row);
    return jsp_reader_errno(error, err, NULL);
}

void jsprof_read_tasks_close(jsprof_read_tasks *t)
{
    if (!t)
        return;
    jsp_tasks_free(&t->of);
    free(t);
}
