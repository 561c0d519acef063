/* export/pprof.c - profile.proto in gzip: for go tool pprof and other readers of its files.
 *
 * A sample for each stack of a thread, with the count of samples and, if the recording
 * has a clock, nanoseconds. Its labels are the thread, the kind of the leaf, the state of
 * the thread if samples have one, and the labels that the host set. Ids count from 1 without
 * gaps. The order of samples, locations and functions makes the file small: what differs
 * least is side by side, and samples and strings are blocks of the compression of their
 * own. Functions keep their whole names, so that two functions of one name in two places stay
 * distinct where only names are shown; file and line, if the name has them, are also written
 * separately.
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
    uint32_t *location; /* owned: of each frame of `stacks` */
    uint32_t *rank;     /* owned: of each node: those with the same callers are in a row */
    uint32_t *stack;    /* owned: of each node: equal where the locations are */
    int error;
};

enum { PPROF_APART = 1024 }; /* fewer bytes do not pay for codes of their own */

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

/* End a block of the compression. */
static void pprof_apart(struct pprof *x)
{
    jsp_sink_flush(&x->sink);
    if (x->gzip.n >= PPROF_APART)
        jsp_gzip_cut(&x->gzip);
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
    /* a single sample is one period: Parca has a type of its own for no duration at all */
    uint64_t span = jsp_export_span(p);
    span = span ? span : p->period_ns;
    if (span)
        pprof_number(x, PPROF_DURATION, span);
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

/* -- Locations ------------------------------------------------------------------- */

struct pprof_place {
    struct jsp_profile_frame is;
    uint32_t frame;
};

static int pprof_compare_places(const struct pprof_place *a, const struct pprof_place *b)
{
    const uint32_t x[] = { a->is.function, a->is.file, a->is.line };
    const uint32_t y[] = { b->is.function, b->is.file, b->is.line };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int pprof_compare_frames(const void *a, const void *b)
{
    const struct pprof_place *x = a, *y = b;
    int by_place = pprof_compare_places(x, y);
    return by_place ? by_place : (x->frame > y->frame) - (x->frame < y->frame);
}

/* Write the locations by function and line. Frames that are equal in both are one. */
static void pprof_locations(struct pprof *x)
{
    uint32_t n = x->stacks.n_frames, id = 0;
    struct pprof_place *places = malloc(((size_t)n + 1) * sizeof *places);
    x->location = calloc((size_t)n + 1, sizeof *x->location);
    if (!places || !x->location)
        x->error = -ENOMEM;
    for (uint32_t i = 0; x->error == 0 && i < n; i++)
        places[i] = (struct pprof_place){ x->stacks.frames[i], i };
    if (x->error == 0)
        qsort(places, n, sizeof *places, pprof_compare_frames);
    for (uint32_t i = 0; x->error == 0 && i < n; i++) {
        const struct jsp_profile_frame *f = &places[i].is;
        bool is_new = !i || pprof_compare_places(&places[i - 1], &places[i]);
        x->location[places[i].frame] = id += is_new;
        if (!is_new)
            continue;
        jsp_proto_u64(&x->inner, 1, jsp_places_add(&x->functions, f->function, f->file) + 1);
        jsp_proto_u64(&x->inner, 2, f->line);
        jsp_proto_u64(&x->message, 1, id);
        jsp_proto_u64(&x->message, 2, x->modules.of_function[f->function] + 1);
        jsp_proto_nest(&x->message, 4, &x->inner);
        pprof_put(x, PPROF_LOCATION);
    }
    free(places);
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

/* -- Samples ----------------------------------------------------------------------- */

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
        jsp_proto_item(&x->inner, x->location[x->frames[i]]);
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

/* A sample, with what it is sorted by. */
struct pprof_row {
    struct jsp_calltree_count count;
    uint32_t kind, rank, stack;
};

static int pprof_compare_stacks(const void *a, const void *b)
{
    const struct pprof_row *x = a, *y = b;
    const struct jsp_calltree_count *c = &x->count, *d = &y->count;
    const uint32_t mine[] = { c->thread, c->state, c->labels, x->kind, x->stack };
    const uint32_t other[] = { d->thread, d->state, d->labels, y->kind, y->stack };
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        if (mine[i] != other[i])
            return mine[i] < other[i] ? -1 : 1;
    return 0;
}

/* Add up the rows that a reader could not tell apart: a function that was interpreted first and
 * compiled later is one location. Return how many are left. */
static uint32_t pprof_join(struct pprof_row *rows, uint32_t n)
{
    uint32_t left = 0;
    if (n)
        qsort(rows, n, sizeof *rows, pprof_compare_stacks);
    for (uint32_t i = 0; i < n; i++) {
        struct pprof_row *last = left ? &rows[left - 1] : NULL;
        if (!last || pprof_compare_stacks(last, &rows[i])) {
            rows[left++] = rows[i];
            continue;
        }
        last->count.samples += rows[i].count.samples;
        last->count.weight += rows[i].count.weight;
        last->count.value += rows[i].count.value;
        if (rows[i].rank < last->rank) { /* whatever order equal ones came in */
            last->rank = rows[i].rank;
            last->count.node = rows[i].count.node;
        }
    }
    return left;
}

static int pprof_compare_rows(const void *a, const void *b)
{
    const struct pprof_row *x = a, *y = b;
    const struct jsp_calltree_count *c = &x->count, *d = &y->count;
    const uint64_t mine[] = { c->thread, c->state, c->labels, x->kind, c->samples, c->value,
                              x->rank };
    const uint64_t other[] = { d->thread, d->state, d->labels, y->kind, d->samples, d->value,
                               y->rank };
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++)
        if (mine[i] != other[i])
            return mine[i] < other[i] ? -1 : 1;
    return 0;
}

/* Number the nodes so that each is followed by all those below it. A node comes after its parent
 * in `stacks`. */
static int pprof_rank(struct pprof *x)
{
    const struct jsp_calltree_node *nodes = x->stacks.nodes;
    uint32_t n = x->stacks.n_nodes;
    uint32_t *below = calloc((size_t)n + 1, sizeof *below); /* nodes, with itself */
    x->rank = calloc((size_t)n + 1, sizeof *x->rank);
    if (!below || !x->rank) {
        free(below);
        return -ENOMEM;
    }
    for (uint32_t i = n; i-- > 1;)
        below[nodes[i].parent] += ++below[i];
    for (uint32_t i = 1; i < n; i++) {
        uint32_t mine = below[i];
        uint32_t *next = &below[nodes[i].parent]; /* what the later children have left */
        x->rank[i] = x->rank[nodes[i].parent] + *next - mine + 1;
        *next -= mine;
        below[i] = mine - 1;
    }
    free(below);
    return 0;
}

/* Number the stacks of locations. */
static int pprof_stacks(struct pprof *x)
{
    const struct jsp_calltree_node *nodes = x->stacks.nodes;
    struct jsp_places pairs; /* of a stack's number and the location below it */
    int err = jsp_places_init(&pairs);
    x->stack = calloc((size_t)x->stacks.n_nodes + 1, sizeof *x->stack);
    if (err == 0 && !x->stack)
        err = -ENOMEM;
    for (uint32_t i = 1; err == 0 && i < x->stacks.n_nodes; i++)
        x->stack[i] = 1 + jsp_places_add(&pairs, x->stack[nodes[i].parent],
                                         x->location[nodes[i].frame]);
    if (err == 0)
        err = pairs.error;
    jsp_places_free(&pairs);
    return err;
}

static void pprof_samples(struct pprof *x)
{
    uint32_t n;
    struct jsp_calltree_count *counts = jsp_export_counts(&x->stacks, x->p, &n);
    struct pprof_row *rows = malloc(((size_t)n + 1) * sizeof *rows);
    if (x->error == 0)
        x->error = counts && rows ? pprof_rank(x) : -ENOMEM;
    if (x->error == 0)
        x->error = pprof_stacks(x);
    for (uint32_t i = 0; x->error == 0 && i < n; i++) {
        const struct jsp_calltree_node *leaf = &x->stacks.nodes[counts[i].node];
        rows[i] = (struct pprof_row){ counts[i], x->stacks.frames[leaf->frame].kind,
                                      x->rank[counts[i].node], x->stack[counts[i].node] };
    }
    if (x->error == 0)
        n = pprof_join(rows, n);
    if (x->error == 0 && n)
        qsort(rows, n, sizeof *rows, pprof_compare_rows);
    for (uint32_t i = 0; x->error == 0 && i < n; i++)
        pprof_sample(x, &rows[i].count);
    free(counts);
    free(rows);
}

/* -- All ---------------------------------------------------------------------------- */

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
    pprof_head(x);
    snprintf(text, sizeof text, "recorded by %s %s", *x->p->version ? "jsprof" : "another program",
             x->p->version);
    pprof_number(x, PPROF_COMMENT, jsp_strings_text(&x->strings, text));
    if (x->e->comment)
        pprof_number(x, PPROF_COMMENT, jsp_strings_text(&x->strings, x->e->comment));
    pprof_mappings(x);
    pprof_locations(x);
    pprof_functions(x);
    pprof_apart(x);
    pprof_samples(x);
    pprof_apart(x);
    pprof_strings(x); /* last, when all of them are known */
    if (x->error == 0)
        x->error = x->functions.error ? x->functions.error : x->strings.error;
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
    free(x->location);
    free(x->rank);
    free(x->stack);
    free(x);
    return err;
}
