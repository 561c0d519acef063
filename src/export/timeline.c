/* export/timeline.c - marks by thread, values by counter, and tasks, for formats with such lists.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tables.h"

#include <errno.h>
#include <stdlib.h>

struct timeline_process { /* the first thread of a process, sorted by both */
    int32_t pid;
    uint32_t thread;
};

struct timeline_processes {
    struct timeline_process *list;
    uint32_t n, first; /* first: the first thread of all processes */
};

static int timeline_order(const void *left, const void *right)
{
    const struct timeline_process *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int timeline_processes(struct timeline_processes *s, const struct jsp_profile *p,
                              const struct jsp_moments *m)
{
    *s = (struct timeline_processes){ .first = UINT32_MAX };
    s->list = malloc(((size_t)p->n_threads + 1) * sizeof *s->list);
    if (!s->list)
        return -ENOMEM;
    for (uint32_t t = 0; t < p->n_threads; t++)
        if (m->first[t] < m->first[t + 1]) {
            s->list[s->n++] = (struct timeline_process){ p->threads[t].pid, t };
            if (s->first == UINT32_MAX)
                s->first = t;
        }
    qsort(s->list, s->n, sizeof *s->list, timeline_order);
    return 0;
}

static uint32_t timeline_thread(const struct timeline_processes *s, int32_t pid)
{
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->list[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n && s->list[low].pid == pid ? s->list[low].thread : s->first;
}

/* Group the positions 0..n-1 by key, in their order, with a counting sort. */
static int timeline_group(const uint32_t *key, uint32_t n, uint32_t n_keys,
                          uint32_t **positions, uint32_t **first)
{
    *positions = malloc(((size_t)n + 1) * sizeof **positions);
    *first = calloc((size_t)n_keys + 2, sizeof **first);
    if (!*positions || !*first)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        (*first)[key[i] + 2]++;
    for (uint32_t k = 0; k < n_keys; k++)
        (*first)[k + 2] += (*first)[k + 1];
    for (uint32_t i = 0; i < n; i++)
        (*positions)[(*first)[key[i] + 1]++] = i;
    return 0;
}

static int timeline_keys(struct jsp_timeline *t, const struct timeline_processes *s,
                         uint32_t n_threads)
{
    const struct jsp_events *e = &t->events;
    uint32_t most = e->n_marks > e->n_values ? e->n_marks : e->n_values;
    uint32_t *key = malloc(((size_t)most + 1) * sizeof *key);
    t->counter_thread = malloc(((size_t)e->n_counters + 1) * sizeof *t->counter_thread);
    int err = key && t->counter_thread ? 0 : -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < e->n_marks; i++)
        key[i] = timeline_thread(s, e->marks[i].pid);
    if (err == 0)
        err = timeline_group(key, e->n_marks, n_threads, &t->marks, &t->marks_first);
    for (uint32_t i = 0; err == 0 && i < e->n_values; i++)
        key[i] = e->values[i].counter;
    if (err == 0)
        err = timeline_group(key, e->n_values, e->n_counters, &t->values,
                             &t->values_first);
    for (uint32_t i = 0; err == 0 && i < e->n_counters; i++)
        t->counter_thread[i] = timeline_thread(s, e->counters[i].pid);
    free(key);
    return err;
}

/* Read the tasks, and resolve the stacks on which they were made before the tables of functions are
 * built. */
static int timeline_tasks(struct jsp_timeline *t, const struct jsp_export *e)
{
    struct jsp_profile *p = e->profile;
    int err = jsp_tasks_read(&t->tasks, p);
    if (err < 0)
        return err;
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    err = frames ? jsp_flows_build(&t->flows, &t->tasks, p, e->select ? e->select->threads : NULL)
                 : -ENOMEM;
    for (uint32_t i = 0; err >= 0 && i < t->tasks.n_stacks; i++)
        err = jsp_tasks_stack_frames(&t->tasks, p, i, frames);
    free(frames);
    return err < 0 ? err : 0;
}

/* Find the thread with samples for each one that has tasks. */
static int timeline_task_threads(struct jsp_timeline *t, const struct timeline_processes *s,
                                 const struct jsp_profile *p, const struct jsp_moments *m)
{
    t->task_thread = malloc(((size_t)t->tasks.n_threads + 1) * sizeof *t->task_thread);
    if (!t->task_thread)
        return -ENOMEM;
    for (uint32_t i = 0; i < t->tasks.n_threads; i++)
        t->task_thread[i] = timeline_thread(s, t->tasks.threads[i].pid);
    for (uint32_t i = 0; i < p->n_threads; i++) {
        uint32_t at = jsp_tasks_thread(&t->tasks, p->threads[i].pid, p->threads[i].tid);
        if (at != JSP_TASK_NONE && m->first[i] < m->first[i + 1])
            t->task_thread[at] = i;
    }
    return 0;
}

int jsp_timeline_build(struct jsp_timeline *t, struct jsp_tables *from,
                       const struct jsp_export *e, enum jsp_calltree_detail detail)
{
    struct timeline_processes processes;
    struct jsp_profile *p = e->profile;
    memset(t, 0, sizeof *t);
    memset(from, 0, sizeof *from);
    int err = timeline_tasks(t, e);
    if (err == 0)
        err = jsp_tables_build(from, e, detail);
    if (err < 0) {
        jsp_timeline_free(t);
        return err;
    }
    err = timeline_processes(&processes, p, &from->moments);
    if (err == 0)
        err = jsp_events_read(&t->events, p, (struct jsp_events_of){ NULL, 0 });
    if (err == 0)
        err = timeline_keys(t, &processes, p->n_threads);
    if (err == 0)
        err = timeline_task_threads(t, &processes, p, &from->moments);
    free(processes.list);
    if (err < 0)
        jsp_timeline_free(t);
    return err;
}

void jsp_timeline_free(struct jsp_timeline *t)
{
    jsp_events_free(&t->events);
    free(t->marks);
    free(t->marks_first);
    free(t->values);
    free(t->values_first);
    free(t->counter_thread);
    free(t->task_thread);
    jsp_flows_free(&t->flows);
    jsp_tasks_free(&t->tasks);
    memset(t, 0, sizeof *t);
}
