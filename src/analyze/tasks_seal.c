/* analyze/tasks_seal.c - orders and links the tasks, runs and turns that were read. See tasks.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "tasks_work.h"

/* -- Tasks -------------------------------------------------------------------- */

struct seal_task {
    struct jsp_task task;
    struct tasks_raw raw;
};

static int seal_task_compare(const void *a, const void *b)
{
    const struct seal_task *x = a, *y = b;
    if (x->raw.pid != y->raw.pid)
        return x->raw.pid < y->raw.pid ? -1 : 1;
    return (x->task.number > y->task.number) - (x->task.number < y->task.number);
}

/* Sort the tasks. Their positions in numbers[TASKS_TASK] are then out of date. */
static int seal_order_tasks(struct tasks_work *w)
{
    struct jsp_tasks *t = w->t;
    struct seal_task *all = t->n_tasks ? malloc(t->n_tasks * sizeof *all) : NULL;
    if (!all)
        return t->n_tasks ? -ENOMEM : 0;
    for (uint32_t i = 0; i < t->n_tasks; i++)
        all[i] = (struct seal_task){ t->tasks[i], w->raw[i] };
    qsort(all, t->n_tasks, sizeof *all, seal_task_compare);
    for (uint32_t i = 0; i < t->n_tasks; i++) {
        t->tasks[i] = all[i].task;
        w->raw[i] = all[i].raw;
    }
    free(all);
    return 0;
}

static void seal_link_tasks(struct tasks_work *w)
{
    struct jsp_tasks *t = w->t;
    for (uint32_t i = 0; i < t->n_tasks; i++) {
        const struct tasks_raw *raw = &w->raw[i];
        struct jsp_task *task = &t->tasks[i];
        /* lower numbers of the process are at lower positions */
        task->parent = raw->parent ? jsp_tasks_find(t, raw->pid, raw->parent) : JSP_TASK_NONE;
        t->defects.orphans += raw->parent && task->parent == JSP_TASK_NONE;
        uint32_t what = jsp_tasks_work_find(w, TASKS_WHAT, raw->pid, raw->what);
        task->what = what != JSP_TASK_NONE ? what : 0;
        task->stack = jsp_tasks_work_find(w, TASKS_STACK, raw->pid, raw->stack);
    }
}

/* -- Runs --------------------------------------------------------------------- */

static int seal_run_compare(const void *a, const void *b)
{
    const struct jsp_task_run *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->is_open != y->is_open)
        return x->is_open - y->is_open;
    return (x->duration < y->duration) - (x->duration > y->duration);
}

static bool seal_is_before(const struct tasks_work *w, int32_t pid, uint64_t task)
{
    uint32_t first = jsp_tasks_work_find(w, TASKS_FIRST, pid, 0);
    return first != JSP_TASK_NONE && task < w->firsts[first];
}

/* Drop the runs that were written as open and later ended, or were written again. */
static void seal_drop_open(struct tasks_work *w)
{
    struct jsp_tasks *t = w->t;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->n_runs; i++) {
        const struct jsp_task_run *run = &t->runs[i], *last = &t->runs[kept ? kept - 1 : 0];
        bool is_same = kept && run->is_open && run->thread == last->thread &&
                       run->begin == last->begin && run->depth == last->depth &&
                       w->run_of[run->task] == w->run_of[last->task];
        if (!is_same)
            t->runs[kept++] = *run;
    }
    t->n_runs = kept;
}

static void seal_link_runs(struct tasks_work *w)
{
    struct jsp_tasks *t = w->t;
    for (uint32_t i = 0; i < t->n_runs; i++) {
        struct jsp_task_run *run = &t->runs[i];
        uint64_t number = w->run_of[run->task];
        int32_t pid = t->threads[run->thread].pid;
        run->task = number ? jsp_tasks_find(t, pid, number) : JSP_TASK_NONE;
        if (run->task != JSP_TASK_NONE) {
            t->tasks[run->task].n_runs++;
        } else if (number) { /* of task 0 the host knows none; a wrong handle is counted */
            t->defects.unknown++;
            t->defects.before += seal_is_before(w, pid, number);
        }
    }
}

/* Find the run around each of a thread's runs, and the time that it takes of that one. */
static void seal_nest(struct jsp_tasks *t, const struct jsp_task_thread *thread)
{
    uint32_t outer = JSP_TASK_NONE;
    for (uint32_t i = thread->first_run; i < thread->first_run + thread->n_runs; i++) {
        struct jsp_task_run *run = &t->runs[i];
        while (outer != JSP_TASK_NONE &&
               (t->runs[outer].depth >= run->depth ||
                t->runs[outer].begin + t->runs[outer].duration < run->begin))
            outer = t->runs[outer].outer;
        run->outer = outer;
        if (outer != JSP_TASK_NONE) {
            struct jsp_task_run *around = &t->runs[outer];
            int64_t left = around->begin + around->duration - run->begin;
            t->defects.crossing += !around->is_open && run->duration > left;
            around->inner += run->duration < left ? run->duration : left;
            around->inner = around->inner < around->duration ? around->inner : around->duration;
        }
        outer = i;
    }
}

struct seal_begin {
    int64_t begin;
    uint32_t run;
};

static int seal_begin_compare(const void *a, const void *b)
{
    const struct seal_begin *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->run > y->run) - (x->run < y->run);
}

/* Put the runs of a task that ran on several threads in the order of their begin. */
static int seal_order_runs_of(struct jsp_tasks *t, const struct jsp_task *task)
{
    uint32_t *at = t->runs_of + task->first_run;
    struct seal_begin *all = malloc(task->n_runs * sizeof *all);
    if (!all)
        return -ENOMEM;
    for (uint32_t i = 0; i < task->n_runs; i++)
        all[i] = (struct seal_begin){ t->runs[at[i]].begin, at[i] };
    qsort(all, task->n_runs, sizeof *all, seal_begin_compare);
    for (uint32_t i = 0; i < task->n_runs; i++)
        at[i] = all[i].run;
    free(all);
    return 0;
}

/* List the runs of each task, in the order of their begin. */
static int seal_runs_of(struct jsp_tasks *t)
{
    uint32_t next = 0;
    int err = 0;
    t->runs_of = malloc((t->n_runs ? t->n_runs : 1) * sizeof *t->runs_of);
    if (!t->runs_of)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->n_tasks; i++) {
        t->tasks[i].first_run = next;
        next += t->tasks[i].n_runs;
        t->tasks[i].n_runs = 0;
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        uint32_t task = t->runs[i].task;
        if (task != JSP_TASK_NONE)
            t->runs_of[t->tasks[task].first_run + t->tasks[task].n_runs++] = i;
    }
    for (uint32_t i = 0; err == 0 && i < t->n_tasks; i++) {
        const struct jsp_task *task = &t->tasks[i];
        const uint32_t *at = t->runs_of + task->first_run;
        if (task->n_runs && t->runs[at[0]].thread != t->runs[at[task->n_runs - 1]].thread)
            err = seal_order_runs_of(t, task);
    }
    return err;
}

/* -- Delays ------------------------------------------------------------------- */

/* How many moments that were not due yet are looked at for a run: a timer that was set again has
 * several. */
enum { SEAL_EARLY = 16 };

static int seal_ready_compare(const void *a, const void *b)
{
    const struct tasks_ready *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static void seal_delay(struct jsp_tasks *t, struct jsp_task_run *run, const struct tasks_ready *of)
{
    run->delay = run->begin > of->due ? run->begin - of->due : 0;
    if (of->by || !of->is_timer) /* a timer that no task set again has the maker of before */
        run->by = of->by ? jsp_tasks_find(t, of->pid, of->by) : JSP_TASK_NONE;
}

/* Return which moment is that of a run, and let *at be the first one that may be a later run's:
 * the last one that was due by then. A loop that wakes too early runs what is not due yet: then it
 * is the first one that had been asked for. NULL: none. */
static const struct tasks_ready *seal_ready_of(const struct tasks_work *w, uint32_t *at,
                                               const struct tasks_ready *run)
{
    uint32_t found = w->n_readies, early = 0;
    for (uint32_t i = *at; i < w->n_readies && early < SEAL_EARLY &&
                           seal_ready_compare(&w->readies[i], run) <= 0; i++)
        if (w->readies[i].due <= run->time)
            found = i;
        else
            early++;
    if (found == w->n_readies && early)
        found = *at;
    if (found == w->n_readies)
        return NULL;
    *at = found + 1;
    return &w->readies[found];
}

/* Give each run of a task the moment at which the task became ready for it. `at` is the first
 * moment that may be one; return the first one of a later task. */
static uint32_t seal_delays_of(struct tasks_work *w, uint32_t at, uint32_t i)
{
    struct jsp_tasks *t = w->t;
    const struct jsp_task *task = &t->tasks[i];
    struct tasks_ready here = { .time = INT64_MIN, .task = task->number, .pid = w->raw[i].pid };
    while (at < w->n_readies && seal_ready_compare(&w->readies[at], &here) < 0)
        at++;
    bool is_made = at == w->n_readies || w->readies[at].task != here.task ||
                   w->readies[at].pid != here.pid;
    if (is_made && task->n_runs) {
        struct jsp_task_run *first = &t->runs[t->runs_of[task->first_run]];
        first->delay = first->begin > task->time ? first->begin - task->time : 0;
    }
    for (uint32_t n = 0; n < task->n_runs; n++) {
        struct jsp_task_run *run = &t->runs[t->runs_of[task->first_run + n]];
        here.time = run->begin;
        const struct tasks_ready *last = seal_ready_of(w, &at, &here);
        run->by = task->parent;
        if (last)
            seal_delay(t, run, last);
    }
    here.time = INT64_MAX;
    while (at < w->n_readies && seal_ready_compare(&w->readies[at], &here) <= 0)
        at++;
    return at;
}

static void seal_delays(struct tasks_work *w)
{
    uint32_t at = 0;
    if (w->n_readies)
        qsort(w->readies, w->n_readies, sizeof *w->readies, seal_ready_compare);
    for (uint32_t i = 0; i < w->t->n_tasks; i++)
        at = seal_delays_of(w, at, i);
}

/* -- Turns and threads -------------------------------------------------------- */

static int seal_turn_compare(const void *a, const void *b)
{
    const struct jsp_task_turn *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

static void seal_threads(struct jsp_tasks *t)
{
    uint32_t run = 0, turn = 0;
    for (uint32_t i = 0; i < t->n_threads; i++) {
        struct jsp_task_thread *thread = &t->threads[i];
        thread->first_run = run;
        for (; run < t->n_runs && t->runs[run].thread == i; run++)
            thread->n_runs++;
        thread->first_turn = turn;
        for (; turn < t->n_turns && t->turns[turn].thread == i; turn++)
            thread->n_turns++;
        seal_nest(t, thread);
    }
    for (uint32_t i = 0; i < t->n_runs; i++)
        t->runs[i].turn = jsp_tasks_turn_at(t, t->runs[i].thread, t->runs[i].begin);
}

int jsp_tasks_work_seal(struct tasks_work *w)
{
    struct jsp_tasks *t = w->t;
    int err = seal_order_tasks(w);
    if (err < 0)
        return err;
    seal_link_tasks(w);
    if (t->n_runs)
        qsort(t->runs, t->n_runs, sizeof *t->runs, seal_run_compare);
    if (t->n_turns)
        qsort(t->turns, t->n_turns, sizeof *t->turns, seal_turn_compare);
    seal_drop_open(w);
    seal_link_runs(w);
    seal_threads(t);
    err = seal_runs_of(t);
    if (err == 0)
        seal_delays(w);
    return err;
}
