/* export/moments.c - the selected samples, thread by thread and in order of time.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tables.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/walk.h"

static int moments_order(const void *left, const void *right)
{
    const struct jsp_moment *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->ordinal < b->ordinal ? -1 : a->ordinal > b->ordinal;
}

static void moments_fill(struct jsp_moments *m, struct jsp_profile *p,
                         const struct jsp_calltree *s, const struct jsp_select *select)
{
    struct jsp_walk walk;
    struct jsp_walk_item item;
    uint32_t ordinal = 0;
    jsp_walk_start(&walk, p, select);
    while (ordinal < m->n && jsp_walk_next(&walk, &item)) {
        if (!s->leaf[item.stack])
            continue;
        m->list[m->first[item.thread]++] = (struct jsp_moment){ .time = item.time,
                                                                .value = item.value,
                                                                .weight = item.weight,
                                                                .cpu_ns = item.cpu_ns,
                                                                .node = s->leaf[item.stack],
                                                                .ordinal = ordinal,
                                                                .cpu = item.cpu };
        m->list[m->first[item.thread] - 1].state = p->stacks[item.stack].state;
        m->list[m->first[item.thread] - 1].labels = p->stacks[item.stack].labels;
        ordinal++;
    }
}

/* Restore the starts. Filling has moved each thread's start to its end, which is the next
 * one's start. */
static void moments_settle(struct jsp_moments *m, uint32_t n_threads)
{
    memmove(m->first + 1, m->first, n_threads * sizeof *m->first);
    m->first[0] = 0;
    for (uint32_t t = 0; t < n_threads; t++) {
        struct jsp_moment *of = m->list + m->first[t];
        uint32_t n = m->first[t + 1] - m->first[t], in_order = 1;
        while (in_order < n && of[in_order - 1].time <= of[in_order].time)
            in_order++;
        if (in_order < n)
            qsort(of, n, sizeof *of, moments_order);
    }
}

int jsp_moments_build(struct jsp_moments *m, struct jsp_profile *p,
                      const struct jsp_calltree *s, const struct jsp_select *select)
{
    *m = (struct jsp_moments){ 0 };
    if (s->samples >= UINT32_MAX)
        return -EOVERFLOW;
    m->n = (uint32_t)s->samples;
    m->list = malloc(((size_t)m->n + 1) * sizeof *m->list);
    m->first = calloc((size_t)p->n_threads + 1, sizeof *m->first);
    if (!m->list || !m->first) {
        jsp_moments_free(m);
        return -ENOMEM;
    }
    /* Turn the number of samples of each thread into their start in the list. */
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_stacks; i++)
        if (s->leaf[i])
            m->first[p->stacks[i].thread] += p->stacks[i].samples;
    for (uint32_t t = 0; t <= p->n_threads; t++) {
        uint32_t of_thread = m->first[t];
        m->first[t] = n;
        n += of_thread;
    }
    moments_fill(m, p, s, select);
    moments_settle(m, p->n_threads);
    return 0;
}

/* Return where the time begins that a sample of the thread stands for. */
static int64_t moments_from(const struct jsp_moment *of, uint32_t i, uint64_t period_ns)
{
    uint64_t worth, late;
    int64_t from;
    if (__builtin_mul_overflow(of[i].weight, period_ns, &worth) || worth > INT64_MAX)
        worth = INT64_MAX;
    if (__builtin_sub_overflow(of[i].time, (int64_t)worth, &from) || from < 0)
        from = 0;
    if (i == 0)
        return from;
    late = (uint64_t)from - (uint64_t)of[i - 1].time;
    /* points are at random places of their periods */
    return from < of[i - 1].time || late <= period_ns ? of[i - 1].time : from;
}

static uint32_t moments_what(const struct jsp_moment *m, enum jsp_moments_of kind)
{
    return kind == JSP_MOMENTS_STATE ? m->state : m->labels;
}

bool jsp_moments_next_span(const struct jsp_moments *m, const struct jsp_profile *p,
                           enum jsp_moments_of kind, uint32_t thread, uint32_t *at,
                           struct jsp_moments_span *out)
{
    const struct jsp_moment *of = m->list + m->first[thread];
    uint32_t n = m->first[thread + 1] - m->first[thread];
    while (*at < n && !moments_what(&of[*at], kind))
        ++*at;
    if (*at == n)
        return false;
    *out = (struct jsp_moments_span){ moments_from(of, *at, p->period_ns), of[*at].time,
                                      moments_what(&of[*at], kind) };
    while (++*at < n && moments_what(&of[*at], kind) == out->what &&
           moments_from(of, *at, p->period_ns) <= out->to)
        out->to = of[*at].time;
    return true;
}

static int moments_ascending(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

uint32_t jsp_moments_nodes(const struct jsp_moments *m, const struct jsp_calltree *s,
                           uint32_t thread, uint8_t *mark, uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = m->first[thread]; i < m->first[thread + 1]; i++)
        for (uint32_t k = m->list[i].node; k && !mark[k]; k = s->nodes[k].parent) {
            mark[k] = 1;
            list[n++] = k;
        }
    /* A parent was made before its children, so it has the smaller number. */
    qsort(list, n, sizeof *list, moments_ascending);
    for (uint32_t i = 0; i < n; i++)
        mark[list[i]] = 0;
    return n;
}

void jsp_moments_free(struct jsp_moments *m)
{
    free(m->list);
    free(m->first);
    *m = (struct jsp_moments){ 0 };
}
