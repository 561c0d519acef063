/* export/speedscope.c - speedscope's own format: a sampled profile for each thread, with weights.
 *
 * Samples are in the order of time, so that all three of its views work; neighbours with
 * the same stack are merged. A frame is a function.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "json.h"
#include "shown_names.h"
#include "analyze/name_parts.h"
#include "text_cache.h"
#include "tables.h"

struct speedscope {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_json json;
    struct jsp_tables from;
    struct jsp_text_cache cache; /* "[1,2,3]" for each node's stack */
    uint32_t *frames;
};

static void speedscope_frames(struct speedscope *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "shared", '{');
    jsp_json_key_open(j, "frames", '[');
    for (uint32_t i = 0; i < x->p->n_functions; i++) {
        struct jsp_name_parts parts = jsp_name_split(x->p->functions[i].name);
        const struct jsp_module *m = jsp_tables_module(&x->from, i);
        jsp_json_open(j, '{');
        jsp_json_key(j, "name");
        jsp_json_bytes(j, parts.name.at, parts.name.len);
        jsp_json_key(j, "file");
        jsp_json_bytes(j, parts.file.len ? parts.file.at : m->path.at,
                       parts.file.len ? parts.file.len : m->path.len);
        if (parts.line)
            jsp_json_key_u64(j, "line", parts.line);
        if (parts.column)
            jsp_json_key_u64(j, "col", parts.column);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
}

static void speedscope_stack(struct speedscope *x, uint32_t node)
{
    if (jsp_text_cache_wants(&x->cache, node)) {
        struct jsp_json j;
        jsp_json_init(&j, &x->cache.into);
        jsp_json_open(&j, '[');
        for (uint32_t i = jsp_calltree_frames(&x->from.stacks, node, x->frames); i-- > 0;)
            jsp_json_u64(&j, x->from.stacks.frames[x->frames[i]].function);
        jsp_json_close(&j, ']');
    }
    jsp_json_value(&x->json);
    jsp_text_cache_put(&x->cache, node, x->json.out);
}

static void speedscope_thread(struct speedscope *x, uint32_t thread)
{
    struct jsp_json *j = &x->json;
    const struct jsp_moment *at = x->from.moments.list + x->from.moments.first[thread];
    uint32_t n = x->from.moments.first[thread + 1] - x->from.moments.first[thread];
    char name[JSP_NAMES_THREAD];
    uint64_t value = 0;
    for (uint32_t i = 0; i < n; i++)
        value += at[i].value;
    struct jsp_read_text text = jsp_shown_thread_text(name, x->p, thread);
    jsp_json_open(j, '{');
    jsp_json_key_text(j, "type", "sampled");
    jsp_json_key(j, "name");
    jsp_json_bytes(j, text.at, text.len);
    jsp_json_key_text(j, "unit", jsp_unit_is_bytes(x->p->unit)      ? "bytes"
                                 : x->p->unit == JSP_VALUE_COUNT ? "none"
                                                                 : "nanoseconds");
    jsp_json_key_u64(j, "startValue", 0);
    jsp_json_key_u64(j, "endValue", value);
    jsp_json_key_open(j, "samples", '[');
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || at[i].node != at[i - 1].node)
            speedscope_stack(x, at[i].node);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "weights", '[');
    for (uint32_t i = 0, next; i < n; i = next) {
        uint64_t weight = 0;
        for (next = i; next < n && at[next].node == at[i].node; next++)
            weight += at[next].value;
        jsp_json_u64(j, weight);
    }
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
}

int jsp_export_speedscope(struct jsp_export *e)
{
    struct speedscope *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->e = e;
    x->p = e->profile;
    x->frames = malloc(JSP_PROFILE_DEPTH * sizeof *x->frames);
    jsp_json_init(&x->json, e->out);
    int err = jsp_tables_build(&x->from, e, JSP_CALLTREE_KINDS);
    if (err == 0)
        err = jsp_text_cache_init(&x->cache, x->from.stacks.n_nodes);
    if (err == 0 && !x->frames)
        err = -ENOMEM;
    if (err == 0) {
        struct jsp_json *j = &x->json;
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
        jsp_json_key_text(j, "name", x->e->title);
        jsp_json_key_text(j, "exporter", "jsprof");
        jsp_json_key_u64(j, "activeProfileIndex", 0);
        speedscope_frames(x);
        jsp_json_key_open(j, "profiles", '[');
        for (uint32_t t = 0; t < x->p->n_threads; t++)
            if (x->from.moments.first[t] < x->from.moments.first[t + 1])
                speedscope_thread(x, t);
        jsp_json_close(j, ']');
        jsp_json_close(j, '}');
        jsp_sink_byte(j->out, '\n');
        err = x->cache.into.error;
    }
    jsp_tables_free(&x->from);
    jsp_text_cache_free(&x->cache);
    free(x->frames);
    free(x);
    return err;
}
