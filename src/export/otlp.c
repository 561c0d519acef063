/* export/otlp.c - OpenTelemetry profiles: the message ProfilesData of the package
 * opentelemetry.proto.profiles.v1development, as of opentelemetry-proto 1.11.
 *
 * Each process is a resource with up to two profiles. The first one counts timer expirations (or
 * blocks of memory, or samples where the capture names no clock), with the timer's period; the
 * second one has nanoseconds or bytes. A sample is a stack of a thread. Everything that samples
 * share is in the dictionary; entry 0 of each of its tables is empty, as the format wants it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/name_parts.h"
#include "export.h"
#include "places.h"
#include "proto.h"
#include "shown_names.h"
#include "tables.h"

enum otlp_data { OTLP_RESOURCE_PROFILES = 1, OTLP_DICTIONARY };
enum otlp_resource_profiles { OTLP_RESOURCE = 1, OTLP_SCOPE_PROFILES };
enum otlp_scope_profiles { OTLP_SCOPE = 1, OTLP_PROFILES };
enum otlp_profile {
    OTLP_SAMPLE_TYPE = 1,
    OTLP_SAMPLES,
    OTLP_TIME, /* fixed64 */
    OTLP_DURATION,
    OTLP_PERIOD_TYPE,
    OTLP_PERIOD,
    OTLP_PROFILE_ID,
};
enum otlp_sample { OTLP_STACK = 1, OTLP_ATTRIBUTES, OTLP_LINK, OTLP_VALUES };
enum otlp_table {
    OTLP_MAPPING = 1,
    OTLP_LOCATION,
    OTLP_FUNCTION,
    OTLP_LINKS,
    OTLP_STRING,
    OTLP_ATTRIBUTE,
    OTLP_STACKS,
    OTLP_N_TABLES
};
/* Room for a key: longer ones, which no library of ours writes, are cut. */
enum { OTLP_KEY = 256 };

enum otlp_any { OTLP_TEXT = 1, OTLP_INT = 3 };

struct otlp {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_calltree stacks;
    struct jsp_calltree_count *counts; /* owned */
    /* the last two: whole entries, as their bytes */
    struct jsp_strings strings, attributes, links;
    struct jsp_modules modules;
    struct jsp_places places;
    struct jsp_proto tables[OTLP_N_TABLES];
    struct jsp_proto dictionary, message, inner, text, profile, scope, resource;
    struct jsp_proto indices; /* the attributes of a sample */
    struct jsp_sink plain; /* into text */
    uint32_t *stack_of;    /* owned, by node: its entry in the table of stacks; 0: none yet */
    uint32_t *mapping_of;  /* owned, by module: its entry; 0: no location has it */
    uint32_t n_mappings;
    uint32_t *frames;      /* owned; of one stack */
    uint32_t n_counts, n_stacks;
    int error;
};

struct otlp_part { /* the counts of one process */
    const struct jsp_calltree_count *at;
    uint32_t n;
};

/* -- Pieces ------------------------------------------------------------------------ */

static uint32_t otlp_string(struct otlp *x, const char *text)
{
    return jsp_strings_text(&x->strings, text);
}

/* Put text into a field: bytes that are not UTF-8 become visible escapes. */
static void otlp_text(struct otlp *x, struct jsp_proto *to, uint32_t field,
                      struct jsp_read_text text)
{
    jsp_sink_init(&x->plain, jsp_bytes_write, &x->text.bytes);
    jsp_shown_plain_bytes(&x->plain, text, 0);
    int err = jsp_sink_flush(&x->plain);
    if (!x->error)
        x->error = err;
    jsp_proto_nest(to, field, &x->text);
}

/* An AnyValue, as field 2 of a message. */
static void otlp_value(struct otlp *x, struct jsp_proto *to, struct jsp_read_text text, int64_t n)
{
    if (text.at)
        otlp_text(x, &x->inner, OTLP_TEXT, text);
    else
        jsp_proto_u64(&x->inner, OTLP_INT, (uint64_t)n);
    jsp_proto_nest(to, 2, &x->inner);
}

/* Return the entry of an attribute, which may be new. Without `text` the value is a number. */
static uint32_t otlp_attribute(struct otlp *x, const char *key, struct jsp_read_text text,
                               int64_t n)
{
    struct jsp_proto *m = &x->message;
    jsp_proto_u64(m, 1, otlp_string(x, key));
    otlp_value(x, m, text, n);
    uint32_t before = x->attributes.n;
    uint32_t at = m->error ? 0 : jsp_strings_add(&x->attributes, (struct jsp_read_text){
                                                     m->bytes.at, (uint32_t)m->bytes.n });
    if (x->attributes.n > before)
        jsp_proto_nest(&x->tables[OTLP_ATTRIBUTE], OTLP_ATTRIBUTE, m);
    m->bytes.n = 0;
    return at;
}

/* Return the entry of a link to a span. */
static uint32_t otlp_link(struct otlp *x, const uint8_t *trace)
{
    enum { TRACE = 16, SPAN = JSP_LABELS_TRACE - TRACE };
    uint32_t before = x->links.n;
    uint32_t at = jsp_strings_add(&x->links,
                                  (struct jsp_read_text){ (const char *)trace, JSP_LABELS_TRACE });
    if (x->links.n == before)
        return at;
    int err = jsp_bytes_write(&x->inner.bytes, trace, TRACE);
    jsp_proto_nest(&x->message, 1, &x->inner);
    err = err ? err : jsp_bytes_write(&x->inner.bytes, trace + TRACE, SPAN);
    jsp_proto_nest(&x->message, 2, &x->inner);
    jsp_proto_nest(&x->tables[OTLP_LINKS], OTLP_LINKS, &x->message);
    x->error = x->error ? x->error : err;
    return at;
}

static struct jsp_read_text otlp_word(const char *text)
{
    return (struct jsp_read_text){ text, (uint32_t)strlen(text) };
}

/* Put the message as the next entry of a table. */
static void otlp_entry(struct otlp *x, enum otlp_table table)
{
    jsp_proto_nest(&x->tables[table], table, &x->message);
}

/* -- The dictionary ------------------------------------------------------------------ */

/* Return the entry of a module, or 0 if it is no file. */
static uint32_t otlp_mapping(struct otlp *x, uint32_t module)
{
    const struct jsp_module *m = &x->modules.list[module];
    if (!m->is_file || x->mapping_of[module])
        return x->mapping_of[module];
    uint32_t id = m->build_id.len ? otlp_attribute(x, "process.executable.build_id.gnu",
                                                   m->build_id, 0) : 0;
    jsp_proto_u64(&x->message, 1, m->start);
    jsp_proto_u64(&x->message, 2, m->end);
    jsp_proto_u64(&x->message, 3, m->offset);
    jsp_proto_u64(&x->message, 4, jsp_strings_add(&x->strings, m->path));
    if (id) {
        jsp_proto_item(&x->inner, id);
        jsp_proto_nest(&x->message, 5, &x->inner);
    }
    otlp_entry(x, OTLP_MAPPING);
    return x->mapping_of[module] = ++x->n_mappings;
}

static void otlp_locations(struct otlp *x)
{
    for (uint32_t i = 0; i < x->stacks.n_frames; i++) {
        const struct jsp_profile_frame *f = &x->stacks.frames[i];
        uint32_t kind = otlp_attribute(x, "profile.frame.type", otlp_word(jsp_kind_name(f->kind)),
                                       0);
        uint32_t mapping = otlp_mapping(x, x->modules.of_function[f->function]);
        jsp_proto_u64(&x->message, 1, mapping);
        jsp_proto_u64(&x->inner, 1, jsp_places_add(&x->places, f->function, f->file) + 1);
        jsp_proto_u64(&x->inner, 2, f->line);
        jsp_proto_nest(&x->message, 3, &x->inner);
        jsp_proto_item(&x->inner, kind);
        jsp_proto_nest(&x->message, 4, &x->inner);
        otlp_entry(x, OTLP_LOCATION);
    }
}

static void otlp_functions(struct otlp *x)
{
    for (uint32_t i = 0; i < x->places.n; i++) {
        const struct jsp_place *at = &x->places.list[i];
        const char *name = x->p->functions[at->function].name;
        struct jsp_name_parts parts = jsp_name_split(name);
        jsp_proto_u64(&x->message, 1, otlp_string(x, name));
        jsp_proto_u64(&x->message, 3, at->file ? otlp_string(x, x->p->files[at->file])
                                               : jsp_strings_add(&x->strings, parts.file));
        jsp_proto_u64(&x->message, 4, at->file ? 0 : parts.line);
        otlp_entry(x, OTLP_FUNCTION);
    }
}

static void otlp_strings(struct otlp *x)
{
    for (uint32_t i = 0; i < x->strings.n; i++)
        otlp_text(x, &x->tables[OTLP_STRING], OTLP_STRING, x->strings.list[i]);
}

/* Return the entry of the stack whose leaf is `node`. */
static uint32_t otlp_stack(struct otlp *x, uint32_t node)
{
    if (x->stack_of[node])
        return x->stack_of[node];
    uint32_t n = jsp_calltree_frames(&x->stacks, node, x->frames);
    for (uint32_t i = 0; i < n; i++)
        jsp_proto_item(&x->inner, x->frames[i] + 1);
    jsp_proto_nest(&x->message, 1, &x->inner);
    otlp_entry(x, OTLP_STACKS);
    return x->stack_of[node] = ++x->n_stacks;
}

/* -- Samples --------------------------------------------------------------------------- */

/* Append the entry of an attribute to those of a sample. */
static void otlp_has(struct otlp *x, uint32_t attribute)
{
    jsp_proto_item(&x->indices, attribute);
}

/* Return true for a key that the samples have without the host. */
static bool otlp_is_ours(struct jsp_read_text key)
{
    return jsp_read_is(key, "thread.id") || jsp_read_is(key, "thread.name") ||
           (key.len >= 7 && memcmp(key.at, "jsprof.", 7) == 0);
}

static void otlp_labels(struct otlp *x, const struct jsp_label_set *s)
{
    char key[OTLP_KEY];
    for (uint32_t i = 0; i < s->n; i++) {
        struct jsp_read_text is = s->pairs[i].key;
        snprintf(key, sizeof key, "%s%.*s", otlp_is_ours(is) ? "label." : "", (int)is.len, is.at);
        otlp_has(x, otlp_attribute(x, key, s->pairs[i].value, 0));
    }
}

static void otlp_sample(struct otlp *x, const struct jsp_calltree_count *c, uint64_t value)
{
    const struct jsp_thread_info *t = &x->p->threads[c->thread];
    const struct jsp_profile_state *s = &x->p->states[c->state];
    const char *name = jsp_shown_of_thread(x->p, c->thread);
    const struct jsp_label_set *labels = &x->p->labels.sets[c->labels];
    uint32_t stack = otlp_stack(x, c->node);
    uint32_t link = labels->trace ? otlp_link(x, labels->trace) : 0;
    otlp_has(x, otlp_attribute(x, "thread.id", (struct jsp_read_text){ NULL, 0 }, t->tid));
    if (*name)
        otlp_has(x, otlp_attribute(x, "thread.name", otlp_word(name), 0));
    if (s->state)
        otlp_has(x, otlp_attribute(x, "jsprof.state", otlp_word(jsp_states[s->state].key), 0));
    if (s->detail.len)
        otlp_has(x, otlp_attribute(x, s->state == JSP_STATE_HOST ? "jsprof.wait"
                                                                 : "jsprof.syscall",
                                   s->detail, 0));
    otlp_labels(x, labels);
    jsp_proto_u64(&x->message, OTLP_STACK, stack);
    jsp_proto_nest(&x->message, OTLP_ATTRIBUTES, &x->indices);
    jsp_proto_u64(&x->message, OTLP_LINK, link);
    jsp_proto_item(&x->inner, value);
    jsp_proto_nest(&x->message, OTLP_VALUES, &x->inner);
    jsp_proto_nest(&x->profile, OTLP_SAMPLES, &x->message);
}

/* A ValueType, as a field of the profile. */
static void otlp_type(struct otlp *x, enum otlp_profile field, const char *type, const char *unit)
{
    jsp_proto_u64(&x->message, 1, otlp_string(x, type));
    jsp_proto_u64(&x->message, 2, otlp_string(x, unit));
    jsp_proto_nest(&x->profile, field, &x->message);
}

/* A number that two profiles hardly share: engines drop the second copy of one that was sent
 * again. */
static void otlp_id(struct otlp *x, int32_t pid, uint32_t which)
{
    const struct jsp_profile *p = x->p;
    uint64_t at = jsp_hash_mix((uint64_t)pid << 8 | which, (uint64_t)p->start_time);
    at = jsp_hash_mix(at, (uint64_t)jsp_export_time_of_day(p));
    uint64_t id[2] = { jsp_hash_mix(at, p->value) | 1, jsp_hash_mix(at, p->samples) };
    for (uint32_t i = 0; i < sizeof id; i++) {
        char byte = (char)(id[i / 8] >> 8 * (i % 8));
        int err = jsp_bytes_write(&x->inner.bytes, &byte, 1);
        x->error = x->error ? x->error : err;
    }
    jsp_proto_nest(&x->profile, OTLP_PROFILE_ID, &x->inner);
}

/* Write one profile of a process into the scope; `which` is 0 for counts, 1 for values. */
static void otlp_profile(struct otlp *x, int32_t pid, struct otlp_part part, uint32_t which)
{
    const struct jsp_profile *p = x->p;
    const char *const *types = jsp_export_types(p);
    bool is_bytes = jsp_unit_is_bytes(p->unit), is_plain = p->unit == JSP_VALUE_COUNT;
    otlp_type(x, OTLP_SAMPLE_TYPE, types[which], which ? types[2] : "count");
    for (uint32_t i = 0; i < part.n; i++)
        otlp_sample(x, &part.at[i], which || is_plain ? part.at[i].value : part.at[i].weight);
    int64_t day = jsp_export_time_of_day(p);
    if (day)
        jsp_proto_fixed(&x->profile, OTLP_TIME, (uint64_t)day);
    uint64_t span = jsp_export_span(p);
    if (span)
        jsp_proto_u64(&x->profile, OTLP_DURATION, span);
    if (!is_plain) {
        otlp_type(x, OTLP_PERIOD_TYPE, is_bytes ? "space" : types[1], types[2]);
        jsp_proto_u64(&x->profile, OTLP_PERIOD, is_bytes ? p->heap.every : p->period_ns);
    }
    otlp_id(x, pid, which);
    jsp_proto_nest(&x->scope, OTLP_PROFILES, &x->profile);
}

/* -- Resources --------------------------------------------------------------------------- */

/* Return true if a label from `i` on has this key. The last one counts. */
static bool otlp_is_label(const struct otlp *x, struct jsp_read_text key, uint32_t i)
{
    for (; i < x->e->n_labels; i++)
        if (strncmp(x->e->labels[i], key.at, key.len) == 0 && x->e->labels[i][key.len] == '=')
            return true;
    return false;
}

static void otlp_pair(struct otlp *x, struct jsp_read_text key, struct jsp_read_text text,
                      int64_t n)
{
    otlp_text(x, &x->message, 1, key);
    otlp_value(x, &x->message, text, n);
    jsp_proto_nest(&x->profile, 1, &x->message);
}

/* An attribute of the resource, which has its key in place. A label replaces it. */
static void otlp_of_resource(struct otlp *x, const char *key, struct jsp_read_text text, int64_t n)
{
    if (!otlp_is_label(x, otlp_word(key), 0))
        otlp_pair(x, otlp_word(key), text, n);
}

static void otlp_of_labels(struct otlp *x)
{
    for (uint32_t i = 0; i < x->e->n_labels; i++) {
        const char *label = x->e->labels[i];
        struct jsp_read_text key = { label, (uint32_t)strcspn(label, "=") };
        if (!otlp_is_label(x, key, i + 1))
            otlp_pair(x, key, otlp_word(label + key.len + 1), 0);
    }
}

/* Return the file's name of the first word of a command. */
static struct jsp_read_text otlp_program(struct jsp_read_text command)
{
    uint32_t end = 0, from = 0;
    while (end < command.len && command.at[end] != ' ')
        if (command.at[end++] == '/')
            from = end;
    return (struct jsp_read_text){ command.at + from, end - from };
}

static void otlp_resource(struct otlp *x, int32_t pid, struct otlp_part part)
{
    const struct jsp_profile *p = x->p;
    struct jsp_read_text command = jsp_profile_command(p, pid), name = otlp_program(command);
    if (!name.len)
        name = otlp_word(*p->host ? p->host : "unknown_service");
    otlp_of_resource(x, "service.name", name, 0);
    const struct jsp_export_host *host = jsp_export_host(x->e, pid);
    otlp_of_resource(x, "process.pid", (struct jsp_read_text){ NULL, 0 }, host ? host->pid : pid);
    if (host && *host->vm)
        otlp_of_resource(x, "process.runtime.name", otlp_word(host->vm), 0);
    if (command.len)
        otlp_of_resource(x, "process.command_line", command, 0);
    otlp_of_labels(x);
    jsp_proto_nest(&x->resource, OTLP_RESOURCE, &x->profile);
    otlp_text(x, &x->message, 1, otlp_word("jsprof"));
    otlp_text(x, &x->message, 2, otlp_word(p->version));
    jsp_proto_nest(&x->scope, OTLP_SCOPE, &x->message);
    for (uint32_t which = 0; which <= (p->unit != JSP_VALUE_COUNT); which++)
        otlp_profile(x, pid, part, which);
    jsp_proto_nest(&x->resource, OTLP_SCOPE_PROFILES, &x->scope);
}

/* Order counts by process. */
static int otlp_compare(const void *a, const void *b, void *profile)
{
    const struct jsp_profile *p = profile;
    const struct jsp_calltree_count *x = a, *y = b;
    int32_t of_x = p->threads[x->thread].pid, of_y = p->threads[y->thread].pid;
    if (of_x != of_y)
        return of_x < of_y ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    return (x->labels > y->labels) - (x->labels < y->labels);
}

static void otlp_put(struct otlp *x, enum otlp_data field, struct jsp_proto *m)
{
    int err = jsp_proto_put(x->e->out, field, m);
    x->error = x->error ? x->error : err;
}

static void otlp_write(struct otlp *x)
{
    for (uint32_t i = OTLP_MAPPING; i < OTLP_N_TABLES; i++)
        if (i != OTLP_STRING)
            otlp_entry(x, (enum otlp_table)i);
    otlp_locations(x);
    otlp_functions(x);
    for (uint32_t i = 0, end = 0; i < x->n_counts; i = end) {
        int32_t pid = x->p->threads[x->counts[i].thread].pid;
        while (end < x->n_counts && x->p->threads[x->counts[end].thread].pid == pid)
            end++;
        otlp_resource(x, pid, (struct otlp_part){ x->counts + i, end - i });
        otlp_put(x, OTLP_RESOURCE_PROFILES, &x->resource);
    }
    otlp_strings(x); /* last, when all of them are known */
    for (uint32_t i = OTLP_MAPPING; i < OTLP_N_TABLES; i++) {
        struct jsp_proto *t = &x->tables[i];
        if (t->bytes.n)
            x->error = x->error ? x->error
                                : jsp_bytes_write(&x->dictionary.bytes, t->bytes.at, t->bytes.n);
        x->error = x->error ? x->error : t->error;
    }
    otlp_put(x, OTLP_DICTIONARY, &x->dictionary);
    if (!x->error)
        x->error = x->places.error ? x->places.error
                   : x->strings.error ? x->strings.error
                   : x->attributes.error ? x->attributes.error : x->links.error;
}

static int otlp_make(struct otlp *x)
{
    int err = jsp_export_tree(&x->stacks, x->e);
    if (err == 0)
        err = jsp_modules_build(&x->modules, x->p);
    if (err == 0)
        err = jsp_strings_init(&x->strings);
    if (err == 0)
        err = jsp_strings_init(&x->attributes);
    if (err == 0)
        err = jsp_strings_init(&x->links);
    if (err == 0)
        err = jsp_places_init(&x->places);
    if (err)
        return err;
    x->counts = jsp_export_counts(&x->stacks, x->p, &x->n_counts);
    x->stack_of = calloc((size_t)x->stacks.n_nodes + 1, sizeof *x->stack_of);
    x->mapping_of = calloc((size_t)x->modules.n + 1, sizeof *x->mapping_of);
    x->frames = malloc(JSP_PROFILE_DEPTH * sizeof *x->frames);
    if (!x->counts || !x->stack_of || !x->mapping_of || !x->frames)
        return -ENOMEM;
    qsort_r(x->counts, x->n_counts, sizeof *x->counts, otlp_compare, x->p);
    return 0;
}

static void otlp_free(struct otlp *x)
{
    struct jsp_proto *messages[] = { &x->dictionary, &x->message, &x->inner, &x->text,
                                     &x->profile, &x->scope, &x->resource, &x->indices };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        jsp_proto_free(messages[i]);
    for (uint32_t i = 0; i < OTLP_N_TABLES; i++)
        jsp_proto_free(&x->tables[i]);
    jsp_calltree_free(&x->stacks);
    jsp_modules_free(&x->modules);
    jsp_strings_free(&x->strings);
    jsp_strings_free(&x->attributes);
    jsp_strings_free(&x->links);
    jsp_places_free(&x->places);
    free(x->counts);
    free(x->stack_of);
    free(x->mapping_of);
    free(x->frames);
    free(x);
}

int jsp_export_otlp(struct jsp_export *e)
{
    struct otlp *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->e = e;
    x->p = e->profile;
    int err = otlp_make(x);
    if (err == 0) {
        otlp_write(x);
        err = x->error;
    }
    otlp_free(x);
    return err;
}
