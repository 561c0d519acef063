/* export/firefox_thread.c - one thread in the Firefox Profiler's format: its own tables.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "firefox.h"
#include "shown_names.h"
#include "analyze/name_parts.h"
#include "jsprof.h"

enum { THREAD_RESOURCE_LIBRARY = 1, THREAD_RESOURCE_OTHER = 0 };

/* Give an item the next number in the table of used ones. */
static void thread_use(uint32_t *id, uint32_t *used, uint32_t *n, uint32_t what)
{
    if (id[what])
        return;
    used[*n] = what;
    id[what] = ++*n;
}

static void thread_collect(struct firefox *x, uint32_t thread)
{
    x->n_frames = x->n_funcs = x->n_modules = 0;
    x->n_nodes = jsp_moments_nodes(&x->from.moments, &x->from.stacks, thread, x->mark,
                                   x->nodes);
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        uint32_t frame = x->from.stacks.nodes[x->nodes[i]].frame;
        uint32_t function = x->from.stacks.frames[frame].function;
        x->node_id[x->nodes[i]] = i + 1;
        thread_use(x->frame_id, x->frames, &x->n_frames, frame);
        thread_use(x->func_id, x->funcs, &x->n_funcs, function);
        thread_use(x->module_id, x->used_modules, &x->n_modules,
                   x->from.modules.of_function[function]);
    }
}

static void thread_samples(struct firefox *x, const struct jsp_moment *at, uint32_t n)
{
    struct jsp_json *j = &x->json;
    bool is_time = jsp_unit_is_time(x->p->unit);
    jsp_json_key_open(j, "samples", '{');
    jsp_json_key_text(j, "weightType",
                      is_time                         ? "tracing-ms"
                      : jsp_unit_is_bytes(x->p->unit) ? "bytes"
                                                      : "samples");
    jsp_json_key_open(j, "stack", '[');
    for (uint32_t i = 0; i < n; i++)
        jsp_json_u64(j, x->node_id[at[i].node] - 1);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "time", '[');
    for (uint32_t i = 0; i < n; i++)
        firefox_time(x, at[i].time);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "weight", '[');
    for (uint32_t i = 0; i < n; i++)
        if (is_time)
            jsp_json_ms(j, at[i].value);
        else
            jsp_json_u64(j, at[i].value);
    jsp_json_close(j, ']');
    if (*x->p->version) { /* only our captures contain it */
        jsp_json_key_open(j, "threadCPUDelta", '[');
        for (uint32_t i = 0; i < n; i++)
            jsp_json_u64(j, at[i].cpu_ns);
        jsp_json_close(j, ']');
    }
    jsp_json_key_u64(j, "length", n);
    jsp_json_close(j, '}');
}

static void thread_stacks(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "stackTable", '{');
    jsp_json_key_open(j, "frame", '[');
    for (uint32_t i = 0; i < x->n_nodes; i++)
        jsp_json_u64(j, x->frame_id[x->from.stacks.nodes[x->nodes[i]].frame] - 1);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "prefix", '[');
    for (uint32_t i = 0; i < x->n_nodes; i++) {
        uint32_t parent = x->from.stacks.nodes[x->nodes[i]].parent;
        if (parent)
            jsp_json_u64(j, x->node_id[parent] - 1);
        else
            jsp_json_null(j);
    }
    jsp_json_close(j, ']');
    jsp_json_key_u64(j, "length", x->n_nodes);
    jsp_json_close(j, '}');
}

enum thread_column {
    THREAD_ADDRESS,
    THREAD_INLINE,
    THREAD_CATEGORY,
    THREAD_SUBCATEGORY,
    THREAD_FUNC,
    THREAD_SYMBOL,
    THREAD_WINDOW,
    THREAD_LINE,
    THREAD_COLUMN,
};

static void thread_or_null(struct jsp_json *j, uint32_t n)
{
    if (n)
        jsp_json_u64(j, n);
    else
        jsp_json_null(j);
}

static void thread_frame_cell(struct firefox *x, const struct jsp_profile_frame *f,
                              enum thread_column column)
{
    struct jsp_json *j = &x->json;
    switch (column) {
    case THREAD_ADDRESS: jsp_json_i64(j, -1); break;
    case THREAD_INLINE:
    case THREAD_WINDOW: jsp_json_u64(j, 0); break;
    case THREAD_CATEGORY: jsp_json_u64(j, firefox_category(f->kind)); break;
    case THREAD_SUBCATEGORY: jsp_json_u64(j, x->of_function[f->function] + 1); break;
    case THREAD_FUNC: jsp_json_u64(j, x->func_id[f->function] - 1); break;
    case THREAD_LINE: thread_or_null(j, f->line); break;
    case THREAD_SYMBOL:
    case THREAD_COLUMN: jsp_json_null(j); break;
    }
}

static void thread_frames(struct firefox *x)
{
    static const char *const names[] = { "address",      "inlineDepth",   "category",
                                         "subcategory",  "func",          "nativeSymbol",
                                         "innerWindowID", "line",         "column" };
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "frameTable", '{');
    for (int column = THREAD_ADDRESS; column <= THREAD_COLUMN; column++) {
        jsp_json_key_open(j, names[column], '[');
        for (uint32_t i = 0; i < x->n_frames; i++)
            thread_frame_cell(x, &x->from.stacks.frames[x->frames[i]],
                              (enum thread_column)column);
        jsp_json_close(j, ']');
    }
    jsp_json_key_u64(j, "length", x->n_frames);
    jsp_json_close(j, '}');
}

static void thread_func_cell(struct firefox *x, uint32_t func, int column)
{
    const struct jsp_function *f = &x->p->functions[x->funcs[func]];
    struct jsp_name_parts parts = jsp_name_split(f->name);
    struct jsp_json *j = &x->json;
    switch (column) {
    case 0: jsp_json_u64(j, jsp_strings_add(&x->strings, parts.name)); break;
    case 1:
        jsp_json_bool(j, f->kind == JSPROF_KIND_VM || f->kind == JSPROF_KIND_JIT);
        break;
    case 2: jsp_json_bool(j, f->kind == JSPROF_KIND_LABEL); break;
    case 3:
        jsp_json_u64(j, x->module_id[x->from.modules.of_function[x->funcs[func]]] - 1);
        break;
    case 4:
        thread_or_null(j, parts.file.len ? jsp_strings_add(&x->strings, parts.file) : 0);
        break;
    case 5: thread_or_null(j, parts.line); break;
    case 6: thread_or_null(j, parts.column); break;
    default: break;
    }
}

static void thread_funcs(struct firefox *x)
{
    static const char *const names[] = { "name",     "isJS",       "relevantForJS",
                                         "resource", "fileName",   "lineNumber",
                                         "columnNumber" };
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "funcTable", '{');
    for (int column = 0; column < (int)(sizeof names / sizeof *names); column++) {
        jsp_json_key_open(j, names[column], '[');
        for (uint32_t i = 0; i < x->n_funcs; i++)
            thread_func_cell(x, i, column);
        jsp_json_close(j, ']');
    }
    jsp_json_key_u64(j, "length", x->n_funcs);
    jsp_json_close(j, '}');
}

/* Write the resources of functions: libraries, and the modules in brackets. */
static void thread_resources(struct firefox *x)
{
    struct jsp_json *j = &x->json;
    jsp_json_key_open(j, "resourceTable", '{');
    jsp_json_key_open(j, "lib", '[');
    for (uint32_t i = 0; i < x->n_modules; i++) {
        uint32_t lib = x->lib[x->used_modules[i]];
        if (lib)
            jsp_json_u64(j, lib - 1);
        else
            jsp_json_null(j);
    }
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "name", '[');
    for (uint32_t i = 0; i < x->n_modules; i++)
        jsp_json_u64(j, jsp_strings_add(&x->strings,
                                        x->from.modules.list[x->used_modules[i]].path));
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "host", '[');
    for (uint32_t i = 0; i < x->n_modules; i++)
        jsp_json_null(j);
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "type", '[');
    for (uint32_t i = 0; i < x->n_modules; i++)
        jsp_json_u64(j, x->lib[x->used_modules[i]] ? THREAD_RESOURCE_LIBRARY
                                                   : THREAD_RESOURCE_OTHER);
    jsp_json_close(j, ']');
    jsp_json_key_u64(j, "length", x->n_modules);
    jsp_json_close(j, '}');
    static const char *const none[] = { "libIndex", "address", "name", "functionSize" };
    jsp_json_key_open(j, "nativeSymbols", '{');
    for (int i = 0; i < 4; i++) {
        jsp_json_key_open(j, none[i], '[');
        jsp_json_close(j, ']');
    }
    jsp_json_key_u64(j, "length", 0);
    jsp_json_close(j, '}');
}

static void thread_head(struct firefox *x, uint32_t thread)
{
    struct jsp_json *j = &x->json;
    const struct jsp_thread_info *t = &x->p->threads[thread];
    struct jsp_read_text command = jsp_profile_command(x->p, t->pid);
    char text[JSP_NAMES_THREAD];
    const char *name = jsp_shown_of_thread(x->p, thread);
    snprintf(text, sizeof text, "thread %d", (int)t->tid);
    jsp_json_key_text(j, "name", *name ? name : text);
    jsp_json_key(j, "processName");
    jsp_json_bytes(j, command.at, command.len);
    jsp_json_key_text(j, "processType", "default");
    jsp_json_key_bool(j, "isMainThread", t->pid == t->tid);
    snprintf(text, sizeof text, "%d", (int)t->pid);
    jsp_json_key_text(j, "pid", text);
    jsp_json_key_i64(j, "tid", t->tid);
    jsp_json_key_u64(j, "processStartupTime", 0);
    jsp_json_key_null(j, "processShutdownTime");
    jsp_json_key(j, "registerTime");
    firefox_time(x, t->first_time);
    jsp_json_key_null(j, "unregisterTime");
    jsp_json_key_open(j, "pausedRanges", '[');
    jsp_json_close(j, ']');
}

void firefox_thread(struct firefox *x, uint32_t thread)
{
    const struct jsp_moment *at = x->from.moments.list + x->from.moments.first[thread];
    uint32_t n = x->from.moments.first[thread + 1] - x->from.moments.first[thread];
    thread_collect(x, thread);
    jsp_json_open(&x->json, '{');
    thread_head(x, thread);
    thread_samples(x, at, n);
    firefox_marks(x, thread);
    thread_stacks(x);
    thread_frames(x);
    thread_funcs(x);
    thread_resources(x);
    jsp_json_close(&x->json, '}');
    /* The next thread has numbers of its own. */
    for (uint32_t i = 0; i < x->n_nodes; i++)
        x->node_id[x->nodes[i]] = 0;
    for (uint32_t i = 0; i < x->n_frames; i++)
        x->frame_id[x->frames[i]] = 0;
    for (uint32_t i = 0; i < x->n_funcs; i++)
        x->func_id[x->funcs[i]] = 0;
    for (uint32_t i = 0; i < x->n_modules; i++)
        x->module_id[x->used_modules[i]] = 0;
}
