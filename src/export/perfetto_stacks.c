/* export/perfetto_stacks.c - frames, stacks and samples in Perfetto's own format.
 *
 * The format identifies a frame by its file and an address in it, which a function of a VM does
 * not have. So the address is the frame's number.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "analyze/name_parts.h"
#include "perfetto.h"

enum { STACKS_PACKET = 1 << 15 }; /* bytes of tables in a packet: readers have limits */

/* Write the entries that x->inner has, if there are enough, or with `is_last` any. */
static void stacks_flush(struct perfetto *x, bool is_last)
{
    if (x->inner.bytes.n == 0 || (!is_last && x->inner.bytes.n < STACKS_PACKET))
        return;
    jsp_proto_nest(&x->packet, PERFETTO_INTERNED, &x->inner);
    perfetto_end(x);
}

static void stacks_entry(struct perfetto *x, enum perfetto_interned table)
{
    jsp_proto_nest(&x->inner, table, &x->part);
    stacks_flush(x, false);
}

static void stacks_name(struct perfetto *x, enum perfetto_interned table, uint64_t id,
                        struct jsp_read_text name)
{
    jsp_proto_u64(&x->part, 1, id);
    perfetto_text(x, &x->part, 2, name);
    stacks_entry(x, table);
}

static int stacks_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Write a build id as bytes. Return false if it is not of hexadecimal digits. */
static bool stacks_build_id(struct perfetto *x, uint64_t id, struct jsp_read_text hex)
{
    char bytes[64];
    uint32_t n = hex.len / 2;
    if (n == 0 || hex.len % 2 || n > sizeof bytes)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        int high = stacks_digit(hex.at[2 * i]), low = stacks_digit(hex.at[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[i] = (char)(high << 4 | low);
    }
    jsp_proto_u64(&x->part, 1, id);
    if (x->text.error == 0)
        x->text.error = jsp_bytes_write(&x->text.bytes, bytes, n);
    jsp_proto_nest(&x->part, 2, &x->text);
    stacks_entry(x, PERFETTO_BUILD_IDS);
    return true;
}

static void stacks_mappings(struct perfetto *x)
{
    for (uint32_t i = 0; i < x->from.modules.n; i++) {
        const struct jsp_module *m = &x->from.modules.list[i];
        bool has_id = stacks_build_id(x, i + 1, m->build_id);
        stacks_name(x, PERFETTO_PATHS, i + 1, m->path);
        jsp_proto_u64(&x->part, 1, i + 1);
        jsp_proto_u64(&x->part, 2, has_id ? i + 1 : 0);
        jsp_proto_u64(&x->part, 7, i + 1);
        stacks_entry(x, PERFETTO_MAPPINGS);
    }
}

/* Return Perfetto's number for what kind of code a frame is; 0: none fits. */
static uint64_t stacks_kind(uint32_t kind)
{
    switch (kind) {
    case JSPROF_KIND_NATIVE: return 1;
    case JSP_KIND_KERNEL: return 2;
    case JSPROF_KIND_VM: return 3;
    case JSPROF_KIND_JIT: return 4;
    case JSPROF_KIND_GC: return 5;
    default: return 0;
    }
}

/* Return the number of the frame's source file, which is written when it is new; 0: none. */
static uint64_t stacks_source(struct perfetto *x, struct jsp_read_text file)
{
    if (file.len == 0)
        return 0;
    uint32_t before = x->sources.n, id = jsp_strings_add(&x->sources, file);
    if (x->sources.n > before)
        stacks_name(x, PERFETTO_SOURCES, id, file);
    return id;
}

static void stacks_frames(struct perfetto *x)
{
    for (uint32_t i = 0; i < x->p->n_functions; i++)
        stacks_name(x, PERFETTO_FUNCTIONS, i + 1, perfetto_of(x->p->functions[i].name));
    for (uint32_t i = 0; i < x->from.stacks.n_frames; i++) {
        const struct jsp_profile_frame *f = &x->from.stacks.frames[i];
        struct jsp_name_parts parts = jsp_name_split(x->p->functions[f->function].name);
        uint64_t source =
            stacks_source(x, f->file ? perfetto_of(x->p->files[f->file]) : parts.file);
        jsp_proto_u64(&x->part, 1, i + 1);
        jsp_proto_u64(&x->part, 2, (uint64_t)f->function + 1);
        jsp_proto_u64(&x->part, 3, (uint64_t)x->from.modules.of_function[f->function] + 1);
        jsp_proto_u64(&x->part, 4, i + 1);
        jsp_proto_u64(&x->part, 5, source);
        jsp_proto_u64(&x->part, 6, f->line ? f->line : parts.line);
        jsp_proto_u64(&x->part, 7, stacks_kind(f->kind));
        stacks_entry(x, PERFETTO_FRAMES);
    }
}

/* Write a stack, whose frames are those in x->frames, leaf first. */
static void stacks_stack(struct perfetto *x, uint64_t id, uint32_t n)
{
    jsp_proto_u64(&x->part, 1, id);
    while (n-- > 0)
        jsp_proto_u64(&x->part, 2, (uint64_t)x->frames[n] + 1);
    stacks_entry(x, PERFETTO_STACKS);
}

/* Write the stacks on which samples end. A node of the tree has its number. */
static void stacks_of_samples(struct perfetto *x)
{
    uint8_t *is_end = calloc(x->from.stacks.n_nodes, 1);
    if (!is_end) {
        x->error = -ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < x->from.moments.n; i++)
        is_end[x->from.moments.list[i].node] = 1;
    for (uint32_t i = 1; i < x->from.stacks.n_nodes; i++)
        if (is_end[i])
            stacks_stack(x, i, jsp_calltree_frames(&x->from.stacks, i, x->frames));
    free(is_end);
}

/* Write the stacks on which tasks were made, whose frames may be new. */
static void stacks_of_tasks(struct perfetto *x, bool is_number)
{
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    int n = frames ? 0 : -ENOMEM;
    for (uint32_t i = 0; n >= 0 && i < x->timeline.tasks.n_stacks; i++) {
        int err = 0;
        n = jsp_tasks_stack_frames(&x->timeline.tasks, x->p, i, frames);
        for (int k = 0; k < n && err == 0; k++)
            err = jsp_calltree_frame(&x->from.stacks, &frames[k], &x->frames[k]);
        if (err < 0)
            n = err;
        else if (!is_number && n > 0)
            stacks_stack(x, perfetto_made(x, i), (uint32_t)n);
    }
    if (n < 0)
        x->error = n;
    free(frames);
}

void perfetto_tables(struct perfetto *x)
{
    const struct jsp_tasks *t = &x->timeline.tasks;
    static const char *const keys[] = {
        [PERFETTO_KEY_TASK] = "task",       [PERFETTO_KEY_DELAY] = "delay_ns",
        [PERFETTO_KEY_END] = "end",         [PERFETTO_KEY_MESSAGE] = "message",
        [PERFETTO_KEY_DETAIL] = "waits for",
    };
    stacks_of_tasks(x, true);
    for (uint32_t i = 0; i < t->n_whats; i++) {
        stacks_name(x, PERFETTO_CATEGORIES, i + 1, t->whats[i].kind);
        stacks_name(x, PERFETTO_NAMES, i + 1, t->whats[i].name);
    }
    for (uint32_t i = 1; i < sizeof keys / sizeof *keys; i++)
        stacks_name(x, PERFETTO_KEYS, i, perfetto_of(keys[i]));
    stacks_mappings(x);
    stacks_frames(x);
    stacks_of_samples(x);
    stacks_of_tasks(x, false);
    for (uint32_t i = 0; i < x->p->n_threads; i++) {
        jsp_proto_u64(&x->part, 1, i + 1);
        jsp_proto_u64(&x->part, 2, (uint32_t)x->p->threads[i].pid);
        jsp_proto_u64(&x->part, 3, (uint32_t)x->p->threads[i].tid);
        stacks_entry(x, PERFETTO_THREADS);
    }
    stacks_flush(x, true);
}

void perfetto_samples(struct perfetto *x)
{
    const struct jsp_moments *m = &x->from.moments;
    for (uint32_t t = 0; t < x->p->n_threads; t++)
        for (uint32_t i = m->first[t]; i < m->first[t + 1]; i++) {
            const struct jsp_moment *at = &m->list[i];
            jsp_proto_u64(&x->inner, 2, t + 1);
            if (at->cpu >= 0) {
                jsp_proto_item(&x->part, 2 << 3); /* also if it is 0 */
                jsp_proto_item(&x->part, (uint64_t)at->cpu);
                jsp_proto_nest(&x->inner, 3, &x->part);
            }
            jsp_proto_u64(&x->inner, 6, at->node);
            jsp_proto_u64(&x->inner, 11, at->value);
            jsp_proto_nest(&x->packet, PERFETTO_SAMPLE, &x->inner);
            perfetto_time(x, at->time);
            perfetto_end(x);
        }
}
