/* reader_fuzz.c - any bytes as a capture, through reader, profile, functions and tree.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "analyze/annotate.h"
#include "analyze/events.h"
#include "analyze/functions.h"
#include "analyze/lines.h"
#include "analyze/neighbours.h"
#include "analyze/samples.h"
#include "analyze/tasks.h"
#include "analyze/tree.h"
#include "analyze/walk.h"
#include "capture/wire.h"
#include "export/export.h"
#include "export/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_bodies(const struct jsp_read_cursor *c, const struct jsp_read_frame *f)
{
    struct jsp_read_map map;
    struct jsp_read_mark mark;
    struct jsp_read_pair pair;
    struct jsp_read_chunk chunk;
    struct jsp_read_text text;
    struct jsp_read_counters counters;
    struct jsp_read_counter counter;
    int32_t child;
    /* Whatever its type says, as every type. */
    jsp_read_map(c, f, &map);
    jsp_read_mark(c, f, &mark);
    jsp_read_pair(c, f, &pair);
    jsp_read_chunk(c, f, &chunk);
    jsp_read_process(c, f, &text);
    jsp_read_fork(c, f, &child);
    if (jsp_read_counters(c, f, &counters))
        while (jsp_read_counter(c, f, &counters, &counter))
            continue;
}

static void fuzz_walk(const struct jsp_profile *p)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_samples samples;
    struct jsp_sample sample;
    jsp_read_start(&c, p->capture, NULL);
    jsp_samples_start(&samples, p, NULL);
    while (jsp_read_next(&c, &f)) {
        fuzz_bodies(&c, &f);
        if (f.type == JSP_WIRE_SAMPLE)
            jsp_samples_take(&samples, &f, &sample);
    }
}

static void fuzz_lines(struct jsp_profile *p)
{
    struct jsp_line_asks asks;
    if (jsp_lines_collect(p, NULL, &asks) < 0)
        return;
    for (uint32_t i = 0; i < asks.n; i++)
        jsp_lines_answer(p, &asks.list[i], (struct jsp_line){ { "f.c", i & 3 }, i });
    jsp_lines_free(&asks);
}

/* What must hold for any capture, however wrong, and whatever of it is shown. */
static void fuzz_check(struct jsp_profile *p, enum jsp_show show)
{
    struct jsp_functions f;
    struct jsp_tree t;
    struct jsp_tree_options options = { .select.show = show, .has_lines = show != 0 };
    uint64_t self = 0;
    if (jsp_functions_build(&f, p, &options.select) < 0)
        return;
    jsp_functions_sort(&f, p, JSP_SORT_SELF);
    for (uint32_t i = 0; i < f.n; i++) {
        self += f.rows[i].self_samples;
        if (f.rows[i].total_samples > f.samples ||
            f.rows[i].self_samples > f.rows[i].total_samples)
            abort();
    }
    if (self != p->samples)
        abort();
    jsp_functions_free(&f);
    for (int up = 0; up < 2; up++) {
        options.is_bottom_up = up;
        if (jsp_tree_build(&t, p, &options) < 0)
            return;
        if (t.nodes[0].n_samples != p->samples)
            abort();
        jsp_tree_free(&t);
    }
}

/* A function from inside is never more than the function. */
static void fuzz_annotate(struct jsp_profile *p, const struct jsp_profile_samples *samples,
                          uint32_t function)
{
    struct jsp_read_defects defects = { 0 };
    struct jsp_annotate_ask ask = { function, NULL, samples, &defects };
    struct jsp_annotate a;
    struct jsp_annotate_block *blocks = NULL;
    struct jsp_annotate_opcode *opcodes = NULL;
    uint32_t n = 0, rows = 0;
    if (jsp_annotate_build(&a, p, &ask) < 0)
        return;
    if (a.in_lines > a.self || a.in_rows > a.self || a.self > a.total || a.total > a.value)
        abort();
    if (a.code.n && jsp_annotate_blocks(&a, &blocks, &n) == 0)
        for (uint32_t i = 0; i < n; i++)
            rows += blocks[i].n;
    if (rows != a.code.n)
        abort();
    if (a.code.n && jsp_annotate_opcodes(&a, &opcodes, &n) == 0 && n > a.code.n)
        abort();
    free(blocks);
    free(opcodes);
    jsp_annotate_free(&a);
}

/* Marks and counters, the neighbours of a function, each sample with its stack. */
static void fuzz_events(struct jsp_profile *p)
{
    struct jsp_events e;
    struct jsp_neighbours n;
    struct jsp_walk walk;
    struct jsp_walk_item item;
    uint64_t samples = 0, value = 0;
    if (jsp_events_read(&e, p, (struct jsp_events_of){ 0 }) == 0)
        jsp_events_free(&e);
    const char *name = p->n_functions ? p->functions[0].name : "main";
    if (jsp_neighbours_build(&n, p, NULL, name) == 0) {
        for (uint32_t i = 0; i < n.n_callers; i++)
            value += n.callers[i].samples;
        if (value != n.total_samples || n.samples != p->samples)
            abort();
        jsp_neighbours_free(&n);
    }
    jsp_walk_start(&walk, p, NULL);
    while (jsp_walk_next(&walk, &item))
        samples++;
    if (samples != p->samples)
        abort();
}

/* Every link of tasks leads to an element, and every walk to the root ends. */
static void fuzz_tasks(struct jsp_profile *p)
{
    static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    struct jsp_tasks t;
    uint32_t runs = 0;
    if (jsp_tasks_read(&t, p) < 0)
        return;
    for (uint32_t i = 0; i < t.n_tasks; i++) {
        const struct jsp_task *task = &t.tasks[i];
        runs += task->n_runs;
        if ((task->parent != JSP_TASK_NONE && task->parent >= i) || task->what >= t.n_whats ||
            task->thread >= t.n_threads || task->first_run + task->n_runs > t.n_runs ||
            (task->stack != JSP_TASK_NONE && task->stack >= t.n_stacks))
            abort();
    }
    for (uint32_t i = 0; i < t.n_runs; i++) {
        const struct jsp_task_run *run = &t.runs[i];
        runs += run->task == JSP_TASK_NONE;
        if ((run->outer != JSP_TASK_NONE && run->outer >= i) || run->inner > run->duration ||
            run->thread >= t.n_threads || (run->turn != JSP_TASK_NONE && run->turn >= t.n_turns) ||
            (run->by != JSP_TASK_NONE && run->by >= t.n_tasks))
            abort();
        jsp_tasks_run_at(&t, run->thread, run->begin);
    }
    if (runs != t.n_runs)
        abort();
    for (uint32_t i = 0; i < t.n_stacks; i++)
        if (jsp_tasks_stack_frames(&t, p, i, frames) < 0)
            break;
    jsp_tasks_free(&t);
}

/* Whatever is asked for, it is never more than all. */
static void fuzz_filter(struct jsp_profile *p)
{
    static struct jsp_categories *categories;
    struct jsp_categories_defect defect;
    struct jsp_filter_options o = { .only = "a|b", .hide_system = true };
    struct jsp_select select = { 0 };
    struct jsp_functions f;
    char why[JSP_FILTER_WHY];
    if (!categories &&
        jsp_categories_open(&categories, (struct jsp_read_text){ "", 0 }, &defect) < 0)
        return;
    o.categories = categories;
    for (int i = 0; i < 3; i++) {
        o.under = i == 1 && p->n_functions ? p->functions[0].name : NULL;
        o.category = i == 2 ? "library" : NULL;
        if (jsp_filter_open(&select.filter, &o, why) < 0)
            return;
        if (jsp_functions_build(&f, p, &select) == 0) {
            if (f.samples > p->samples)
                abort();
            jsp_functions_free(&f);
        }
        jsp_filter_close(select.filter);
        o.only = NULL;
    }
}

/* Twice the same capture has twice the samples, and nothing that can not be read. */
static void fuzz_merge(struct jsp_profile *p)
{
    static struct jsp_sink sink;
    struct jsp_bytes bytes = { 0 };
    struct jsp_profile *inputs[2] = { p, p }, merged;
    struct jsp_merge m = { .inputs = inputs, .n = 2, .out = &sink };
    struct jsp_read r;
    char why[JSP_READ_WHY];
    jsp_sink_init(&sink, jsp_bytes_write, &bytes);
    if (jsp_merge_write(&m) == 0 && jsp_sink_flush(&sink) == 0) {
        if (jsp_read_memory(&r, bytes.at, bytes.n, why) < 0 ||
            m.samples != 2 * p->samples)
            abort();
        if (jsp_profile_load(&merged, &r, NULL) == 0) {
            fuzz_tasks(&merged);
            if (merged.samples != 2 * p->samples ||
                merged.defects.count[JSP_READ_LENGTH] || merged.defects.count[JSP_READ_CUT])
                abort();
            jsp_profile_free(&merged);
        }
        jsp_read_close(&r);
    }
    jsp_bytes_free(&bytes);
}

/* In the other form it has the same samples, and nothing that can not be read. */
static void fuzz_recode(struct jsp_profile *p, jsp_export_write *to)
{
    static struct jsp_sink sink;
    struct jsp_bytes bytes = { 0 };
    struct jsp_export e = { .profile = p, .out = &sink };
    struct jsp_profile recoded;
    struct jsp_read r;
    char why[JSP_READ_WHY];
    jsp_sink_init(&sink, jsp_bytes_write, &bytes);
    if (to(&e) == 0 && jsp_sink_flush(&sink) == 0) {
        if (jsp_read_memory(&r, bytes.at, bytes.n, why) < 0)
            abort();
        if (jsp_profile_load(&recoded, &r, NULL) == 0) {
            const uint64_t *bad = recoded.defects.count;
            if (recoded.samples != p->samples || recoded.weight != p->weight ||
                recoded.n_threads != p->n_threads || bad[JSP_READ_STACKS] ||
                bad[JSP_READ_LOST] || bad[JSP_READ_LENGTH] || bad[JSP_READ_ADDRS])
                abort();
            jsp_profile_free(&recoded);
        }
        jsp_read_close(&r);
    }
    jsp_bytes_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jsp_profile_samples samples = { 0 };
    const struct jsp_profile_options options = { .sampled = jsp_profile_keep,
                                                 .sampled_context = &samples };
    struct jsp_read r;
    struct jsp_profile p;
    char why[JSP_READ_WHY];
    /* A copy of exactly this size: one byte too far is seen. */
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (jsp_read_memory(&r, copy, size, why) == 0) {
        if (jsp_profile_load(&p, &r, &options) == 0) {
            fuzz_walk(&p);
            fuzz_check(&p, JSP_SHOW_USUAL);
            fuzz_lines(&p);
            fuzz_check(&p, JSP_SHOW_ALL);
            fuzz_check(&p, JSP_SHOW_VM);
            fuzz_filter(&p);
            fuzz_events(&p);
            fuzz_tasks(&p);
            fuzz_merge(&p);
            fuzz_recode(&p, jsp_export_compact);
            fuzz_recode(&p, jsp_export_syscap);
            for (uint32_t i = 0; i < p.n_functions && i < 4; i++)
                fuzz_annotate(&p, &samples, i);
            jsp_profile_free(&p);
        }
        free(samples.list);
        jsp_read_close(&r);
    }
    free(copy);
    return 0;
}
