/* analyze/flows.c - finds the run that caused each run. See flows.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "flows.h"

#include <errno.h>
#include <stdlib.h>

#include "work.h"

int64_t jsp_flows_end(int64_t begin, int64_t duration)
{
    int64_t end;
    return __builtin_add_overflow(begin, duration, &end) ? INT64_MAX : end;
}

/* Return the run of a task at this moment, or JSP_TASK_NONE. */
static uint32_t flows_run_of(const struct jsp_tasks *t, uint32_t task, int64_t time)
{
    if (task == JSP_TASK_NONE)
        return JSP_TASK_NONE;
    const uint32_t *runs = t->runs_of + t->tasks[task].first_run;
    uint32_t low = 0, high = t->tasks[task].n_runs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->runs[runs[middle]].begin <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return JSP_TASK_NONE;
    const struct jsp_task_run *r = &t->runs[runs[low - 1]];
    return jsp_flows_end(r->begin, r->duration) >= time ? runs[low - 1] : JSP_TASK_NONE;
}

/* Return what caused a run that is the n-th of its task. */
static struct jsp_flow flows_cause(const struct jsp_tasks *t, uint32_t run, uint32_t n)
{
    const struct jsp_task_run *r = &t->runs[run];
    const struct jsp_task *task = &t->tasks[r->task];
    struct jsp_flow flow = { JSP_TASK_NONE, task->time };
    int64_t ready;
    if (r->delay >= 0 && !__builtin_sub_overflow(r->begin, r->delay, &ready)) {
        flow = (struct jsp_flow){ flows_run_of(t, r->by, ready), ready };
        if (flow.from != JSP_TASK_NONE)
            return flow;
    }
    if (n > 0 && (r->by == task->parent || r->delay < 0)) { /* a timer, set for once more */
        uint32_t before = t->runs_of[task->first_run + n - 1];
        return (struct jsp_flow){ before, t->runs[before].begin };
    }
    if (r->by == task->parent || r->delay < 0)
        flow = (struct jsp_flow){ flows_run_of(t, task->parent, task->time), task->time };
    return flow;
}

static void flows_find(struct jsp_flows *f, const struct jsp_tasks *t)
{
    for (uint32_t i = 0; i < t->n_runs; i++)
        f->of[i] = (struct jsp_flow){ JSP_TASK_NONE, 0 };
    for (uint32_t k = 0; k < t->n_tasks; k++)
        for (uint32_t n = 0; n < t->tasks[k].n_runs; n++) {
            uint32_t run = t->runs_of[t->tasks[k].first_run + n];
            struct jsp_flow flow = flows_cause(t, run, n);
            /* Broken times must not make a circle. */
            if (flow.from != JSP_TASK_NONE && t->runs[flow.from].begin < t->runs[run].begin)
                f->of[run] = flow;
        }
}

/* Sort the runs by their cause, by counting. */
static void flows_group(struct jsp_flows *f, const struct jsp_tasks *t)
{
    for (uint32_t i = 0; i < t->n_runs; i++)
        if (f->of[i].from != JSP_TASK_NONE)
            f->first[f->of[i].from + 2]++;
    for (uint32_t i = 0; i < t->n_runs; i++)
        f->first[i + 2] += f->first[i + 1];
    for (uint32_t i = 0; i < t->n_runs; i++)
        if (f->of[i].from != JSP_TASK_NONE)
            f->caused[f->first[f->of[i].from + 1]++] = i;
}

bool jsp_flows_shows(const struct jsp_flows *f, const struct jsp_profile *p, uint32_t thread,
                     int64_t begin, int64_t duration)
{
    return f->threads[thread] && jsp_work_overlaps(p, begin, jsp_flows_end(begin, duration));
}

/* Let a span end with the one around it, if it would end later. */
static void flows_nest(struct jsp_flow_walk *w, struct jsp_flow_span *span)
{
    int64_t end = jsp_flows_end(span->begin, span->duration);
    while (w->depth && w->ends[w->depth - 1] <= span->begin)
        w->depth--;
    if (w->depth && end > w->ends[w->depth - 1]) {
        end = w->ends[w->depth - 1];
        span->duration = end - span->begin;
    }
    if (w->depth < JSP_FLOW_DEPTH)
        w->ends[w->depth++] = end;
}

bool jsp_flows_next(const struct jsp_flows *f, const struct jsp_tasks *t,
                    const struct jsp_profile *p, struct jsp_flow_walk *w,
                    struct jsp_flow_span *out)
{
    const struct jsp_task_thread *of = &t->threads[w->thread];
    while (w->run < of->n_runs || w->turn < of->n_turns) {
        uint32_t run = of->first_run + w->run, turn = of->first_turn + w->turn;
        bool is_turn = w->turn < of->n_turns &&
                       (w->run == of->n_runs || t->turns[turn].begin <= t->runs[run].begin);
        if (is_turn) {
            *out = (struct jsp_flow_span){ JSP_TASK_NONE, t->turns[turn].begin,
                                           t->turns[turn].duration };
            w->turn++;
        } else {
            *out = (struct jsp_flow_span){ run, t->runs[run].begin, t->runs[run].duration };
            w->run++;
        }
        if (is_turn ? jsp_flows_shows(f, p, w->thread, out->begin, out->duration)
                    : f->is_shown[run]) {
            flows_nest(w, out);
            return true;
        }
    }
    return false;
}

static void flows_choose(struct jsp_flows *f, const struct jsp_tasks *t,
                         const struct jsp_profile *p, const bool *threads)
{
    for (uint32_t i = 0; i < t->n_threads; i++)
        f->threads[i] = !threads;
    for (uint32_t i = 0; threads && i < p->n_threads; i++) {
        uint32_t at = jsp_tasks_thread(t, p->threads[i].pid, p->threads[i].tid);
        if (at != JSP_TASK_NONE && threads[i])
            f->threads[at] = true;
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        const struct jsp_task_run *r = &t->runs[i];
        f->is_shown[i] = jsp_flows_shows(f, p, r->thread, r->begin, r->duration);
        f->n_shown += f->is_shown[i];
    }
}

int jsp_flows_build(struct jsp_flows *f, const struct jsp_tasks *t, const struct jsp_profile *p,
                    const bool *threads)
{
    size_t n = (size_t)t->n_runs + 2;
    *f = (struct jsp_flows){ 0 };
    f->of = malloc(n * sizeof *f->of);
    f->caused = malloc(n * sizeof *f->caused);
    f->first = calloc(n, sizeof *f->first);
    f->is_shown = malloc(n * sizeof *f->is_shown);
    f->threads = malloc(((size_t)t->n_threads + 1) * sizeof *f->threads);
    if (!f->of || !f->caused || !f->first || !f->is_shown || !f->threads)
        return -ENOMEM;
    flows_find(f, t);
    flows_group(f, t);
    flows_choose(f, t, p, threads);
    return 0;
}

void jsp_flows_free(struct jsp_flows *f)
{
    free(f->of);
    free(f->caused);
    free(f->first);
    free(f->is_shown);
    free(f->threads);
    *f = (struct jsp_flows){ 0 };
}
