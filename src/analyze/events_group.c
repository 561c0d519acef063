/* analyze/events_group.c - sums of marks and counters, by group and name.
 *
 * SPDX-License-Identifier: MIT
 */
#include "events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

/* Sort values that are not a number to the end. */
static int events_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (x != x || y != y)
        return (x != x) - (y != y);
    return (x > y) - (x < y);
}

struct jsp_events_sum jsp_events_sum(double *values, uint32_t n)
{
    struct jsp_events_sum s = { .n = n, .last = values[n - 1] };
    qsort(values, n, sizeof *values, events_compare);
    for (uint32_t i = 0; i < n; i++)
        s.total += values[i];
    s.min = values[0];
    s.max = values[n - 1];
    s.mean = s.total / n;
    s.median = values[(n - 1) / 2];
    s.p95 = values[(uint32_t)(((uint64_t)n * 95 + 99) / 100) - 1]; /* the nearest rank */
    return s;
}

static int events_add(struct jsp_events_groups *g, struct jsp_events_group group,
                      double *values, uint32_t n)
{
    if (jsp_grow(&g->at, &g->room, g->n, sizeof *g->at) < 0)
        return -ENOMEM;
    group.sum = jsp_events_sum(values, n);
    g->at[g->n++] = group;
    return 0;
}

static int events_text_compare(struct jsp_read_text a, struct jsp_read_text b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int events_mark_compare(const void *a, const void *b)
{
    const struct jsp_event_mark *x = *(const struct jsp_event_mark *const *)a;
    const struct jsp_event_mark *y = *(const struct jsp_event_mark *const *)b;
    int order = events_text_compare(x->group, y->group);
    return order ? order : events_text_compare(x->name, y->name);
}

static int events_message_compare(const void *a, const void *b)
{
    const struct jsp_event_mark *x = *(const struct jsp_event_mark *const *)a;
    const struct jsp_event_mark *y = *(const struct jsp_event_mark *const *)b;
    int order = events_mark_compare(a, b);
    return order ? order : events_text_compare(x->message, y->message);
}

/* Compare groups of marks with messages: the most frequent message of a name comes first. */
static int events_group_compare(const void *a, const void *b)
{
    const struct jsp_events_group *x = a, *y = b;
    int order = events_text_compare(x->group, y->group);
    order = order ? order : events_text_compare(x->name, y->name);
    order = order ? order : (x->sum.n < y->sum.n) - (x->sum.n > y->sum.n);
    return order ? order : events_text_compare(x->message, y->message);
}

/* Make a group of each run of equal marks in the sorted ones. */
static int events_marks(struct jsp_events_groups *g, const struct jsp_events *e,
                        bool by_message, double *values)
{
    int (*compare)(const void *, const void *) = by_message ? events_message_compare
                                                            : events_mark_compare;
    uint32_t n = e->n_marks;
    const struct jsp_event_mark **order = malloc((n + 1) * sizeof *order);
    int err = order ? 0 : -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < n; i++)
        order[i] = &e->marks[i];
    if (err == 0)
        qsort(order, n, sizeof *order, compare);
    for (uint32_t at = 0, run; err == 0 && at < n; at += run) {
        for (run = 0; at + run < n; run++) {
            if (run && compare(&order[at], &order[at + run]) != 0)
                break;
            values[run] = (double)order[at + run]->duration;
        }
        struct jsp_events_group group = { .group = order[at]->group,
                                          .name = order[at]->name,
                                          .kind = "mark" };
        if (by_message)
            group.message = order[at]->message;
        err = events_add(g, group, values, run);
    }
    if (err == 0 && by_message && g->n)
        qsort(g->at, g->n, sizeof *g->at, events_group_compare);
    free(order);
    return err;
}

static int events_value_compare(const void *a, const void *b)
{
    const struct jsp_event_value *x = a, *y = b;
    if (x->counter != y->counter)
        return x->counter < y->counter ? -1 : 1;
    return (x->time > y->time) - (x->time < y->time);
}

static int events_counters(struct jsp_events_groups *g, struct jsp_events *e, double *values)
{
    int err = 0;
    if (e->n_values)
        qsort(e->values, e->n_values, sizeof *e->values, events_value_compare);
    for (uint32_t at = 0, run; err == 0 && at < e->n_values; at += run) {
        const struct jsp_event_counter *c = &e->counters[e->values[at].counter];
        for (run = 0; at + run < e->n_values; run++) {
            if (e->values[at + run].counter != e->values[at].counter)
                break;
            values[run] = e->values[at + run].value;
        }
        struct jsp_events_group group = { .group = c->group,
                                          .name = c->name,
                                          .kind = "counter" };
        err = events_add(g, group, values, run);
    }
    return err;
}

int jsp_events_group(struct jsp_events_groups *g, struct jsp_events *e, bool by_message)
{
    uint32_t most = e->n_marks > e->n_values ? e->n_marks : e->n_values;
    double *values = malloc(((size_t)most + 1) * sizeof *values);
    *g = (struct jsp_events_groups){ 0 };
    int err = values ? events_marks(g, e, by_message, values) : -ENOMEM;
    if (err == 0)
        err = events_counters(g, e, values);
    free(values);
    return err;
}

void jsp_events_groups_free(struct jsp_events_groups *g)
{
    free(g->at);
    *g = (struct jsp_events_groups){ 0 };
}
