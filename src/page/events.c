/* page/events.c - marks and counters of a page, as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "meta.h"

#include <errno.h>
#include <stdlib.h>

#include "time.h"

enum { EVENTS_MARKS = 5000, EVENTS_POINTS = 2000, EVENTS_COUNTERS = 64 };

static int events_longer(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

/* Find the least duration of marks that the page gets, so that they are not too many. */
static int events_least(struct jsp_page_events *e, uint32_t n_captures, uint64_t n)
{
    int64_t *durations = n > EVENTS_MARKS ? calloc(n, sizeof *durations) : NULL;
    uint64_t at = 0;
    e->least = INT64_MIN;
    if (n <= EVENTS_MARKS)
        return 0;
    if (!durations)
        return -ENOMEM;
    for (uint32_t c = 0; c < n_captures; c++)
        for (uint32_t i = 0; i < e->of[c].n_marks; i++)
            durations[at++] = e->of[c].marks[i].duration;
    qsort(durations, n, sizeof *durations, events_longer);
    e->least = durations[EVENTS_MARKS - 1];
    free(durations);
    return 0;
}

int jsp_page_events_build(struct jsp_page_events *e, const struct jsp_html *h)
{
    uint64_t n = 0;
    int err = 0;
    memset(e, 0, sizeof *e);
    for (uint32_t c = 0; err == 0 && c < h->n; c++) {
        err = jsp_events_read(&e->of[c], h->captures[c].profile,
                              (struct jsp_events_of){ NULL, 0 });
        if (err == 0)
            err = jsp_events_group(&e->groups[c], &e->of[c], false);
        n += e->of[c].n_marks;
    }
    if (err == 0)
        err = events_least(e, h->n, n);
    e->left_out = n > EVENTS_MARKS ? n - EVENTS_MARKS : 0;
    return err;
}

void jsp_page_events_free(struct jsp_page_events *e)
{
    for (int c = 0; c < JSP_HTML_MOST; c++) {
        jsp_events_free(&e->of[c]);
        jsp_events_groups_free(&e->groups[c]);
    }
}

static int64_t events_us(const struct jsp_page_capture *c, int64_t time)
{
    int64_t start = jsp_page_time_start(c);
    return time > start ? (int64_t)(((uint64_t)time - (uint64_t)start) / 1000) : 0;
}

static void events_text(struct jsp_json *j, struct jsp_read_text t)
{
    jsp_json_bytes(j, t.at, t.len);
}

static void events_marks(const struct jsp_page_events *e, const struct jsp_html *h,
                         struct jsp_json *j)
{
    uint32_t written = 0;
    jsp_json_key_open(j, "marks", '{');
    jsp_json_key_open(j, "list", '[');
    for (uint32_t c = 0; c < h->n; c++)
        for (uint32_t i = 0; i < e->of[c].n_marks && written < EVENTS_MARKS; i++)
            if (e->of[c].marks[i].duration >= e->least) {
                const struct jsp_event_mark *m = &e->of[c].marks[i];
                jsp_json_open(j, '[');
                jsp_json_u64(j, c);
                jsp_json_i64(j, events_us(&h->captures[c], m->time));
                jsp_json_us(j, m->duration > 0 ? (uint64_t)m->duration : 0);
                events_text(j, m->group);
                events_text(j, m->name);
                events_text(j, m->message);
                jsp_json_close(j, ']');
                written++;
            }
    jsp_json_close(j, ']');
    jsp_json_key_u64(j, "left", e->left_out);
    jsp_json_close(j, '}');
}

/* The points of one counter: the smallest and the largest of each run of `step`
 * values. */
struct events_line {
    const struct jsp_page_capture *capture;
    uint32_t step, n;
    const struct jsp_event_value *least, *largest;
};

static void events_point(struct jsp_json *j, const struct events_line *l,
                         const struct jsp_event_value *v)
{
    jsp_json_i64(j, events_us(l->capture, v->time));
    jsp_json_double(j, v->value);
}

static void events_flush(struct jsp_json *j, struct events_line *l)
{
    bool is_up = l->n && l->least->time <= l->largest->time;
    if (l->n)
        events_point(j, l, is_up ? l->least : l->largest);
    if (l->n && l->least != l->largest)
        events_point(j, l, is_up ? l->largest : l->least);
    l->n = 0;
}

static void events_add(struct jsp_json *j, struct events_line *l,
                       const struct jsp_event_value *v)
{
    if (l->n == 0)
        l->least = l->largest = v;
    if (v->value < l->least->value)
        l->least = v;
    if (v->value > l->largest->value)
        l->largest = v;
    if (++l->n >= l->step)
        events_flush(j, l);
}

static void events_counter(struct jsp_json *j, const struct jsp_html *h, uint32_t capture,
                           const struct jsp_events *e, uint32_t which)
{
    const struct jsp_event_counter *counter = &e->counters[which];
    struct events_line l = { .capture = &h->captures[capture] };
    l.step = 1 + 2 * (counter->n_values / EVENTS_POINTS);
    jsp_json_open(j, '{');
    jsp_json_key_u64(j, "capture", capture);
    jsp_json_key(j, "group");
    events_text(j, counter->group);
    jsp_json_key(j, "name");
    events_text(j, counter->name);
    jsp_json_key(j, "what");
    events_text(j, counter->what);
    jsp_json_key_u64(j, "step", l.step);
    jsp_json_key_open(j, "points", '[');
    for (uint32_t i = 0; i < e->n_values; i++)
        if (e->values[i].counter == which)
            events_add(j, &l, &e->values[i]);
    events_flush(j, &l);
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
}

static void events_sums(const struct jsp_page_events *e, const struct jsp_html *h,
                        struct jsp_json *j)
{
    jsp_json_key_open(j, "eventSums", '[');
    for (uint32_t c = 0; c < h->n; c++)
        for (uint32_t i = 0; i < e->groups[c].n; i++) {
            const struct jsp_events_group *g = &e->groups[c].at[i];
            const struct jsp_events_sum *s = &g->sum;
            const double figures[] = { s->total, s->min, s->mean, s->median, s->p95, s->max };
            jsp_json_open(j, '[');
            jsp_json_u64(j, c);
            jsp_json_text(j, g->kind);
            events_text(j, g->group);
            events_text(j, g->name);
            jsp_json_u64(j, s->n);
            for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
                jsp_json_double(j, figures[k]);
            jsp_json_close(j, ']');
        }
    jsp_json_close(j, ']');
}

void jsp_page_events_put(const struct jsp_page_events *e, const struct jsp_html *h,
                         struct jsp_json *j)
{
    uint64_t left_out = 0;
    events_marks(e, h, j);
    jsp_json_key_open(j, "counters", '[');
    for (uint32_t c = 0; c < h->n; c++)
        for (uint32_t i = 0; i < e->of[c].n_counters; i++) {
            if (i < EVENTS_COUNTERS)
                events_counter(j, h, c, &e->of[c], i);
            else
                left_out++;
        }
    jsp_json_close(j, ']');
    jsp_json_key_u64(j, "countersLeft", left_out);
    events_sums(e, h, j);
}
