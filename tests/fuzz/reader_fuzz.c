/* reader_fuzz.c - any bytes as a capture: each body as every type, lines that come later, tasks,
 * and whether it can be merged and written in the other form. Views of it are for read_fuzz.c.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "analyze/lines.h"
#include "analyze/samples.h"
#include "analyze/tasks.h"
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
        if (jsp_profile_load(&p, &r, NULL) == 0) {
            fuzz_walk(&p);
            fuzz_lines(&p);
            fuzz_tasks(&p);
            fuzz_merge(&p);
            fuzz_recode(&p, jsp_export_compact);
            fuzz_recode(&p, jsp_export_syscap);
            jsp_profile_free(&p);
        }
        jsp_read_close(&r);
    }
    free(copy);
    return 0;
}
