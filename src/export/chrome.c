/* export/chrome.c - trace events for Chromium's DevTools and tracing tools.
 *
 * Each thread is a sampled CPU profile in V8's form. In that form a sample lasts until
 * the next one, so each sample begins its own duration before its time, and the gaps are
 * "(idle)". Thus durations add up to the profile's values, and where samples overlap the
 * later one is delayed. Gaps add up until they are as long as a period, and till then
 * samples begin earlier: a shorter gap would only cut the box of a function into pieces.
 * Without a clock a sample lasts 1 us. Marks are asynchronous events, since they need not
 * nest. Runs of tasks are events of their thread, and flows lead from run to run. Times are
 * in us.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "shown_names.h"
#include "analyze/name_parts.h"
#include "tables.h"
#include "jsprof.h"

enum { CHROME_ROOT = 1, CHROME_IDLE = 2, CHROME_NODES = 2, CHROME_US = 1000 };

struct chrome_sample {
    uint64_t start; /* ns */
    uint32_t id;
};

struct chrome {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_json json;
    struct jsp_tables from;
    struct jsp_timeline timeline;
    struct chrome_sample *samples; /* of one thread, including idle ones */
    uint32_t n_samples;
    uint32_t *nodes; /* for jsp_moments_nodes */
    uint8_t *mark;
};

static void chrome_us(struct chrome *x, const char *key, uint64_t ns)
{
    jsp_json_key(&x->json, key);
    jsp_json_us(&x->json, ns);
}

static uint64_t chrome_positive(int64_t time)
{
    return time > 0 ? (uint64_t)time : 0;
}

static void chrome_event_of(struct chrome *x, const char *phase, int32_t pid, int32_t tid)
{
    jsp_json_open(&x->json, '{');
    jsp_json_key_text(&x->json, "ph", phase);
    jsp_json_key_i64(&x->json, "pid", pid);
    jsp_json_key_i64(&x->json, "tid", tid);
}

static void chrome_event(struct chrome *x, const char *phase, uint32_t thread)
{
    chrome_event_of(x, phase, x->p->threads[thread].pid, x->p->threads[thread].tid);
}

static void chrome_named(struct chrome *x, uint32_t thread, const char *what,
                         struct jsp_read_text name)
{
    struct jsp_json *j = &x->json;
    chrome_event(x, "M", thread);
    jsp_json_key_text(j, "cat", "__metadata");
    jsp_json_key_text(j, "name", what);
    jsp_json_key_u64(j, "ts", 0);
    jsp_json_key_open(j, "args", '{');
    jsp_json_key(j, "name");
    jsp_json_bytes(j, name.at, name.len);
    jsp_json_close(j, '}');
    jsp_json_close(j, '}');
}

static void chrome_call_frame(struct chrome *x, const struct jsp_profile_frame *f)
{
    struct jsp_json *j = &x->json;
    const struct jsp_function *function = &x->p->functions[f->function];
    struct jsp_name_parts parts = jsp_name_split(function->name);
    bool is_script = f->kind == JSPROF_KIND_VM || f->kind == JSPROF_KIND_JIT;
    struct jsp_read_text module = function->path;
    jsp_json_key_open(j, "callFrame", '{');
    jsp_json_key(j, "functionName");
    jsp_json_bytes(j, parts.name.at, parts.name.len);
    jsp_json_key_text(j, "scriptId", "0");
    jsp_json_key(j, "url");
    jsp_json_bytes(j, parts.file.len ? parts.file.at : module.at,
                   parts.file.len ? parts.file.len : module.len);
    /* The format counts these from 0. */
    jsp_json_key_i64(j, "lineNumber", (int64_t)parts.line - 1);
    jsp_json_key_i64(j, "columnNumber", (int64_t)parts.column - 1);
    jsp_json_key_text(j, "codeType", is_script ? "JS" : "other");
    jsp_json_key_text(j, "kind", jsp_kind_name(f->kind));
    jsp_json_close(j, '}');
}

static void chrome_own_node(struct chrome *x, uint32_t id, const char *name)
{
    struct jsp_json *j = &x->json;
    jsp_json_open(j, '{');
    jsp_json_key_u64(j, "id", id);
    if (id != CHROME_ROOT)
        jsp_json_key_u64(j, "parent", CHROME_ROOT);
    jsp_json_key_open(j, "callFrame", '{');
    jsp_json_key_text(j, "functionName", name);
    jsp_json_key_text(j, "scriptId", "0");
    jsp_json_key_text(j, "url", "");
    jsp_json_key_i64(j, "lineNumber", -1);
    jsp_json_key_i64(j, "columnNumber", -1);
    jsp_json_key_text(j, "codeType", "other");
    jsp_json_close(j, '}');
    jsp_json_close(j, '}');
}

static void chrome_nodes(struct chrome *x, uint32_t thread)
{
    struct jsp_json *j = &x->json;
    uint32_t n =
        jsp_moments_nodes(&x->from.moments, &x->from.stacks, thread, x->mark, x->nodes);
    jsp_json_key_open(j, "nodes", '[');
    chrome_own_node(x, CHROME_ROOT, "(root)");
    chrome_own_node(x, CHROME_IDLE, "(idle)");
    for (uint32_t i = 0; i < n; i++) {
        const struct jsp_calltree_node *node = &x->from.stacks.nodes[x->nodes[i]];
        jsp_json_open(j, '{');
        jsp_json_key_u64(j, "id", CHROME_NODES + x->nodes[i]);
        jsp_json_key_u64(j, "parent",
                         node->parent ? CHROME_NODES + node->parent : CHROME_ROOT);
        chrome_call_frame(x, &x->from.stacks.frames[node->frame]);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}

static void chrome_lay(struct chrome *x, uint64_t start, uint32_t id)
{
    x->samples[x->n_samples++] = (struct chrome_sample){ start, id };
}

/* Place each sample before its time, without overlaps. */
static void chrome_lay_out(struct chrome *x, uint32_t thread)
{
    uint64_t end = 0;
    x->n_samples = 0;
    const uint32_t *first = &x->from.moments.first[thread];
    for (uint32_t i = first[0]; i < first[1]; i++) {
        const struct jsp_moment *m = &x->from.moments.list[i];
        uint64_t time = chrome_positive(m->time);
        uint64_t lasts = m->value * (x->p->unit == JSP_VALUE_COUNT ? CHROME_US : 1);
        uint64_t start = time > lasts ? time - lasts : 0;
        bool is_gap = start > end && start - end >= x->p->period_ns;
        if (i > first[0] && is_gap)
            chrome_lay(x, end, CHROME_IDLE);
        if (i > first[0] && !is_gap)
            start = end;
        chrome_lay(x, start, CHROME_NODES + m->node);
        end = start + lasts;
    }
    chrome_lay(x, end, CHROME_IDLE);
}

static void chrome_profile(struct chrome *x, const char *name, uint32_t thread)
{
    char id[16];
    snprintf(id, sizeof id, "0x%x", thread + 1);
    chrome_event(x, "P", thread);
    jsp_json_key_text(&x->json, "cat", "disabled-by-default-v8.cpu_profiler");
    jsp_json_key_text(&x->json, "name", name);
    jsp_json_key_text(&x->json, "id", id);
    chrome_us(x, "ts", x->samples[0].start);
    jsp_json_key_open(&x->json, "args", '{');
    jsp_json_key_open(&x->json, "data", '{');
}

static void chrome_close(struct chrome *x, int levels)
{
    while (levels-- > 0)
        jsp_json_close(&x->json, '}');
}

static void chrome_chunk(struct chrome *x, uint32_t thread)
{
    struct jsp_json *j = &x->json;
    uint64_t before = x->samples[0].start;
    chrome_profile(x, "ProfileChunk", thread);
    jsp_json_key_open(j, "cpuProfile", '{');
    chrome_nodes(x, thread);
    jsp_json_key_open(j, "samples", '[');
    for (uint32_t i = 0; i < x->n_samples; i++)
        jsp_json_u64(j, x->samples[i].id);
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
    jsp_json_key_open(j, "timeDeltas", '[');
    for (uint32_t i = 0; i < x->n_samples; i++) {
        jsp_json_us(j, x->samples[i].start - before);
        before = x->samples[i].start;
    }
    jsp_json_close(j, ']');
    chrome_close(x, 3);
}

static void chrome_text(struct chrome *x, const char *key, struct jsp_read_text text)
{
    jsp_json_key(&x->json, key);
    jsp_json_bytes(&x->json, text.at, text.len);
}

static void chrome_mark_event(struct chrome *x, const char *phase, uint32_t mark,
                              uint32_t thread)
{
    const struct jsp_event_mark *m = &x->timeline.events.marks[mark];
    uint64_t start = chrome_positive(m->time);
    chrome_event(x, phase, thread);
    chrome_text(x, "cat", m->group);
    chrome_text(x, "name", m->name);
    chrome_us(x, "ts", *phase == 'e' ? start + (uint64_t)m->duration : start);
    if (*phase == 'i') {
        jsp_json_key_text(&x->json, "s", "p"); /* scope: the process */
    } else {
        char id[16];
        snprintf(id, sizeof id, "0x%x", mark + 1);
        jsp_json_key_text(&x->json, "id", id);
    }
    jsp_json_key_open(&x->json, "args", '{');
    chrome_text(x, "message", m->message);
    chrome_close(x, 2);
}

/* Write a state of a thread. All of a thread have one id, so that viewers show them in a row. */
static void chrome_state_event(struct chrome *x, const char *phase, uint32_t thread,
                               const struct jsp_moments_span *span)
{
    const struct jsp_profile_state *s = &x->p->states[span->what];
    char id[24];
    snprintf(id, sizeof id, "state %d", (int)x->p->threads[thread].tid);
    chrome_event(x, phase, thread);
    jsp_json_key_text(&x->json, "cat", "thread state");
    jsp_json_key_text(&x->json, "name", jsp_states[s->state].name);
    chrome_us(x, "ts", chrome_positive(*phase == 'e' ? span->to : span->from));
    jsp_json_key_text(&x->json, "id", id);
    jsp_json_key_open(&x->json, "args", '{');
    if (s->detail.len)
        chrome_text(x, s->state == JSP_STATE_HOST ? "wait" : "syscall", s->detail);
    chrome_close(x, 2);
}

static void chrome_states(struct chrome *x, uint32_t thread)
{
    struct jsp_moments_span span;
    uint32_t at = 0;
    while (jsp_moments_next_span(&x->from.moments, x->p, JSP_MOMENTS_STATE, thread, &at,
                                 &span)) {
        chrome_state_event(x, "b", thread, &span);
        chrome_state_event(x, "e", thread, &span);
    }
}

/* Write an end of a flow, which lies in the span of a run. Its number is that of the run to
 * which it leads. */
static void chrome_flow(struct chrome *x, const char *phase, uint32_t to, uint32_t in,
                        int64_t time)
{
    const struct jsp_task_run *r = &x->timeline.tasks.runs[in];
    const struct jsp_task_thread *t = &x->timeline.tasks.threads[r->thread];
    int64_t end = jsp_flows_end(r->begin, r->duration);
    time = time < r->begin ? r->begin : time > end ? end : time;
    chrome_event_of(x, phase, t->pid, t->tid);
    jsp_json_key_text(&x->json, "cat", "task");
    jsp_json_key_text(&x->json, "name", "task");
    jsp_json_key_u64(&x->json, "id", (uint64_t)to + 1);
    chrome_us(x, "ts", chrome_positive(time));
    if (*phase == 'f')
        jsp_json_key_text(&x->json, "bp", "e"); /* it ends at the span around it */
    jsp_json_close(&x->json, '}');
}

static void chrome_run(struct chrome *x, uint32_t run)
{
    const struct jsp_tasks *t = &x->timeline.tasks;
    const struct jsp_task_run *r = &t->runs[run];
    static const struct jsp_read_text unknown = { "[unknown task]", 14 };
    const struct jsp_task_what *what =
        r->task == JSP_TASK_NONE ? NULL : &t->whats[t->tasks[r->task].what];
    chrome_text(x, "cat", what ? what->kind : (struct jsp_read_text){ "task", 4 });
    chrome_text(x, "name", what ? what->name : unknown);
    jsp_json_key_open(&x->json, "args", '{');
    if (what)
        jsp_json_key_u64(&x->json, "task", t->tasks[r->task].number);
    if (r->delay >= 0)
        chrome_us(x, "delay_us", (uint64_t)r->delay);
    if (r->is_open || r->is_left)
        jsp_json_key_text(&x->json, "end",
                          r->is_open ? "it has none" : "that of the run around it");
    jsp_json_close(&x->json, '}');
}

/* Write the spans of a thread, with the flows that lead to them. */
static void chrome_tasks(struct chrome *x, uint32_t thread)
{
    const struct jsp_flows *f = &x->timeline.flows;
    struct jsp_flow_walk walk = { .thread = thread };
    struct jsp_flow_span span;
    while (jsp_flows_next(f, &x->timeline.tasks, x->p, &walk, &span)) {
        const struct jsp_task_thread *t = &x->timeline.tasks.threads[thread];
        chrome_event_of(x, "X", t->pid, t->tid);
        chrome_us(x, "ts", chrome_positive(span.begin));
        chrome_us(x, "dur", span.duration > 0 ? (uint64_t)span.duration : 0);
        if (span.run == JSP_TASK_NONE) {
            jsp_json_key_text(&x->json, "cat", "loop");
            jsp_json_key_text(&x->json, "name", "turn");
        } else {
            chrome_run(x, span.run);
        }
        jsp_json_close(&x->json, '}');
        if (span.run == JSP_TASK_NONE)
            continue;
        struct jsp_flow flow = f->of[span.run];
        if (flow.from != JSP_TASK_NONE && f->is_shown[flow.from]) {
            chrome_flow(x, "s", span.run, flow.from, flow.time);
            chrome_flow(x, "f", span.run, span.run, span.begin);
        }
    }
}

static void chrome_counters(struct chrome *x)
{
    const struct jsp_timeline *t = &x->timeline;
    for (uint32_t i = 0; i < t->events.n_values; i++) {
        const struct jsp_event_value *v = &t->events.values[i];
        const struct jsp_event_counter *c = &t->events.counters[v->counter];
        chrome_event(x, "C", t->counter_thread[v->counter]);
        chrome_text(x, "cat", c->group);
        chrome_text(x, "name", c->name);
        chrome_us(x, "ts", chrome_positive(v->time));
        jsp_json_key_open(&x->json, "args", '{');
        jsp_json_key_double(&x->json, "value", v->value);
        chrome_close(x, 2);
    }
}

static void chrome_write(struct chrome *x)
{
    struct jsp_json *j = &x->json;
    const struct jsp_timeline *line = &x->timeline;
    jsp_json_open(j, '{');
    jsp_json_key_open(j, "traceEvents", '[');
    for (uint32_t t = 0; t < x->p->n_threads; t++) {
        if (x->from.moments.first[t] == x->from.moments.first[t + 1])
            continue;
        const char *name = jsp_shown_of_thread(x->p, t);
        chrome_named(x, t, "process_name", jsp_profile_command(x->p, x->p->threads[t].pid));
        chrome_named(x, t, "thread_name",
                     (struct jsp_read_text){ name, (uint32_t)strlen(name) });
        chrome_lay_out(x, t);
        chrome_profile(x, "Profile", t);
        chrome_us(x, "startTime", x->samples[0].start);
        chrome_close(x, 3);
        chrome_chunk(x, t);
        chrome_states(x, t);
        for (uint32_t i = line->marks_first[t]; i < line->marks_first[t + 1]; i++) {
            bool lasts = line->events.marks[line->marks[i]].duration > 0;
            chrome_mark_event(x, lasts ? "b" : "i", line->marks[i], t);
            if (lasts)
                chrome_mark_event(x, "e", line->marks[i], t);
        }
    }
    for (uint32_t t = 0; t < line->tasks.n_threads; t++)
        chrome_tasks(x, t);
    chrome_counters(x);
    jsp_json_close(j, ']');
    jsp_json_key_text(j, "displayTimeUnit", "ns");
    jsp_json_key_open(j, "metadata", '{');
    jsp_json_key_text(j, "source", "jsprof");
    chrome_close(x, 2);
    jsp_sink_byte(j->out, '\n');
}

int jsp_export_chrome(struct jsp_export *e)
{
    struct chrome *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->e = e;
    x->p = e->profile;
    jsp_json_init(&x->json, e->out);
    int err = jsp_timeline_build(&x->timeline, &x->from, e, JSP_CALLTREE_KINDS);
    if (err == 0) {
        x->samples = malloc((2 * (size_t)x->from.moments.n + 1) * sizeof *x->samples);
        x->nodes = malloc(x->from.stacks.n_nodes * sizeof *x->nodes);
        x->mark = calloc(x->from.stacks.n_nodes, sizeof *x->mark);
        err = x->samples && x->nodes && x->mark ? 0 : -ENOMEM;
    }
    if (err == 0)
        chrome_write(x);
    jsp_tables_free(&x->from);
    jsp_timeline_free(&x->timeline);
    free(x->samples);
    free(x->nodes);
    free(x->mark);
    free(x);
    return err;
}
