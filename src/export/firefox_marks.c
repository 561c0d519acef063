/* export/firefox_marks.c - marks, tasks and counters in the Firefox Profiler's format.
 *
 * A counter's values are written as changes. What a thread was doing is a mark of each span of
 * one state, and a run of a task or a turn of a loop is one, too. A run that caused others has a
 * flow with its number, and these have the same flow: the viewer links them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "firefox.h"

#include <stdio.h>

/* The fields of a mark that the program made, of a span of one state of a thread, and of a run. */
struct marks_field {
    const char *key, *label, *format;
};

static const struct marks_schema {
    const char *name, *table, *chart, *means;
    struct marks_field fields[5];
} marks_schemas[] = {
    { "jsprof", "{marker.data.group} {marker.data.message}", "{marker.data.message}",
      "A mark that the program made.",
      { { "group", "Group", "string" }, { "message", "Message", "string" } } },
    { "jsprof-state", "{marker.data.state} {marker.data.detail}",
      "{marker.data.state} {marker.data.detail}", "What the thread was doing.",
      { { "state", "State", "string" },
        { "detail", "System call, or what the host waits for", "string" } } },
    { "jsprof-task", "{marker.data.name}", "{marker.data.name}",
      "A run of a task, or a turn of the loop.",
      { { "name", "Task", "string" },
        { "task", "Number", "integer" },
        { "delay", "Until it ran", "duration" },
        { "flow", "Caused", "flow-id" },
        { "cause", "Caused by", "flow-id" } } },
    { "jsprof-labels", "{marker.data.labels}", "{marker.data.labels}",
      "The labels that the thread had.", { { "labels", "Labels", "string" } } },
};

static void marks_schema(struct jsp_json *j, const struct marks_schema *s)
{
    static const char *const where[] = { "marker-chart", "marker-table",
                                         "timeline-overview" };
    jsp_json_open(j, '{');
    jsp_json_key_text(j, "name", s->name);
    jsp_json_key_text(j, "tableLabel", s->table);
    jsp_json_key_text(j, "chartLabel", s->chart);
    jsp_json_key_text(j, "description", s->means);
    jsp_json_key_open(j, "display", '[');
    for (size_t i = 0; i < sizeof where / sizeof *where; i++)
        jsp_json_text(j, where[i]);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "fields", '[');
    for (const struct marks_field *f = s->fields; f < s->fields + 5 && f->key; f++) {
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "key", f->key);
        jsp_json_key_text(j, "label", f->label);
        jsp_json_key_text(j, "format", f->format);
        jsp_json_key_bool(j, "searchable", true);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
}

void firefox_mark_schema(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "markerSchema", '[');
    marks_schema(j, &marks_schemas[0]);
    if (jsp_profile_has_states(x->p))
        marks_schema(j, &marks_schemas[1]);
    if (x->timeline.tasks.n_runs || x->timeline.tasks.n_turns)
        marks_schema(j, &marks_schemas[2]);
    if (x->p->labels.n_sets > 1)
        marks_schema(j, &marks_schemas[3]);
    jsp_json_close(j, ']');
}

enum marks_column {
    MARKS_DATA,
    MARKS_NAME,
    MARKS_START,
    MARKS_END,
    MARKS_PHASE,
    MARKS_CATEGORY,
};

static void marks_data(struct jsp_json *j, const struct marks_schema *s,
                       const struct jsp_read_text texts[2])
{
    jsp_json_open(j, '{');
    jsp_json_key_text(j, "type", s->name);
    for (int i = 0; i < 2; i++) {
        jsp_json_key(j, s->fields[i].key);
        jsp_json_bytes(j, texts[i].at, texts[i].len);
    }
    jsp_json_close(j, '}');
}

static void marks_cell(struct firefox *x, const struct jsp_event_mark *m,
                       enum marks_column column)
{
    struct jsp_json *j = &x->json;
    switch (column) {
    case MARKS_DATA:
        marks_data(j, &marks_schemas[0], (struct jsp_read_text[]){ m->group, m->message });
        break;
    case MARKS_NAME: jsp_json_u64(j, jsp_strings_add(&x->strings, m->name)); break;
    case MARKS_START: firefox_time(x, m->time); break;
    case MARKS_END:
        if (m->duration > 0)
            firefox_time(x, (int64_t)((uint64_t)m->time + (uint64_t)m->duration));
        else
            jsp_json_null(j);
        break;
    case MARKS_PHASE: jsp_json_u64(j, m->duration > 0); break; /* interval or instant */
    case MARKS_CATEGORY: jsp_json_u64(j, 0); break;
    }
}

static void marks_state_cell(struct firefox *x, const struct jsp_moments_span *span,
                             enum marks_column column)
{
    static const struct jsp_read_text row = { "Thread state", 12 };
    const struct jsp_profile_state *s = &x->p->states[span->what];
    const char *name = jsp_states[s->state].name;
    struct jsp_json *j = &x->json;
    switch (column) {
    case MARKS_DATA:
        marks_data(j, &marks_schemas[1],
                   (struct jsp_read_text[]){ { name, (uint32_t)strlen(name) }, s->detail });
        break;
    case MARKS_NAME: jsp_json_u64(j, jsp_strings_add(&x->strings, row)); break;
    case MARKS_START: firefox_time(x, span->from); break;
    case MARKS_END: firefox_time(x, span->to); break;
    case MARKS_PHASE: jsp_json_u64(j, 1); break;
    case MARKS_CATEGORY: jsp_json_u64(j, 0); break;
    }
}

/* Write one column of the spans of the thread's states. Return how many there are. */
static uint32_t marks_states(struct firefox *x, uint32_t thread, enum marks_column column)
{
    struct jsp_moments_span span;
    uint32_t at = 0, n = 0;
    for (; jsp_moments_next_span(&x->from.moments, x->p, JSP_MOMENTS_STATE, thread, &at, &span);
         n++)
        marks_state_cell(x, &span, column);
    return n;
}

static void marks_labels_cell(struct firefox *x, const struct jsp_moments_span *span,
                              enum marks_column column)
{
    static const struct jsp_read_text row = { "Labels", 6 };
    struct jsp_json *j = &x->json;
    char text[JSP_NAMES_LABELS];
    if (column == MARKS_DATA) {
        struct jsp_read_text labels =
            jsp_shown_labels_text(text, &x->p->labels.sets[span->what]);
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "type", "jsprof-labels");
        jsp_json_key(j, "labels");
        jsp_json_bytes(j, labels.at, labels.len);
        jsp_json_close(j, '}');
    } else if (column == MARKS_START || column == MARKS_END) {
        firefox_time(x, column == MARKS_START ? span->from : span->to);
    } else {
        jsp_json_u64(j, column == MARKS_NAME ? jsp_strings_add(&x->strings, row)
                                             : column == MARKS_PHASE);
    }
}

/* Write one column of the spans of the thread's labels. Return how many there are. */
static uint32_t marks_labels(struct firefox *x, uint32_t thread, enum marks_column column)
{
    struct jsp_moments_span span;
    uint32_t at = 0, n = 0;
    for (; jsp_moments_next_span(&x->from.moments, x->p, JSP_MOMENTS_LABELS, thread, &at, &span);
         n++)
        marks_labels_cell(x, &span, column);
    return n;
}

static void marks_flow(struct firefox *x, const char *key, uint32_t run)
{
    char id[16];
    int n = snprintf(id, sizeof id, "%x", run + 1);
    jsp_json_key_u64(&x->json, key,
                     jsp_strings_add(&x->strings, (struct jsp_read_text){ id, (uint32_t)n }));
}

/* Return true if the run caused one that is shown. */
static bool marks_has_caused(const struct jsp_flows *f, uint32_t run)
{
    for (uint32_t i = f->first[run]; i < f->first[run + 1]; i++)
        if (f->is_shown[f->caused[i]])
            return true;
    return false;
}

static void marks_task_data(struct firefox *x, uint32_t run)
{
    static const struct jsp_read_text turn = { "turn", 4 }, unknown = { "[unknown task]", 14 };
    const struct jsp_tasks *t = &x->timeline.tasks;
    const struct jsp_flows *f = &x->timeline.flows;
    const struct jsp_task_run *r = run == JSP_TASK_NONE ? NULL : &t->runs[run];
    bool is_known = r && r->task != JSP_TASK_NONE;
    struct jsp_read_text name = is_known ? t->whats[t->tasks[r->task].what].name
                                : r      ? unknown
                                         : turn;
    struct jsp_json *j = &x->json;
    jsp_json_open(j, '{');
    jsp_json_key_text(j, "type", "jsprof-task");
    jsp_json_key(j, "name");
    jsp_json_bytes(j, name.at, name.len);
    if (is_known)
        jsp_json_key_u64(j, "task", t->tasks[r->task].number);
    if (r && r->delay >= 0) {
        jsp_json_key(j, "delay");
        jsp_json_ms(j, (uint64_t)r->delay);
    }
    if (r && marks_has_caused(f, run))
        marks_flow(x, "flow", run);
    if (r && f->of[run].from != JSP_TASK_NONE && f->is_shown[f->of[run].from])
        marks_flow(x, "cause", f->of[run].from);
    jsp_json_close(j, '}');
}

static void marks_task_cell(struct firefox *x, const struct jsp_flow_span *span,
                            enum marks_column column)
{
    static const struct jsp_read_text turn = { "Turn", 4 }, task = { "Task", 4 };
    const struct jsp_tasks *t = &x->timeline.tasks;
    uint32_t of = span->run == JSP_TASK_NONE ? JSP_TASK_NONE : t->runs[span->run].task;
    struct jsp_read_text kind = of == JSP_TASK_NONE ? task : t->whats[t->tasks[of].what].kind;
    struct jsp_json *j = &x->json;
    switch (column) {
    case MARKS_DATA: marks_task_data(x, span->run); break;
    case MARKS_NAME:
        jsp_json_u64(j, jsp_strings_add(&x->strings, span->run == JSP_TASK_NONE ? turn
                                                     : kind.len                 ? kind
                                                                                : task));
        break;
    case MARKS_START: firefox_time(x, span->begin); break;
    case MARKS_END: firefox_time(x, jsp_flows_end(span->begin, span->duration)); break;
    case MARKS_PHASE: jsp_json_u64(j, 1); break;
    case MARKS_CATEGORY: jsp_json_u64(j, 0); break;
    }
}

/* Write one column of the runs and turns that are listed with the thread. Return how many there
 * are. */
static uint32_t marks_tasks(struct firefox *x, uint32_t thread, enum marks_column column)
{
    const struct jsp_timeline *t = &x->timeline;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->tasks.n_threads; i++) {
        struct jsp_flow_walk walk = { .thread = i };
        struct jsp_flow_span span;
        while (t->task_thread[i] == thread &&
               jsp_flows_next(&t->flows, &t->tasks, x->p, &walk, &span)) {
            marks_task_cell(x, &span, column);
            n++;
        }
    }
    return n;
}

void firefox_marks(struct firefox *x, uint32_t thread)
{
    static const char *const names[] = { "data",    "name",  "startTime",
                                         "endTime", "phase", "category" };
    struct jsp_json *j = &x->json;
    const struct jsp_timeline *t = &x->timeline;
    uint32_t first = t->marks_first[thread], n = t->marks_first[thread + 1] - first, spans = 0;
    jsp_json_key_open(j, "markers", '{');
    for (int column = MARKS_DATA; column <= MARKS_CATEGORY; column++) {
        jsp_json_key_open(j, names[column], '[');
        for (uint32_t i = 0; i < n; i++)
            marks_cell(x, &t->events.marks[t->marks[first + i]],
                       (enum marks_column)column);
        spans = marks_states(x, thread, (enum marks_column)column);
        spans += marks_labels(x, thread, (enum marks_column)column);
        spans += marks_tasks(x, thread, (enum marks_column)column);
        jsp_json_close(j, ']');
    }
    jsp_json_key_u64(j, "length", n + spans);
    jsp_json_close(j, '}');
}

static void marks_counter_samples(struct firefox *x, uint32_t counter)
{
    struct jsp_json *j = &x->json;
    const struct jsp_timeline *t = &x->timeline;
    uint32_t first = t->values_first[counter], end = t->values_first[counter + 1];
    double before = 0;
    jsp_json_key_open(j, "samples", '{');
    jsp_json_key_open(j, "time", '[');
    for (uint32_t i = first; i < end; i++)
        firefox_time(x, t->events.values[t->values[i]].time);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "count", '[');
    for (uint32_t i = first; i < end; i++) {
        double value = t->events.values[t->values[i]].value;
        jsp_json_double(j, value - before);
        before = value;
    }
    jsp_json_close(j, ']');
    jsp_json_key_u64(j, "length", end - first);
    jsp_json_close(j, '}');
}

void firefox_counters(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "counters", '[');
    for (uint32_t i = 0; i < x->timeline.events.n_counters; i++) {
        const struct jsp_event_counter *c = &x->timeline.events.counters[i];
        char pid[16];
        snprintf(pid, sizeof pid, "%d", (int)c->pid);
        jsp_json_open(j, '{');
        jsp_json_key(j, "name");
        jsp_json_bytes(j, c->name.at, c->name.len);
        jsp_json_key(j, "category");
        jsp_json_bytes(j, c->group.at, c->group.len);
        jsp_json_key(j, "description");
        jsp_json_bytes(j, c->what.at, c->what.len);
        jsp_json_key_text(j, "pid", pid);
        jsp_json_key_u64(j, "mainThreadIndex",
                         x->position[x->timeline.counter_thread[i]]);
        /* Let the viewer draw the sum of the changes, which is the value. */
        jsp_json_key_open(j, "display", '{');
        jsp_json_key_text(j, "graphType", "line-accumulated");
        jsp_json_key_text(j, "unit", "");
        jsp_json_key_text(j, "color", "blue");
        jsp_json_key_null(j, "markerSchemaLocation");
        jsp_json_key_u64(j, "sortWeight", 30);
        jsp_json_key(j, "label");
        jsp_json_bytes(j, c->name.at, c->name.len);
        jsp_json_close(j, '}');
        marks_counter_samples(x, i);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}
