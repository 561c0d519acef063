/* page/spans.c - chooses and writes the spans of the timeline. See spans.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "spans.h"

#include <errno.h>
#include <stdlib.h>

#include "time.h"

enum {
    SPANS_MOST = 1000000,
    SPANS_BYTES = 6700000, /* a third more as text */
    SPANS_DELAYS = 250000, /* more spans have no delays */
    SPANS_STEP = 100,      /* ns */
    SPANS_LATE = 16700000, /* ns: a frame of a screen that shows 60 a second */
};

/* What to do with each span that is shown. */
typedef void spans_each(void *context, uint32_t capture, uint32_t thread,
                        const struct jsp_flow_span *span);

static void spans_walk(const struct jsp_page_spans *s, const struct jsp_html *h, spans_each *each,
                       void *context)
{
    for (uint32_t c = 0; c < h->n; c++)
        for (uint32_t t = 0; t < s->tasks[c].n_threads; t++) {
            struct jsp_flow_walk walk = { .thread = t };
            struct jsp_flow_span span;
            while (jsp_flows_next(&s->flows[c], &s->tasks[c], h->captures[c].profile, &walk,
                                  &span))
                each(context, c, t, &span);
        }
}

struct spans_durations {
    int64_t *list;
    uint64_t n;
};

static void spans_count(void *context, uint32_t capture, uint32_t thread,
                        const struct jsp_flow_span *span)
{
    struct spans_durations *d = context;
    (void)capture;
    (void)thread;
    if (d->list)
        d->list[d->n] = span->duration;
    d->n++;
}

static int spans_longer(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a < *b) - (*a > *b);
}

/* Keep this many spans at most: the longest. Of those that are as long as the shortest kept one,
 * none are kept. */
static int spans_keep(struct jsp_page_spans *s, const struct jsp_html *h, uint64_t most)
{
    struct spans_durations all = { NULL, 0 };
    spans_walk(s, h, spans_count, &all);
    uint64_t n = all.n;
    s->least = INT64_MIN;
    if (n <= most)
        return 0;
    all.list = malloc(n * sizeof *all.list);
    if (!all.list)
        return -ENOMEM;
    all.n = 0;
    spans_walk(s, h, spans_count, &all);
    qsort(all.list, n, sizeof *all.list, spans_longer);
    s->least = all.list[most] + 1;
    free(all.list);
    return 0;
}

static void spans_number(void *context, uint32_t capture, uint32_t thread,
                         const struct jsp_flow_span *span)
{
    struct jsp_page_spans *s = context;
    (void)thread;
    bool is_kept = span->duration >= s->least;
    s->n += is_kept;
    s->left_out += !is_kept;
    if (span->run != JSP_TASK_NONE)
        s->numbers[capture][span->run] = is_kept ? (uint32_t)s->n : 0;
}

static void spans_numbers(struct jsp_page_spans *s, const struct jsp_html *h)
{
    s->n = s->left_out = 0;
    spans_walk(s, h, spans_number, s);
    s->has_delays = s->n <= SPANS_DELAYS;
}

int jsp_page_spans_build(struct jsp_page_spans *s, const struct jsp_html *h)
{
    int err = 0;
    *s = (struct jsp_page_spans){ 0 };
    for (uint32_t c = 0; err == 0 && c < h->n; c++) {
        err = jsp_tasks_read(&s->tasks[c], h->captures[c].profile);
        if (err == 0)
            err = jsp_flows_build(&s->flows[c], &s->tasks[c], h->captures[c].profile,
                                  h->captures[c].select.threads);
        s->numbers[c] = calloc((size_t)s->tasks[c].n_runs + 1, sizeof *s->numbers[c]);
        if (!s->numbers[c])
            err = -ENOMEM;
    }
    if (err == 0)
        err = spans_keep(s, h, SPANS_MOST);
    if (err == 0)
        spans_numbers(s, h);
    return err;
}

void jsp_page_spans_free(struct jsp_page_spans *s)
{
    for (int c = 0; c < JSP_HTML_MOST; c++) {
        jsp_tasks_free(&s->tasks[c]);
        jsp_flows_free(&s->flows[c]);
        free(s->numbers[c]);
    }
}

/* -- Bytes ---------------------------------------------------------------------- */

struct spans_out {
    const struct jsp_page_spans *s;
    const struct jsp_html *h;
    struct jsp_page_bytes *bytes;
    uint32_t capture, thread; /* of the span before */
    uint64_t before, number;
};

static uint64_t spans_steps(int64_t ns)
{
    return ns > 0 ? (uint64_t)ns / SPANS_STEP : 0;
}

static void spans_one(void *context, uint32_t capture, uint32_t thread,
                      const struct jsp_flow_span *span)
{
    struct spans_out *o = context;
    const struct jsp_tasks *t = &o->s->tasks[capture];
    const struct jsp_flows *f = &o->s->flows[capture];
    uint64_t what = 0, base = 0, cause = 0;
    int64_t start = jsp_page_time_start(&o->h->captures[capture]), begin;
    if (span->duration < o->s->least)
        return;
    if (o->capture != capture || o->thread != thread)
        o->before = 0;
    o->capture = capture;
    o->thread = thread;
    o->number++;
    if (span->run != JSP_TASK_NONE) {
        const struct jsp_task_run *r = &t->runs[span->run];
        for (uint32_t c = 0; c < capture; c++)
            base += o->s->tasks[c].n_whats + 1; /* the last one: nobody knows */
        what = base + 1 + (r->task == JSP_TASK_NONE ? t->n_whats : t->tasks[r->task].what);
        if (f->of[span->run].from != JSP_TASK_NONE)
            cause = o->s->numbers[capture][f->of[span->run].from];
    }
    uint64_t at = __builtin_sub_overflow(span->begin, start, &begin) ? 0 : spans_steps(begin);
    jsp_page_varint(o->bytes, what << 1 | (cause != 0));
    jsp_page_varint(o->bytes, at > o->before ? at - o->before : 0);
    jsp_page_varint(o->bytes, spans_steps(span->duration));
    o->before = at > o->before ? at : o->before;
    int64_t back = (int64_t)(o->number - cause);
    if (cause)
        jsp_page_varint(o->bytes, (uint64_t)back << 1 ^ (uint64_t)(back >> 63));
    if (o->s->has_delays && what)
        jsp_page_varint(o->bytes, t->runs[span->run].delay < 0
                                      ? 0
                                      : spans_steps(t->runs[span->run].delay) + 1);
}

int jsp_page_spans_encode(struct jsp_page_spans *s, const struct jsp_html *h,
                          struct jsp_page_bytes *out)
{
    for (int round = 0; round < 8; round++) {
        struct spans_out o = { .s = s, .h = h, .bytes = out };
        out->n = 0;
        spans_walk(s, h, spans_one, &o);
        if (out->error || out->n <= SPANS_BYTES)
            break;
        int err = spans_keep(s, h, (uint64_t)s->n * SPANS_BYTES / out->n * 98 / 100);
        if (err < 0)
            return err;
        spans_numbers(s, h);
    }
    return out->error;
}

/* -- What is not in the bytes ---------------------------------------------------- */

struct spans_lanes {
    const struct jsp_page_spans *s;
    uint32_t *n[JSP_HTML_MOST]; /* spans of each thread */
};

static void spans_of_lane(void *context, uint32_t capture, uint32_t thread,
                          const struct jsp_flow_span *span)
{
    struct spans_lanes *l = context;
    if (span->duration >= l->s->least)
        l->n[capture][thread]++;
}

static void spans_whats(const struct jsp_page_spans *s, const struct jsp_html *h,
                        struct jsp_json *j)
{
    jsp_json_key_open(j, "whats", '[');
    for (uint32_t c = 0; c < h->n; c++) {
        for (uint32_t i = 0; i < s->tasks[c].n_whats; i++) {
            const struct jsp_task_what *w = &s->tasks[c].whats[i];
            jsp_json_bytes(j, w->kind.at, w->kind.len);
            jsp_json_bytes(j, w->name.at, w->name.len);
        }
        jsp_json_text(j, "");
        jsp_json_text(j, "[unknown task]");
    }
    jsp_json_close(j, ']');
}

int jsp_page_spans_put(const struct jsp_page_spans *s, const struct jsp_html *h,
                       struct jsp_json *j)
{
    struct spans_lanes lanes = { .s = s };
    uint64_t late = SPANS_LATE;
    bool has_all = true;
    if (s->n + s->left_out == 0)
        return 0;
    for (uint32_t c = 0; c < h->n; c++) {
        lanes.n[c] = calloc((size_t)s->tasks[c].n_threads + 1, sizeof *lanes.n[c]);
        has_all &= lanes.n[c] != NULL;
        if (h->captures[c].profile->stall_ns)
            late = h->captures[c].profile->stall_ns;
    }
    if (has_all) {
        spans_walk(s, h, spans_of_lane, &lanes);
        jsp_json_key_open(j, "runs", '{');
        jsp_json_key_u64(j, "n", s->n);
        jsp_json_key_u64(j, "left", s->left_out);
        jsp_json_key_u64(j, "least", s->least > 0 ? (uint64_t)s->least : 0);
        jsp_json_key_bool(j, "hasDelays", s->has_delays);
        jsp_json_key_u64(j, "step", SPANS_STEP);
        jsp_json_key_u64(j, "late", late);
        spans_whats(s, h, j);
        jsp_json_key_open(j, "lanes", '[');
        for (uint32_t c = 0; c < h->n; c++)
            for (uint32_t t = 0; t < s->tasks[c].n_threads; t++) {
                jsp_json_open(j, '[');
                jsp_json_u64(j, c);
                jsp_json_i64(j, s->tasks[c].threads[t].pid);
                jsp_json_i64(j, s->tasks[c].threads[t].tid);
                jsp_json_u64(j, lanes.n[c][t]);
                jsp_json_close(j, ']');
            }
        jsp_json_close(j, ']');
        jsp_json_close(j, '}');
    }
    for (uint32_t c = 0; c < h->n; c++)
        free(lanes.n[c]);
    return has_all ? 0 : -ENOMEM;
}
