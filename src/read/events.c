/* read/events.c - marks and counters.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/events.h"

struct jsprof_read_events {
    jsprof_reader *reader;
    struct jsp_events of;
    struct jsp_events_groups groups[2]; /* made when they are asked for; [1] by message, too */
    bool has_groups[2];
};

/* Read the events of the processes of the chosen threads. */
static int events_read(jsprof_read_events *e)
{
    struct jsp_profile *p = &e->reader->profile;
    const bool *chosen = e->reader->choice.threads;
    struct jsp_events_of of = { 0 };
    int32_t *pids = chosen ? malloc(((size_t)p->n_threads + 1) * sizeof *pids) : NULL;
    if (chosen && !pids)
        return -ENOMEM;
    of.pids = pids;
    for (uint32_t i = 0; chosen && i < p->n_threads; i++)
        if (chosen[i])
            pids[of.n++] = p->threads[i].pid;
    int err = jsp_events_read(&e->of, p, of);
    free(pids);
    return err;
}

int jsprof_read_events_open(jsprof_read_events **out, jsprof_reader *r, jsprof_read_error *error)
{
    jsprof_read_events *e = calloc(1, sizeof *e);
    if (!e)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    e->reader = r;
    int err = events_read(e);
    if (err) {
        free(e);
        return jsp_reader_errno(error, err, NULL);
    }
    *out = e;
    return 0;
}

int64_t jsprof_read_marks(const jsprof_read_events *e, uint64_t first, jsprof_read_mark *out,
                          uint64_t n)
{
    jsprof_reader *r = e->reader;
    int64_t rows;
    if (!jsp_reader_range(e->of.n_marks, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_event_mark *from = &e->of.marks[first + i];
        const jsprof_read_mark mark = { .time = from->time - r->profile.start_time,
                                        .duration = from->duration, .process = from->pid,
                                        .group = jsp_reader_text(r, from->group),
                                        .name = jsp_reader_text(r, from->name),
                                        .message = jsp_reader_text(r, from->message) };
        if (!mark.group || !mark.name || !mark.message)
            return -ENOMEM;
        jsp_reader_give(out, i, &mark, sizeof mark);
    }
    return rows;
}

int64_t jsprof_read_counters(const jsprof_read_events *e, uint64_t first,
                             jsprof_read_counter *out, uint64_t n)
{
    jsprof_reader *r = e->reader;
    int64_t rows;
    if (!jsp_reader_range(e->of.n_counters, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_event_counter *from = &e->of.counters[first + i];
        const jsprof_read_counter counter = { .n_values = from->n_values, .process = from->pid,
                                              .is_real = from->is_real,
                                              .group = jsp_reader_text(r, from->group),
                                              .name = jsp_reader_text(r, from->name),
                                              .meaning = jsp_reader_text(r, from->what) };
        if (!counter.group || !counter.name || !counter.meaning)
            return -ENOMEM;
        jsp_reader_give(out, i, &counter, sizeof counter);
    }
    return rows;
}

int64_t jsprof_read_values(const jsprof_read_events *e, uint64_t first, jsprof_read_value *out,
                           uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(e->of.n_values, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_event_value *from = &e->of.values[first + i];
        const jsprof_read_value value = { .time = from->time - e->reader->profile.start_time,
                                          .value = from->value, .counter = from->counter };
        jsp_reader_give(out, i, &value, sizeof value);
    }
    return rows;
}

int jsprof_read_events_of(const jsprof_read_events *e, jsprof_read_events_sum *out)
{
    const jsprof_read_events_sum sum = { .marks = e->of.n_marks, .counters = e->of.n_counters,
                                         .values = e->of.n_values,
                                         .undefined = e->of.undefined };
    jsp_reader_give(out, 0, &sum, sizeof sum);
    return 0;
}

/* Make the groups. The values of counters remain in the order of the file. */
static int events_group(jsprof_read_events *e, bool by_message)
{
    struct jsp_events sorted = e->of;
    if (e->has_groups[by_message])
        return 0;
    sorted.values = malloc(((size_t)sorted.n_values + 1) * sizeof *sorted.values);
    if (!sorted.values)
        return -ENOMEM;
    if (sorted.n_values)
        memcpy(sorted.values, e->of.values, sorted.n_values * sizeof *sorted.values);
    int err = jsp_events_group(&e->groups[by_message], &sorted, by_message);
    free(sorted.values);
    if (err < 0)
        jsp_events_groups_free(&e->groups[by_message]);
    e->has_groups[by_message] = err == 0;
    return err;
}

static int64_t events_spreads(jsprof_read_events *e, struct jsp_events_groups *g, uint64_t first,
                              jsprof_read_spread *out, uint64_t n)
{
    jsprof_reader *r = e->reader;
    int64_t rows;
    if (!jsp_reader_range(g->n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_events_group *from = &g->at[first + i];
        const struct jsp_events_sum *s = &from->sum;
        const jsprof_read_spread row = {
            .is_counter = *from->kind == 'c', .group = jsp_reader_text(r, from->group),
            .name = jsp_reader_text(r, from->name), .message = jsp_reader_text(r, from->message),
            .n = s->n, .total = s->total, .min = s->min, .mean = s->mean, .median = s->median,
            .p95 = s->p95, .max = s->max, .last = s->last,
        };
        if (!row.group || !row.name || !row.message)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int64_t jsprof_read_spreads(jsprof_read_events *e, uint64_t first, jsprof_read_spread *out,
                            uint64_t n)
{
    int err = events_group(e, false);
    return err < 0 ? err : events_spreads(e, &e->groups[0], first, out, n);
}

int64_t jsprof_read_message_spreads(jsprof_read_events *e, uint64_t first,
                                    jsprof_read_spread *out, uint64_t n)
{
    int err = events_group(e, true);
    return err < 0 ? err : events_spreads(e, &e->groups[1], first, out, n);
}

void jsprof_read_events_close(jsprof_read_events *e)
{
    if (!e)
        return;
    jsp_events_free(&e->of);
    jsp_events_groups_free(&e->groups[0]);
    jsp_events_groups_free(&e->groups[1]);
    free(e);
}
