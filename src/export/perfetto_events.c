/* export/perfetto_events.c - tasks, states, marks and counters on Perfetto's tracks.
 *
 * A span is an event at its begin and one at its end, and spans of one track must nest. Runs of
 * tasks and turns do, on the track of their thread. Marks need not, so marks that overlap go to
 * tracks of one name, which viewers show as one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "perfetto.h"
#include "shown_names.h"

enum { EVENTS_BEGIN = 1, EVENTS_END = 2, EVENTS_INSTANT = 3, EVENTS_COUNTER = 4 };

enum events_field {
    EVENTS_CATEGORY_ID = 3,
    EVENTS_ARGUMENT = 4,
    EVENTS_TYPE = 9,
    EVENTS_NAME_ID = 10,
    EVENTS_TRACK = 11,
    EVENTS_CATEGORY = 22,
    EVENTS_NAME = 23,
    EVENTS_REAL = 44,
    EVENTS_FLOW = 47,
    EVENTS_FLOW_ENDS = 48,
    EVENTS_STACK = 56,
};

/* Write the event that x->inner describes. */
static void events_put(struct perfetto *x, uint64_t track, int type, int64_t time)
{
    jsp_proto_u64(&x->inner, EVENTS_TYPE, (uint64_t)type);
    jsp_proto_u64(&x->inner, EVENTS_TRACK, track);
    perfetto_time(x, time);
    jsp_proto_nest(&x->packet, PERFETTO_EVENT, &x->inner);
    perfetto_end(x);
}

static void events_number(struct perfetto *x, enum perfetto_key key, uint64_t value)
{
    jsp_proto_u64(&x->part, 1, key);
    jsp_proto_u64(&x->part, 3, value);
    jsp_proto_nest(&x->inner, EVENTS_ARGUMENT, &x->part);
}

static void events_text(struct perfetto *x, enum perfetto_key key, struct jsp_read_text value)
{
    if (value.len == 0)
        return;
    jsp_proto_u64(&x->part, 1, key);
    perfetto_text(x, &x->part, 6, value);
    jsp_proto_nest(&x->inner, EVENTS_ARGUMENT, &x->part);
}

/* -- Tasks and turns ------------------------------------------------------------ */

struct events_open { /* the ends of the spans that are open, outer ones first */
    int64_t *ends;
    uint32_t n, room;
    uint64_t track;
};

static uint64_t events_track(const struct perfetto *x, uint32_t task_thread)
{
    const struct jsp_task_thread *t = &x->timeline.tasks.threads[task_thread];
    uint32_t at = x->timeline.task_thread[task_thread];
    return x->p->threads[at].pid == t->pid && x->p->threads[at].tid == t->tid
               ? perfetto_id(PERFETTO_OF_THREAD, at)
               : perfetto_id(PERFETTO_OF_TASKS, task_thread);
}

/* End the spans that end until this moment. */
static void events_close(struct perfetto *x, struct events_open *open, int64_t until)
{
    for (; open->n && open->ends[open->n - 1] <= until; open->n--)
        events_put(x, open->track, EVENTS_END, open->ends[open->n - 1]);
}

/* Begin the span that x->inner describes. It ends before the one around it does. */
static void events_begin(struct perfetto *x, struct events_open *open, int64_t begin, int64_t end)
{
    if (open->n && end > open->ends[open->n - 1])
        end = open->ends[open->n - 1];
    if (jsp_grow(&open->ends, &open->room, open->n, sizeof *open->ends) < 0) {
        x->error = -ENOMEM;
        return;
    }
    open->ends[open->n++] = end;
    events_put(x, open->track, EVENTS_BEGIN, begin);
}

static void events_name(struct perfetto *x, uint32_t task)
{
    const struct jsp_tasks *t = &x->timeline.tasks;
    if (task == JSP_TASK_NONE) {
        perfetto_text(x, &x->inner, EVENTS_NAME, perfetto_of("[unknown task]"));
        return;
    }
    const struct jsp_task_what *what = &t->whats[t->tasks[task].what];
    if (what->kind.len)
        jsp_proto_u64(&x->inner, EVENTS_CATEGORY_ID, t->tasks[task].what + 1);
    jsp_proto_u64(&x->inner, EVENTS_NAME_ID, t->tasks[task].what + 1);
    events_number(x, PERFETTO_KEY_TASK, t->tasks[task].number);
}

/* Describe a run. The number of a flow is the position + 1 of the run at which it ends. */
static void events_run(struct perfetto *x, uint32_t run)
{
    const struct jsp_flows *f = &x->timeline.flows;
    const struct jsp_task_run *r = &x->timeline.tasks.runs[run];
    events_name(x, r->task);
    for (uint32_t i = f->first[run]; i < f->first[run + 1]; i++)
        if (f->is_shown[f->caused[i]])
            jsp_proto_fixed(&x->inner, EVENTS_FLOW, (uint64_t)f->caused[i] + 1);
    if (f->of[run].from != JSP_TASK_NONE && f->is_shown[f->of[run].from])
        jsp_proto_fixed(&x->inner, EVENTS_FLOW_ENDS, (uint64_t)run + 1);
    if (r->delay >= 0)
        events_number(x, PERFETTO_KEY_DELAY, (uint64_t)r->delay);
    if (r->is_open || r->is_left)
        events_text(x, PERFETTO_KEY_END,
                    perfetto_of(r->is_open ? "it has none" : "that of the run around it"));
}

static void events_thread(struct perfetto *x, uint32_t thread)
{
    struct events_open open = { .track = events_track(x, thread) };
    struct jsp_flow_walk walk = { .thread = thread };
    struct jsp_flow_span span;
    while (jsp_flows_next(&x->timeline.flows, &x->timeline.tasks, x->p, &walk, &span)) {
        events_close(x, &open, span.begin);
        if (span.run == JSP_TASK_NONE)
            perfetto_text(x, &x->inner, EVENTS_NAME, perfetto_of("turn"));
        else
            events_run(x, span.run);
        events_begin(x, &open, span.begin, jsp_flows_end(span.begin, span.duration));
    }
    events_close(x, &open, INT64_MAX);
    free(open.ends);
}

void perfetto_tasks(struct perfetto *x)
{
    const struct jsp_tasks *t = &x->timeline.tasks;
    for (uint32_t i = 0; i < t->n_threads; i++)
        events_thread(x, i);
    for (uint32_t i = 0; i < t->n_tasks; i++) {
        const struct jsp_task *k = &t->tasks[i];
        if (k->stack == JSP_TASK_NONE ||
            !jsp_flows_shows(&x->timeline.flows, x->p, k->thread, k->time, 0))
            continue;
        perfetto_text(x, &x->inner, EVENTS_CATEGORY, perfetto_of("made"));
        events_name(x, i);
        jsp_proto_u64(&x->inner, EVENTS_STACK, perfetto_made(x, k->stack));
        events_put(x, events_track(x, k->thread), EVENTS_INSTANT, k->time);
    }
}

/* -- States --------------------------------------------------------------------- */

void perfetto_states(struct perfetto *x)
{
    for (uint32_t t = 0; t < x->p->n_threads; t++) {
        uint64_t track = perfetto_id(PERFETTO_OF_STATE, t);
        struct jsp_moments_span span;
        uint32_t at = 0;
        bool has_track = false;
        while (jsp_moments_next_span(&x->from.moments, x->p, JSP_MOMENTS_STATE, t, &at, &span)) {
            const struct jsp_profile_state *s = &x->p->states[span.what];
            if (!has_track)
                perfetto_track(x, track, perfetto_id(PERFETTO_OF_THREAD, t),
                               perfetto_of("state"));
            has_track = true;
            perfetto_text(x, &x->inner, EVENTS_CATEGORY, perfetto_of("thread state"));
            perfetto_text(x, &x->inner, EVENTS_NAME, perfetto_of(jsp_states[s->state].name));
            events_text(x, PERFETTO_KEY_DETAIL, s->detail);
            events_put(x, track, EVENTS_BEGIN, span.from);
            events_put(x, track, EVENTS_END, span.to);
        }
    }
}

/* -- Labels --------------------------------------------------------------------- */

void perfetto_labels(struct perfetto *x)
{
    for (uint32_t t = 0; t < x->p->n_threads; t++) {
        uint64_t track = perfetto_id(PERFETTO_OF_LABELS, t);
        struct jsp_moments_span span;
        char text[JSP_NAMES_LABELS];
        uint32_t at = 0;
        bool has_track = false;
        while (jsp_moments_next_span(&x->from.moments, x->p, JSP_MOMENTS_LABELS, t, &at, &span)) {
            if (!has_track)
                perfetto_track(x, track, perfetto_id(PERFETTO_OF_THREAD, t),
                               perfetto_of("labels"));
            has_track = true;
            perfetto_text(x, &x->inner, EVENTS_CATEGORY, perfetto_of("labels"));
            perfetto_text(x, &x->inner, EVENTS_NAME,
                          jsp_shown_labels_text(text, &x->p->labels.sets[span.what]));
            events_put(x, track, EVENTS_BEGIN, span.from);
            events_put(x, track, EVENTS_END, span.to);
        }
    }
}

/* -- Marks ---------------------------------------------------------------------- */

struct events_lane {
    int64_t end;
    uint32_t track;
};

/* The tracks of one group of one process: a heap, the one that ends first on top. */
struct events_lanes {
    struct events_lane *heap;
    uint32_t n, room;
    uint32_t n_tracks; /* of all groups */
};

static void events_sink(struct events_lanes *l)
{
    struct events_lane moved = l->heap[0];
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < l->n; at = child) {
        if (child + 1 < l->n && l->heap[child + 1].end < l->heap[child].end)
            child++;
        if (l->heap[child].end >= moved.end)
            break;
        l->heap[at] = l->heap[child];
    }
    l->heap[at] = moved;
}

/* Return a track that is free until this moment; a new one goes to the end of the heap, whose
 * other tracks end later than it begins, and rises from there. */
static uint32_t events_lane(struct perfetto *x, struct events_lanes *l,
                            const struct jsp_event_mark *m)
{
    int64_t end = jsp_flows_end(m->time, m->duration);
    if (l->n && l->heap[0].end <= m->time) {
        uint32_t track = l->heap[0].track;
        l->heap[0].end = end;
        events_sink(l);
        return track;
    }
    if (jsp_grow(&l->heap, &l->room, l->n, sizeof *l->heap) < 0) {
        x->error = -ENOMEM;
        return 0;
    }
    uint32_t at = l->n++;
    for (; at && l->heap[(at - 1) / 2].end > end; at = (at - 1) / 2)
        l->heap[at] = l->heap[(at - 1) / 2];
    l->heap[at] = (struct events_lane){ end, l->n_tracks };
    perfetto_track(x, perfetto_id(PERFETTO_OF_MARKS, l->n_tracks), perfetto_process(x, m->pid),
                   m->group.len ? m->group : perfetto_of("marks"));
    return l->n_tracks++;
}

static int events_compare_texts(struct jsp_read_text a, struct jsp_read_text b)
{
    uint32_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.at, b.at, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int events_compare_marks(const void *left, const void *right)
{
    const struct jsp_event_mark *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    int order = events_compare_texts(a->group, b->group);
    return order ? order : (a->time > b->time) - (a->time < b->time);
}

void perfetto_marks(struct perfetto *x)
{
    struct jsp_events *e = &x->timeline.events;
    struct events_lanes lanes = { 0 };
    if (e->n_marks)
        qsort(e->marks, e->n_marks, sizeof *e->marks, events_compare_marks);
    for (uint32_t i = 0; i < e->n_marks; i++) {
        const struct jsp_event_mark *m = &e->marks[i];
        if (i && (m->pid != m[-1].pid || events_compare_texts(m->group, m[-1].group)))
            lanes.n = 0;
        uint64_t track = perfetto_id(PERFETTO_OF_MARKS, events_lane(x, &lanes, m));
        perfetto_text(x, &x->inner, EVENTS_CATEGORY, m->group);
        perfetto_text(x, &x->inner, EVENTS_NAME, m->name);
        events_text(x, PERFETTO_KEY_MESSAGE, m->message);
        events_put(x, track, m->duration ? EVENTS_BEGIN : EVENTS_INSTANT, m->time);
        if (m->duration)
            events_put(x, track, EVENTS_END, jsp_flows_end(m->time, m->duration));
    }
    free(lanes.heap);
}

/* -- Counters ------------------------------------------------------------------- */

void perfetto_counters(struct perfetto *x)
{
    const struct jsp_events *e = &x->timeline.events;
    for (uint32_t i = 0; i < e->n_counters; i++) {
        jsp_proto_nest(&x->inner, 8, &x->part);
        perfetto_text(x, &x->inner, 14, e->counters[i].what);
        perfetto_track(x, perfetto_id(PERFETTO_OF_COUNTER, i),
                       perfetto_process(x, e->counters[i].pid), e->counters[i].name);
    }
    for (uint32_t i = 0; i < e->n_values; i++) {
        const struct jsp_event_value *v = &e->values[i];
        uint64_t bits;
        memcpy(&bits, &v->value, sizeof bits);
        jsp_proto_fixed(&x->inner, EVENTS_REAL, bits);
        events_put(x, perfetto_id(PERFETTO_OF_COUNTER, v->counter), EVENTS_COUNTER, v->time);
    }
}
