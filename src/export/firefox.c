/* export/firefox.c - a processed profile for the Firefox Profiler (profiler.firefox.com).
 *
 * Version 56 of its format, which newer viewers upgrade: a section for each thread with
 * its own tables, and one table of strings. A sample's weight is its time in ms if the
 * recording has a clock; each sample has the CPU time since the one before.
 *
 * SPDX-License-Identifier: MIT
 */
#include "firefox.h"

#include <errno.h>
#include <stdlib.h>

enum { FIREFOX_VERSION = 56, FIREFOX_GECKO_VERSION = 31, FIREFOX_MS = 1000000 };

static bool firefox_has_native(const struct firefox *x)
{
    for (uint32_t i = 0; i < x->from.stacks.n_frames; i++)
        if (x->from.stacks.frames[i].origin != JSP_ORIGIN_VM)
            return true;
    return false;
}

/* Write the figures of the recording that the viewer shows, including losses. */
static void firefox_extra(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    const struct jsp_profile *p = x->p;
    struct jsp_account_verdict verdict;
    jsp_account_verdict(&p->account, &verdict);
    const struct {
        const char *label;
        uint64_t value;
    } rows[] = { { "Samples", x->from.stacks.samples },
                 { "Timer expirations they stand for", x->from.stacks.weight },
                 { "Timer expirations lost", jsp_account_lost(&verdict.sum) } };
    jsp_json_key_open(j, "extra", '[');
    jsp_json_open(j, '{');
    jsp_json_key_text(j, "label", "Recording");
    jsp_json_key_open(j, "entries", '[');
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "label", rows[i].label);
        jsp_json_key_text(j, "format", "integer");
        jsp_json_key_u64(j, "value", rows[i].value);
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
    jsp_json_close(j, ']');
}

static void firefox_meta(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    const struct jsp_profile *p = x->p;
    struct jsp_read_text command =
        jsp_profile_command(p, p->n_threads ? p->threads[0].pid : 0);
    jsp_json_key_open(j, "meta", '{');
    jsp_json_key(j, "interval");
    jsp_json_ms(j, p->period_ns ? p->period_ns : FIREFOX_MS);
    jsp_json_key(j, "startTime");
    jsp_json_ms(j, (uint64_t)jsp_export_time_of_day(p));
    jsp_json_key_i64(j, "startTimeAsClockMonotonicNanosecondsSinceBoot", p->start_time);
    jsp_json_key_u64(j, "processType", 0);
    jsp_json_key(j, "product");
    if (*p->host)
        jsp_json_text(j, p->host);
    else
        jsp_json_bytes(j, command.at, command.len);
    jsp_json_key(j, "arguments");
    jsp_json_bytes(j, command.at, command.len);
    jsp_json_key_text(j, "importedFrom", "jsprof");
    jsp_json_key_u64(j, "stackwalk", 1);
    jsp_json_key_u64(j, "version", FIREFOX_GECKO_VERSION);
    jsp_json_key_u64(j, "preprocessedProfileVersion", FIREFOX_VERSION);
    jsp_json_key_bool(j, "symbolicated", true);
    jsp_json_key_bool(j, "usesOnlyOneStackType", !firefox_has_native(x));
    jsp_json_key_bool(j, "sourceCodeIsNotOnSearchfox", true);
    jsp_json_key_open(j, "sampleUnits", '{');
    jsp_json_key_text(j, "time", "ms");
    jsp_json_key_text(j, "eventDelay", "ms");
    jsp_json_key_text(j, "threadCPUDelta", "ns");
    jsp_json_close(j, '}');
    firefox_category_list(x);
    firefox_mark_schema(x);
    firefox_extra(x);
    jsp_json_close(j, '}');
}

static struct jsp_read_text firefox_base(struct jsp_read_text path)
{
    uint32_t at = path.len;
    while (at > 0 && path.at[at - 1] != '/')
        at--;
    return (struct jsp_read_text){ path.at + at, path.len - at };
}

static void firefox_text(struct jsp_json *j, const char *key, struct jsp_read_text text)
{
    jsp_json_key(j, key);
    jsp_json_bytes(j, text.at, text.len);
}

static void firefox_libs(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    uint32_t n = 0;
    jsp_json_key_open(j, "libs", '[');
    for (uint32_t i = 0; i < x->from.modules.n; i++) {
        const struct jsp_module *m = &x->from.modules.list[i];
        if (!m->is_file)
            continue;
        x->lib[i] = ++n;
        jsp_json_open(j, '{');
        jsp_json_key_text(j, "arch", "");
        firefox_text(j, "name", firefox_base(m->path));
        firefox_text(j, "path", m->path);
        firefox_text(j, "debugName", firefox_base(m->path));
        firefox_text(j, "debugPath", m->path);
        jsp_json_key_text(j, "breakpadId", "");
        if (m->build_id.len)
            firefox_text(j, "codeId", m->build_id);
        else
            jsp_json_key_null(j, "codeId");
        jsp_json_close(j, '}');
    }
    jsp_json_close(j, ']');
}

static bool firefox_has(const struct firefox *x, uint32_t thread)
{
    return x->from.moments.first[thread] < x->from.moments.first[thread + 1];
}

static void firefox_write(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_open(j, '{');
    firefox_meta(x);
    firefox_libs(x);
    jsp_json_key_open(j, "pages", '[');
    jsp_json_close(j, ']');
    firefox_counters(x);
    jsp_json_key_open(j, "threads", '[');
    for (uint32_t t = 0; t < x->p->n_threads; t++)
        if (firefox_has(x, t))
            firefox_thread(x, t);
    jsp_json_close(j, ']');
    /* Written last, when all strings are known. */
    jsp_json_key_open(j, "shared", '{');
    jsp_json_key_open(j, "stringArray", '[');
    for (uint32_t i = 0; i < x->strings.n; i++)
        jsp_json_bytes(j, x->strings.list[i].at, x->strings.list[i].len);
    jsp_json_close(j, ']');
    jsp_json_close(j, '}');
    jsp_json_close(j, '}');
    jsp_sink_byte(j->out, '\n');
}

static int firefox_tables(struct firefox *x)
{
    uint32_t nodes = x->from.stacks.n_nodes, frames = x->from.stacks.n_frames;
    uint32_t modules = x->from.modules.n, functions = x->p->n_functions;
    struct {
        uint32_t **table;
        uint32_t n;
    } tables[] = {
        { &x->of_function, functions }, { &x->lib, modules },
        { &x->node_id, nodes },         { &x->nodes, nodes },
        { &x->frame_id, frames },       { &x->frames, frames },
        { &x->func_id, functions },     { &x->funcs, functions },
        { &x->module_id, modules },     { &x->used_modules, modules },
        { &x->position, x->p->n_threads },
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!(*tables[i].table = calloc((size_t)tables[i].n + 1, sizeof(uint32_t))))
            return -ENOMEM;
    x->mark = calloc(nodes, sizeof *x->mark);
    if (!x->mark)
        return -ENOMEM;
    for (uint32_t i = 0; i < functions; i++)
        x->of_function[i] = jsp_categories_of(x->e->categories, &x->p->functions[i],
                                              x->p->functions[i].kind);
    for (uint32_t t = 0, n = 0; t < x->p->n_threads; t++) {
        x->position[t] = n;
        n += firefox_has(x, t);
    }
    return 0;
}

int jsp_export_firefox(struct jsp_export *e)
{
    struct firefox *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->e = e;
    x->p = e->profile;
    jsp_json_init(&x->json, e->out);
    int err = jsp_timeline_build(&x->timeline, &x->from, e, JSP_CALLTREE_LINES);
    if (err == 0)
        err = jsp_strings_init(&x->strings);
    if (err == 0)
        err = firefox_tables(x);
    if (err == 0) {
        firefox_write(x);
        err = x->strings.error;
    }
    jsp_tables_free(&x->from);
    jsp_timeline_free(&x->timeline);
    jsp_strings_free(&x->strings);
    uint32_t *const tables[] = { x->of_function, x->lib,      x->node_id, x->nodes,
                                 x->frame_id,    x->frames,   x->func_id, x->funcs,
                                 x->module_id,   x->used_modules, x->position };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        free(tables[i]);
    free(x->mark);
    free(x);
    return err;
}
