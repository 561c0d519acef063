/* export/profile_json.c - all data of a capture as JSON, for scripts.
 *
 * docs/export.md describes the fields. Tables refer to each other by position; each
 * property of samples is a column of its own.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "json.h"
#include "shown_names.h"
#include "analyze/name_parts.h"
#include "tables.h"

enum { PROFILE_JSON_VERSION = 1 };

struct profile_json {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_json json;
    struct jsp_tables from;
    struct jsp_timeline timeline;
};

static void profile_json_text(struct jsp_json *j, const char *key, struct jsp_read_text text)
{
    jsp_json_key(j, key);
    jsp_json_bytes(j, text.at, text.len);
}

/* Return ns since the start of the recording; any value of a capture is allowed. */
static int64_t profile_json_since(const struct profile_json *x, int64_t time)
{
    return (int64_t)((uint64_t)time - (uint64_t)x->p->start_time);
}

static void profile_json_recording(struct profile_json *x)
{
    struct jsp_json *j = &x->json;
    const struct jsp_profile *p = x->p;
    jsp_json_key_open(j, "recording", '{');
    jsp_json_key_text(j, "title", x->e->title);
    jsp_json_key_text(j, "host", p->host);
    jsp_json_key_text(j, "recorder", *p->version ? "jsprof" : "");
    jsp_json_key_text(j, "version", p->version);
    jsp_json_key_text(j, "clock", p->clock);
    jsp_json_key_u64(j, "hz", p->hz);
    jsp_json_key_text(j, "captured", p->capture->capture_time);
    jsp_json_key_i64(j, "start_ns", p->start_time);
    jsp_json_close(j, '}');
    jsp_json_key_text(j, "unit", jsp_unit_key(p->unit));
    jsp_json_key_u64(j, "total_value", x->from.stacks.value);
    jsp_json_key_u64(j, "total_samples", x->from.stacks.samples);
    jsp_json_key_u64(j, "total_expirations", x->from.stacks.weight);
}

static void profile_json_processes(struct profile_json *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "processes", '[');
    for (uint32_t i = 0; i < x->p->n_processes; i++) {
        jsp_json_open(j, '{');
        jsp_json_key_i64(j, "pid", x->p->processes[i].pid);
        jsp_json_key_i64(j, "parent", x->p->processes[i].parent);
        profile_json_text(j, "command", x->p->processes[i].command);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}

static void profile_json_threads(struct profile_json *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "threads", '[');
    for (uint32_t i = 0; i < x->p->n_threads; i++) {
        const struct jsp_thread_info *t = &x->p->threads[i];
        jsp_json_open(j, '{');
        jsp_json_key_i64(j, "pid", t->pid);
        jsp_json_key_i64(j, "tid", t->tid);
        jsp_json_key_text(j, "name", jsp_shown_of_thread(x->p, i));
        if (t->losses) {
            jsp_json_key_open(j, "losses", '{');
            jsp_json_key_u64(j, "expirations", t->losses->expirations);
            jsp_json_key_u64(j, "kept", t->losses->kept);
            for (int cause = 0; cause < JSP_N_LOSSES; cause++)
                jsp_json_key_u64(j, jsp_losses[cause].word, t->losses->lost[cause]);
            jsp_json_close(j, '}');
        }
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}

static void profile_json_functions(struct profile_json *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "functions", '[');
    for (uint32_t i = 0; i < x->p->n_functions; i++) {
        const struct jsp_function *f = &x->p->functions[i];
        struct jsp_name_parts parts = jsp_name_split(f->name);
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "name", f->name);
        jsp_json_key_text(j, "kind", jsp_kind_name(f->kind));
        profile_json_text(j, "module", jsp_tables_module(&x->from, i)->path);
        uint32_t category = jsp_categories_of(x->e->categories, f, f->kind);
        jsp_json_key_text(j, "category", jsp_categories_name(x->e->categories, category));
        if (parts.line) {
            profile_json_text(j, "file", parts.file);
            jsp_json_key_u64(j, "line", parts.line);
            jsp_json_key_u64(j, "column", parts.column);
        }
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}

static void profile_json_frames(struct profile_json *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "frames", '[');
    for (uint32_t i = 0; i < x->from.stacks.n_frames; i++) {
        const struct jsp_profile_frame *f = &x->from.stacks.frames[i];
        jsp_json_open(j, '{');
        jsp_json_key_u64(j, "function", f->function);
        jsp_json_key_text(j, "kind", jsp_kind_name(f->kind));
        if (f->line)
            jsp_json_key_u64(j, "line", f->line);
        if (f->file)
            jsp_json_key_text(j, "file", x->p->files[f->file]);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "stacks", '[');
    for (uint32_t i = 1; i < x->from.stacks.n_nodes; i++) {
        jsp_json_open(j, '[');
        jsp_json_i64(j, (int64_t)x->from.stacks.nodes[i].parent - 1); /* -1: a root */
        jsp_json_u64(j, x->from.stacks.nodes[i].frame);
        jsp_json_close(j, ']');
    }
    jsp_json_close(j, ']');
}

enum profile_json_column {
    PLAIN_TIME,
    PLAIN_THREAD,
    PLAIN_STACK,
    PLAIN_VALUE,
    PLAIN_EXPIRATIONS,
    PLAIN_CPU,
};

static void profile_json_cell(struct profile_json *x, const struct jsp_moment *m,
                              enum profile_json_column column)
{
    struct jsp_json *j = &x->json;
    switch (column) {
    case PLAIN_TIME: jsp_json_i64(j, profile_json_since(x, m->time)); break;
    case PLAIN_STACK: jsp_json_u64(j, m->node - 1); break;
    case PLAIN_VALUE: jsp_json_u64(j, m->value); break;
    case PLAIN_EXPIRATIONS: jsp_json_u64(j, m->weight); break;
    case PLAIN_CPU: jsp_json_u64(j, m->cpu_ns); break;
    case PLAIN_THREAD: break; /* profile_json_samples writes it */
    }
}

static void profile_json_samples(struct profile_json *x)
{
    static const char *const names[] = { "time_ns", "thread",      "stack",
                                         "value",   "expirations", "cpu_ns" };
    struct jsp_json *j = &x->json;
    const struct jsp_moments *m = &x->from.moments;
    jsp_json_key_open(j, "samples", '{');
    for (int column = PLAIN_TIME; column <= PLAIN_CPU; column++) {
        jsp_json_key_open(j, names[column], '[');
        for (uint32_t t = 0; t < x->p->n_threads; t++)
            for (uint32_t i = m->first[t]; i < m->first[t + 1]; i++)
                if (column == PLAIN_THREAD)
                    jsp_json_u64(j, t);
                else
                    profile_json_cell(x, &m->list[i], (enum profile_json_column)column);
        jsp_json_close(j, ']');
    }
    jsp_json_close(j, '}');
}

static void profile_json_marks(struct profile_json *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "marks", '[');
    for (uint32_t i = 0; i < x->timeline.events.n_marks; i++) {
        const struct jsp_event_mark *m = &x->timeline.events.marks[i];
        jsp_json_open(j, '{');
        jsp_json_key_i64(j, "time_ns", profile_json_since(x, m->time));
        jsp_json_key_i64(j, "duration_ns", m->duration);
        jsp_json_key_i64(j, "pid", m->pid);
        profile_json_text(j, "group", m->group);
        profile_json_text(j, "name", m->name);
        profile_json_text(j, "message", m->message);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}

static void profile_json_counter(struct profile_json *x, uint32_t counter)
{
    struct jsp_json *j = &x->json;
    const struct jsp_timeline *t = &x->timeline;
    const struct jsp_event_counter *c = &t->events.counters[counter];
    jsp_json_open(j, '{');
    jsp_json_key_i64(j, "pid", c->pid);
    profile_json_text(j, "group", c->group);
    profile_json_text(j, "name", c->name);
    profile_json_text(j, "description", c->what);
    jsp_json_key_open(j, "values", '[');
    for (uint32_t i = t->values_first[counter]; i < t->values_first[counter + 1]; i++) {
        const struct jsp_event_value *v = &t->events.values[t->values[i]];
        jsp_json_open(j, '[');
        jsp_json_i64(j, profile_json_since(x, v->time));
        jsp_json_double(j, v->value);
        jsp_json_close(j, ']');
    }
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
}

static void profile_json_write(struct profile_json *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_open(j, '{');
    jsp_json_key_text(j, "format", "jsprof");
    jsp_json_key_u64(j, "format_version", PROFILE_JSON_VERSION);
    profile_json_recording(x);
    profile_json_processes(x);
    profile_json_threads(x);
    profile_json_functions(x);
    profile_json_frames(x);
    profile_json_samples(x);
    profile_json_marks(x);
    jsp_json_key_open(j, "counters", '[');
    for (uint32_t i = 0; i < x->timeline.events.n_counters; i++)
        profile_json_counter(x, i);
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
    jsp_sink_byte(j->out, '\n');
}

int jsp_export_json(struct jsp_export *e)
{
    struct profile_json x = { .e = e, .p = e->profile };
    jsp_json_init(&x.json, e->out);
    int err = jsp_timeline_build(&x.timeline, &x.from, e, JSP_CALLTREE_LINES);
    if (err == 0)
        profile_json_write(&x);
    jsp_tables_free(&x.from);
    jsp_timeline_free(&x.timeline);
    return err;
}
