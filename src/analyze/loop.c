/* analyze/loop.c - groups the runs of tasks. See loop.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>

#include "work.h"

struct loop_work {
    struct jsp_loop *l;
    const struct jsp_tasks *t;
    const struct jsp_loop_ask *ask;
    bool *threads;   /* by threads[] of the tasks: the chosen ones */
    uint32_t *order; /* runs that count, by group, then as they are */
    double *runs, *delays;
    uint32_t *made;  /* tasks made, by whats[] */
    uint32_t n;
};

/* -- Which runs count ------------------------------------------------------- */

static void loop_threads(struct loop_work *w, const struct jsp_profile *p)
{
    for (uint32_t i = 0; i < w->t->n_threads; i++)
        w->threads[i] = !w->ask->threads;
    for (uint32_t i = 0; w->ask->threads && i < p->n_threads; i++) {
        uint32_t at = jsp_tasks_thread(w->t, p->threads[i].pid, p->threads[i].tid);
        if (at != JSP_TASK_NONE && w->ask->threads[i])
            w->threads[at] = true;
    }
}

static bool loop_counts(const struct loop_work *w, const struct jsp_profile *p, uint32_t thread,
                        int64_t begin, int64_t duration)
{
    int64_t end;
    if (__builtin_add_overflow(begin, duration, &end))
        end = INT64_MAX;
    return w->threads[thread] && jsp_work_overlaps(p, begin, end);
}

/* -- Groups ------------------------------------------------------------------ */

static uint32_t loop_what(const struct jsp_tasks *t, const struct jsp_task_run *r)
{
    return r->task == JSP_TASK_NONE ? JSP_TASK_NONE : t->tasks[r->task].what;
}

static int loop_compare_texts(struct jsp_read_text a, struct jsp_read_text b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* Order runs of unknown tasks after all others. */
static int loop_compare_kinds(const struct jsp_tasks *t, uint32_t a, uint32_t b)
{
    if (a == JSP_TASK_NONE || b == JSP_TASK_NONE)
        return (a == JSP_TASK_NONE) - (b == JSP_TASK_NONE);
    return a == b ? 0 : loop_compare_texts(t->whats[a].kind, t->whats[b].kind);
}

static int loop_compare_groups(const struct loop_work *w, uint32_t a, uint32_t b)
{
    const struct jsp_task_run *x = &w->t->runs[a], *y = &w->t->runs[b];
    uint32_t of_x = 0, of_y = 0;
    switch (w->ask->by) {
    case JSP_LOOP_KIND:
        return loop_compare_kinds(w->t, loop_what(w->t, x), loop_what(w->t, y));
    case JSP_LOOP_NAME:
        of_x = loop_what(w->t, x);
        of_y = loop_what(w->t, y);
        break;
    case JSP_LOOP_TASK:
        of_x = x->task;
        of_y = y->task;
        break;
    case JSP_LOOP_THREAD:
        of_x = x->thread;
        of_y = y->thread;
        break;
    }
    return (of_x > of_y) - (of_x < of_y);
}

static int loop_compare_runs(const void *a, const void *b, void *work)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = loop_compare_groups(work, x, y);
    return order ? order : (x > y) - (x < y);
}

/* Describe the group of a run. */
static void loop_name(const struct loop_work *w, const struct jsp_task_run *r,
                      struct jsp_loop_row *row)
{
    const struct jsp_tasks *t = w->t;
    uint32_t what = loop_what(t, r), thread = r->thread;
    enum jsp_loop_by by = w->ask->by;
    if (by != JSP_LOOP_THREAD && what == JSP_TASK_NONE) {
        row->is_unknown = true;
        return;
    }
    if (by != JSP_LOOP_THREAD)
        row->kind = t->whats[what].kind;
    if (by == JSP_LOOP_NAME || by == JSP_LOOP_TASK)
        row->name = t->whats[what].name;
    if (by == JSP_LOOP_TASK) {
        row->task = t->tasks[r->task].number;
        thread = t->tasks[r->task].thread;
    }
    if (by == JSP_LOOP_TASK || by == JSP_LOOP_THREAD) {
        row->pid = t->threads[thread].pid;
        row->tid = t->threads[thread].tid;
    }
}

/* Count the tasks that were made: each kind and name once, where the row has it first. */
static void loop_made(struct loop_work *w, const struct jsp_task_run *r, struct jsp_loop_row *row)
{
    uint32_t what = loop_what(w->t, r);
    if (w->ask->by == JSP_LOOP_TASK) {
        row->made = what != JSP_TASK_NONE;
    } else if (w->ask->by != JSP_LOOP_THREAD && what != JSP_TASK_NONE) {
        row->made += w->made[what];
        w->made[what] = 0;
    }
}

static int loop_group(struct loop_work *w, uint32_t first, uint32_t n)
{
    struct jsp_loop *l = w->l;
    struct jsp_loop_row row = { .kind = { "", 0 }, .name = { "", 0 } };
    uint32_t n_delays = 0;
    loop_name(w, &w->t->runs[w->order[first]], &row);
    for (uint32_t i = 0; i < n; i++) {
        const struct jsp_task_run *r = &w->t->runs[w->order[first + i]];
        int64_t self = r->duration - r->inner;
        w->runs[i] = (double)r->duration;
        row.self += self > 0 ? (double)self : 0;
        row.open += r->is_open;
        row.left += r->is_left;
        if (r->delay >= 0)
            w->delays[n_delays++] = (double)r->delay;
        loop_made(w, r, &row);
    }
    row.run = jsp_events_sum(w->runs, n);
    if (n_delays)
        row.delay = jsp_events_sum(w->delays, n_delays);
    if (jsp_grow(&l->rows, &l->room, l->n_rows, sizeof *l->rows) < 0)
        return -ENOMEM;
    l->rows[l->n_rows++] = row;
    l->runs += n;
    l->self += row.self;
    return 0;
}

/* -- The order of rows -------------------------------------------------------- */

static double loop_key(const struct jsp_loop_row *r, enum jsp_loop_sort sort)
{
    switch (sort) {
    case JSP_LOOP_BY_SELF: return r->self;
    case JSP_LOOP_BY_TOTAL: return r->run.total;
    case JSP_LOOP_BY_RUNS: return (double)r->run.n;
    case JSP_LOOP_BY_MEAN: return r->run.mean;
    case JSP_LOOP_BY_P95: return r->run.p95;
    case JSP_LOOP_BY_MAX: return r->run.max;
    case JSP_LOOP_BY_DELAY: return r->delay.p95;
    }
    return 0;
}

static int loop_compare_rows(const void *a, const void *b, void *ask)
{
    const struct jsp_loop_row *x = a, *y = b;
    double of_x = loop_key(x, ((const struct jsp_loop_ask *)ask)->sort);
    double of_y = loop_key(y, ((const struct jsp_loop_ask *)ask)->sort);
    if (of_x < of_y || of_x > of_y)
        return of_x > of_y ? -1 : 1;
    int order = loop_compare_texts(x->kind, y->kind);
    order = order ? order : loop_compare_texts(x->name, y->name);
    order = order ? order : (x->pid > y->pid) - (x->pid < y->pid);
    order = order ? order : (x->tid > y->tid) - (x->tid < y->tid);
    return order ? order : (x->task > y->task) - (x->task < y->task);
}

/* -- All of it ---------------------------------------------------------------- */

static void loop_turns(struct loop_work *w, const struct jsp_profile *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->t->n_turns; i++) {
        const struct jsp_task_turn *turn = &w->t->turns[i];
        int64_t own = turn->duration - turn->inner;
        if (loop_counts(w, p, turn->thread, turn->begin, turn->duration))
            w->runs[n++] = own > 0 ? (double)own : 0;
    }
    if (n)
        w->l->turns = jsp_events_sum(w->runs, n);
}

static int loop_rows(struct loop_work *w, const struct jsp_profile *p)
{
    const struct jsp_tasks *t = w->t;
    int err = 0;
    loop_threads(w, p);
    for (uint32_t i = 0; i < t->n_tasks; i++)
        w->made[t->tasks[i].what]++;
    for (uint32_t i = 0; i < t->n_runs; i++)
        if (loop_counts(w, p, t->runs[i].thread, t->runs[i].begin, t->runs[i].duration))
            w->order[w->n++] = i;
    qsort_r(w->order, w->n, sizeof *w->order, loop_compare_runs, w);
    for (uint32_t i = 0, end; err == 0 && i < w->n; i = end) {
        for (end = i + 1; end < w->n; end++)
            if (loop_compare_groups(w, w->order[i], w->order[end]))
                break;
        err = loop_group(w, i, end - i);
    }
    loop_turns(w, p);
    if (w->l->n_rows)
        qsort_r(w->l->rows, w->l->n_rows, sizeof *w->l->rows, loop_compare_rows, (void *)w->ask);
    return err;
}

int jsp_loop_build(struct jsp_loop *l, const struct jsp_tasks *t, const struct jsp_profile *p,
                   const struct jsp_loop_ask *ask)
{
    struct loop_work w = { .l = l, .t = t, .ask = ask };
    uint32_t most = t->n_runs > t->n_turns ? t->n_runs : t->n_turns;
    *l = (struct jsp_loop){ 0 };
    w.threads = calloc((size_t)t->n_threads + 1, sizeof *w.threads);
    w.order = malloc(((size_t)t->n_runs + 1) * sizeof *w.order);
    w.runs = malloc(((size_t)most + 1) * sizeof *w.runs);
    w.delays = malloc(((size_t)t->n_runs + 1) * sizeof *w.delays);
    w.made = calloc((size_t)t->n_whats + 1, sizeof *w.made);
    int err = w.threads && w.order && w.runs && w.delays && w.made ? loop_rows(&w, p) : -ENOMEM;
    free(w.threads);
    free(w.order);
    free(w.runs);
    free(w.delays);
    free(w.made);
    return err;
}

void jsp_loop_free(struct jsp_loop *l)
{
    free(l->rows);
    *l = (struct jsp_loop){ 0 };
}
