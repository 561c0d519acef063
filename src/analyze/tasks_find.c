/* analyze/tasks_find.c - finds tasks, runs, turns and the frames of stacks. See
 * tasks.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "tasks_work.h"

/* -- Numbers, while the records are read ---------------------------------------- */

static uint32_t tasks_hash(const struct tasks_numbers *n, int32_t pid, uint64_t number)
{
    return (uint32_t)jsp_hash_mix(jsp_hash_mix(n->by.seed, number), (uint32_t)pid);
}

uint32_t jsp_tasks_work_find(const struct tasks_work *w, enum tasks_space space, int32_t pid,
                             uint64_t number)
{
    const struct tasks_numbers *n = &w->numbers[space];
    uint32_t hash = tasks_hash(n, pid, number), probe = hash, at;
    while ((at = jsp_hash_next(&n->by, hash, &probe)) != 0)
        if (n->at[at - 1].number == number && n->at[at - 1].pid == pid)
            return n->at[at - 1].at;
    return JSP_TASK_NONE;
}

int jsp_tasks_work_add(struct tasks_work *w, enum tasks_space space, int32_t pid,
                       uint64_t number, uint32_t at)
{
    struct tasks_numbers *n = &w->numbers[space];
    if (jsp_grow(&n->at, &n->room, n->n, sizeof *n->at) < 0)
        return -ENOMEM;
    n->at[n->n] = (struct tasks_number){ number, pid, at };
    return jsp_hash_add(&n->by, tasks_hash(n, pid, number), n->n++);
}

/* -- What was read ------------------------------------------------------------- */

uint32_t jsp_tasks_thread(const struct jsp_tasks *t, int32_t pid, int32_t tid)
{
    for (uint32_t i = 0; i < t->n_threads; i++)
        if (t->threads[i].pid == pid && t->threads[i].tid == tid)
            return i;
    return JSP_TASK_NONE;
}

uint32_t jsp_tasks_find(const struct jsp_tasks *t, int32_t pid, uint64_t number)
{
    uint32_t low = 0, high = t->n_tasks;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct jsp_task *task = &t->tasks[middle];
        int32_t at = t->threads[task->thread].pid;
        if (at < pid || (at == pid && task->number < number))
            low = middle + 1;
        else
            high = middle;
    }
    bool is_it = low < t->n_tasks && t->tasks[low].number == number &&
                 t->threads[t->tasks[low].thread].pid == pid;
    return is_it ? low : JSP_TASK_NONE;
}

/* Return the number of the thread's runs that begin by this time. */
static uint32_t tasks_runs_by(const struct jsp_tasks *t, const struct jsp_task_thread *thread,
                              int64_t time)
{
    uint32_t low = thread->first_run, high = low + thread->n_runs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->runs[middle].begin <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low - thread->first_run;
}

uint32_t jsp_tasks_run_at(const struct jsp_tasks *t, uint32_t thread, int64_t time)
{
    uint32_t n = tasks_runs_by(t, &t->threads[thread], time);
    uint32_t at = n ? t->threads[thread].first_run + n - 1 : JSP_TASK_NONE;
    while (at != JSP_TASK_NONE && t->runs[at].begin + t->runs[at].duration < time)
        at = t->runs[at].outer;
    return at;
}

uint32_t jsp_tasks_turn_at(const struct jsp_tasks *t, uint32_t thread, int64_t time)
{
    const struct jsp_task_thread *of = &t->threads[thread];
    uint32_t low = of->first_turn, high = low + of->n_turns;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->turns[middle].begin <= time)
            low = middle + 1;
        else
            high = middle;
    }
    /* an outer turn is before all turns inside it */
    for (uint32_t depth = UINT32_MAX; low > of->first_turn && depth; low--) {
        const struct jsp_task_turn *turn = &t->turns[low - 1];
        if (turn->depth < depth && turn->begin + turn->duration >= time)
            return low - 1;
        depth = turn->depth < depth ? turn->depth : depth;
    }
    return JSP_TASK_NONE;
}

int jsp_tasks_stack_frames(const struct jsp_tasks *t, struct jsp_profile *p, uint32_t stack,
                           struct jsp_profile_frame out[JSP_PROFILE_DEPTH])
{
    const struct jsp_task_stack *k = &t->stacks[stack];
    struct jsp_tasks_frame_at walk = { 0 };
    struct jsp_profile_address a = { .key = { 0, k->pid, k->epoch } };
    uint64_t line;
    int n = 0;
    while (n < JSP_PROFILE_DEPTH && jsp_tasks_frame_get(&k->frames, &walk, &a.key.addr, &line)) {
        int err = jsp_profile_place(p, &a, line, &out[n]);
        if (err < 0)
            return err;
        jsp_profile_next(p, &a);
        n++;
    }
    return n;
}

/* -- Tasks by a word of the user ------------------------------------------------ */

struct jsp_task_figures *jsp_tasks_figures(const struct jsp_tasks *t)
{
    struct jsp_task_figures *all = calloc((size_t)t->n_whats + 1, sizeof *all);
    for (uint32_t i = 0; all && i < t->n_tasks; i++) {
        struct jsp_task_figures *f = &all[t->tasks[i].what];
        f->tasks++;
        f->runs += t->tasks[i].n_runs;
        for (uint32_t k = 0; k < t->tasks[i].n_runs; k++)
            f->total += (double)t->runs[t->runs_of[t->tasks[i].first_run + k]].duration;
    }
    return all;
}

static bool tasks_has(const struct jsp_task_what *w, const char *which)
{
    char text[512];
    size_t kind = w->kind.len < 128 ? w->kind.len : 128;
    size_t name = w->name.len < 382 ? w->name.len : 382;
    memcpy(text, w->kind.at, kind);
    text[kind] = ' ';
    memcpy(text + kind + 1, w->name.at, name);
    return memmem(text, kind + 1 + name, which, strlen(which)) != NULL;
}

/* Return true if the words are the number of a task. */
static bool tasks_number(const char *which, uint64_t *out)
{
    const char *digits = which + (*which == '#');
    char *end;
    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    *out = strtoull(digits, &end, 10);
    return !*end && !errno;
}

bool *jsp_tasks_matching(const struct jsp_tasks *t, const char *which)
{
    uint64_t number = 0;
    bool is_number = tasks_number(which, &number);
    bool *out = malloc(t->n_tasks + (size_t)1), *has = malloc(t->n_whats + (size_t)1);
    for (uint32_t i = 0; has && i < t->n_whats; i++)
        has[i] = !is_number && tasks_has(&t->whats[i], which);
    for (uint32_t i = 0; has && out && i < t->n_tasks; i++)
        out[i] = is_number ? t->tasks[i].number == number : has[t->tasks[i].what];
    if (!has) {
        free(out);
        out = NULL;
    }
    free(has);
    return out;
}
