/* export/pprof.c - profile.proto in gzip: for go tool pprof and other readers of its files.
 *
 * A sample for each stack of a thread, with the count of samples and, if the recording
 * has a clock, nanoseconds. Its labels are the thread, the kind of the leaf, the state of
 * the thread if samples have one, and the labels that the host set. Ids count from 1 without
 * gaps. Functions keep their whole
 * names, so that two functions of one name in two places stay distinct where only names
 * are shown; file and line, if the name has them, are also written separately.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "export.h"
#include "places.h"
#include "proto.h"
#include "shown_names.h"
#include "analyze/name_parts.h"
#include "tables.h"

enum pprof_profile { /* fields of the outermost message */
    PPROF_SAMPLE_TYPE = 1,
    PPROF_SAMPLE,
    PPROF_MAPPING,
    PPROF_LOCATION,
    PPROF_FUNCTION,
    PPROF_STRING,
    PPROF_TIME = 9,
    PPROF_DURATION,
    PPROF_PERIOD_TYPE,
    PPROF_PERIOD,
    PPROF_COMMENT,
    PPROF_DEFAULT_TYPE,
};

struct pprof {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_calltree stacks;
    struct jsp_strings strings;
    struct jsp_modules modules;
    struct jsp_proto message, inner;
    struct jsp_gzip gzip;
    struct jsp_sink sink, names; /* into gzip; into message */
    struct jsp_places functions;
    uint32_t *frames; /* of one stack */
    int error;
};

static void pprof_put(struct pprof *x, enum pprof_profile field)
{
    int err = jsp_proto_put(&x->sink, field, &x->message);
    if (x->error == 0)
        x->error = err;
}

static void pprof_number(struct pprof *x, enum pprof_profile field, uint64_t n)
{
    jsp_proto_u64(&x->message, field, n);
    jsp_sink_put(&x->sink, x->message.bytes.at, x->message.bytes.n);
    x->message.bytes.n = 0;
}

static void pprof_type(struct pprof *x, enum pprof_profile field, const char *type,
                       const char *unit)
{
    jsp_proto_u64(&x->message, 1, jsp_strings_text(&x->strings, type));
    jsp_proto_u64(&x->message, 2, jsp_strings_text(&x->strings, unit));
    pprof_put(x, field);
}

/* Is there a value besides the count of samples, or of blocks? */
static bool pprof_has_value(const struct pprof *x)
{
    return x->p->unit != JSP_VALUE_COUNT;
}

/* Write the fields of the whole profile: types, period, times. */
static void pprof_head(struct pprof *x)
{
    const struct jsp_profile *p = x->p;
    const char *const *types = jsp_export_types(p);
    pprof_type(x, PPROF_SAMPLE_TYPE, types[0], "count");
    if (pprof_has_value(x)) {
        bool is_bytes = jsp_unit_is_bytes(p->unit);
        pprof_type(x, PPROF_SAMPLE_TYPE, types[1], types[2]);
        pprof_type(x, PPROF_PERIOD_TYPE, is_bytes ? "space" : types[1], types[2]);
        pprof_number(x, PPROF_PERIOD, is_bytes ? p->heap.every : p->period_ns);
        pprof_number(x, PPROF_DEFAULT_TYPE, jsp_strings_text(&x->strings, types[1]));
    }
    pprof_number(x, PPROF_TIME, (uint64_t)jsp_export_time_of_day(p));
    if (p->last_sample > p->first_sample)
        pprof_number(x, PPROF_DURATION,
                     (uint64_t)p->last_sample - (uint64_t)p->first_sample);
}

static void pprof_mappings(struct pprof *x)
{
    for (uint32_t i = 0; i < x->modules.n; i++) {
        const struct jsp_module *m = &x->modules.list[i];
        jsp_proto_u64(&x->message, 1, i + 1);
        jsp_proto_u64(&x->message, 2, m->start);
        jsp_proto_u64(&x->message, 3, m->end);
        jsp_proto_u64(&x->message, 4, m->offset);
        jsp_proto_u64(&x->message, 5, jsp_strings_add(&x->strings, m->path));
        jsp_proto_u64(&x->message, 6, jsp_strings_add(&x->strings, m->build_id));
        for (uint32_t has = 7; has <= 9; has++) /* functions, files, lines */
            jsp_proto_u64(&x->message, has, 1);
        pprof_put(x, PPROF_MAPPING);
    }
}

static void pprof_locations(struct pprof *x)
{
    for (uint32_t i = 0; i < x->stacks.n_frames; i++) {
        const struct jsp_profile_frame *f = &x->stacks.frames[i];
        jsp_proto_u64(&x->inner, 1, jsp_places_add(&x->functions, f->function, f->file) + 1);
        jsp_proto_u64(&x->inner, 2, f->line);
        jsp_proto_u64(&x->message, 1, i + 1);
        jsp_proto_u64(&x->message, 2, x->modules.of_function[f->function] + 1);
        jsp_proto_nest(&x->message, 4, &x->inner);
        pprof_put(x, PPROF_LOCATION);
    }
}

static void pprof_functions(struct pprof *x)
{
    for (uint32_t i = 0; i < x->functions.n; i++) {
        const struct jsp_place *f = &x->functions.list[i];
        const char *name = x->p->functions[f->function].name;
        struct jsp_name_parts parts = jsp_name_split(name);
        jsp_proto_u64(&x->message, 1, i + 1);
        jsp_proto_u64(&x->message, 2, jsp_strings_text(&x->strings, name));
        jsp_proto_u64(&x->message, 4,
                      f->file ? jsp_strings_text(&x->strings, x->p->files[f->file])
                              : jsp_strings_add(&x->strings, parts.file));
        jsp_proto_u64(&x->message, 5, f->file ? 0 : parts.line);
        pprof_put(x, PPROF_FUNCTION);
    }
}

static void pprof_pair(struct pprof *x, struct jsp_read_text key, struct jsp_read_text text)
{
    jsp_proto_u64(&x->inner, 1, jsp_strings_add(&x->strings, key));
    jsp_proto_u64(&x->inner, 2, jsp_strings_add(&x->strings, text));
    jsp_proto_nest(&x->message, 3, &x->inner);
}

static void pprof_label(struct pprof *x, const char *key, struct jsp_read_text text)
{
    pprof_pair(x, (struct jsp_read_text){ key, (uint32_t)strlen(key) }, text);
}

/* Write the labels that the host set. */
static void pprof_labels(struct pprof *x, uint32_t set)
{
    const struct jsp_label_set *s = &x->p->labels.sets[set];
    for (uint32_t i = 0; i < s->n; i++)
        pprof_pair(x, s->pairs[i].key, s->pairs[i].value);
}

static void pprof_state(struct pprof *x, const struct jsp_profile_state *s)
{
    const char *key = jsp_states[s->state].key;
    if (s->state)
        pprof_label(x, "state", (struct jsp_read_text){ key, (uint32_t)strlen(key) });
    if (s->detail.len)
        pprof_label(x, s->state == JSP_STATE_HOST ? "wait" : "syscall", s->detail);
}

/* Which process of this machine it is. */
static void pprof_host(struct pprof *x, int32_t recorded)
{
    const struct jsp_export_host *host = jsp_export_host(x->e, recorded);
    char pid[16];
    if (!host)
        return;
    int n = snprintf(pid, sizeof pid, "%d", (int)host->pid);
    pprof_label(x, "pid", (struct jsp_read_text){ pid, (uint32_t)n });
    pprof_label(x, "host", (struct jsp_read_text){ host->host, (uint32_t)strlen(host->host) });
    if (*host->vm)
        pprof_label(x, "vm", (struct jsp_read_text){ host->vm, (uint32_t)strlen(host->vm) });
}

static void pprof_sample(struct pprof *x, const struct jsp_calltree_count *c)
{
    uint32_t n = jsp_calltree_frames(&x->stacks, c->node, x->frames);
    char thread[JSP_NAMES_THREAD];
    for (uint32_t i = 0; i < n; i++)
        jsp_proto_item(&x->inner, x->frames[i] + 1);
    jsp_proto_nest(&x->message, 1, &x->inner);
    jsp_proto_item(&x->inner, jsp_unit_is_bytes(x->p->unit) ? c->weight
                              : pprof_has_value(x)          ? c->samples
                                                            : c->value);
    if (pprof_has_value(x))
        jsp_proto_item(&x->inner, c->value);
    jsp_proto_nest(&x->message, 2, &x->inner);
    const char *kind = jsp_kind_name(x->stacks.frames[x->frames[0]].kind);
    pprof_label(x, "thread", jsp_shown_thread_text(thread, x->p, c->thread));
    pprof_label(x, "kind", (struct jsp_read_text){ kind, (uint32_t)strlen(kind) });
    pprof_state(x, &x->p->states[c->state]);
    pprof_host(x, x->p->threads[c->thread].pid);
    pprof_labels(x, c->labels);
    pprof_put(x, PPROF_SAMPLE);
}

/* Write the strings. Escapes are visible, because pprof prints names as they are. */
static void pprof_strings(struct pprof *x)
{
    for (uint32_t i = 0; i < x->strings.n && x->error == 0; i++) {
        x->message.bytes.n = 0;
        jsp_sink_init(&x->names, jsp_bytes_write, &x->message.bytes);
        jsp_shown_plain_bytes(&x->names, x->strings.list[i], 0);
        x->error = jsp_sink_flush(&x->names);
        pprof_put(x, PPROF_STRING);
    }
}

static void pprof_write(struct pprof *x)
{
    char text[64 + sizeof x->p->version];
    uint32_t n;
    pprof_head(x);
    snprintf(text, sizeof text, "recorded by %s %s", *x->p->version ? "jsprof" : "another program",
             x->p->version);
    pprof_number(x, PPROF_COMMENT, jsp_strings_text(&x->strings, text));
    if (x->e->comment)
        pprof_number(x, PPROF_COMMENT, jsp_strings_text(&x->strings, x->e->comment));
    pprof_mappings(x);
    pprof_locations(x);
    pprof_functions(x);
    struct jsp_calltree_count *counts = jsp_export_counts(&x->stacks, x->p, &n);
    for (uint32_t i = 0; i < n; i++)
        pprof_sample(x, &counts[i]);
    pprof_strings(x); /* last, when all of them are known */
    if (x->error == 0)
        x->error = !counts ? -ENOMEM
                   : x->functions.error ? x->functions.error : x->strings.error;
    free(counts);
}

int jsp_export_pprof(struct jsp_export *e)
{
    struct pprof *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->e = e;
    x->p = e->profile;
    x->frames = malloc(JSP_PROFILE_DEPTH * sizeof *x->frames);
    int err = jsp_export_tree(&x->stacks, e);
    if (err == 0)
        err = jsp_modules_build(&x->modules, e->profile);
    if (err == 0)
        err = jsp_strings_init(&x->strings);
    if (err == 0)
        err = jsp_places_init(&x->functions);
    if (err == 0 && !x->frames)
        err = -ENOMEM;
    if (err == 0) {
        jsp_gzip_start(&x->gzip, e->out);
        jsp_sink_init(&x->sink, jsp_gzip_write, &x->gzip);
        pprof_write(x);
        jsp_sink_flush(&x->sink);
        jsp_gzip_end(&x->gzip);
        err = x->error;
    }
    jsp_calltree_free(&x->stacks);
    jsp_modules_free(&x->modules);
    jsp_strings_free(&x->strings);
    jsp_places_free(&x->functions);
    jsp_proto_free(&x->message);
    jsp_proto_free(&x->inner);
    free(x->frames);
    free(x);
    return err;
}
