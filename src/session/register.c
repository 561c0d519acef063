/* session/register.c - see session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "drain.h"
#include "image/function_range.h"

_Static_assert(sizeof(jsprof_code_line) == sizeof(struct jsp_code_line), "same lines");

/* Return the name as a label of kind JIT, or GC for code of the collector; a long name is
 * cut. */
static uint32_t register_label(struct jsprof *p, const jsprof_code *code)
{
    const char *text = code->function ? code->function->text : code->name;
    uint32_t len = (uint32_t)strnlen(text, JSP_LABEL_MAX);
    bool collects = code->function && code->function->kind == JSPROF_KIND_GC;
    return jsp_arena_intern(&p->arena, text, len, collects ? JSPROF_KIND_GC : JSPROF_KIND_JIT);
}

static void register_perf(struct jsprof *p, const struct jsp_code_def *def, uint64_t now_ns)
{
    struct jsp_perfmap_code code = { def->start, def->length,
                                     jsp_arena_label(&p->arena, def->label)->text, now_ns };
    pthread_mutex_lock(&p->codes.lock);
    jsp_perfmap_add(&p->perf, &code);
    pthread_mutex_unlock(&p->codes.lock);
}

/* Drop dead code if there is much of it. A program may compile for hours before it is
 * profiled, and without a running drain nothing else drops it. */
static void register_tidy(struct jsprof *p)
{
    if (!jsp_codes_are_crowded(&p->codes))
        return;
    pthread_mutex_lock(&p->lock);
    if (!p->draining && jsp_drain_pass(p, false))
        jsp_codes_prune(&p->codes, p->quiet_ns);
    pthread_mutex_unlock(&p->lock);
}

int jsp_register_code(struct jsprof *p, const jsprof_code *code)
{
    if (p->pid != getpid())
        return -ECHILD;
    struct jsp_code_def def = {
        .start = (uint64_t)(uintptr_t)code->start, .length = code->length,
        .label = register_label(p, code), .n_lines = code->n_lines,
        .lines = (const struct jsp_code_line *)(const void *)code->lines,
        .name = code->function ? code->function->text : code->name,
        .rows = code->rows, .n_rows = code->n_rows, .pcs = code->pcs, .n_pcs = code->n_pcs,
    };
    uint64_t now_ns = jsp_now_ns(CLOCK_MONOTONIC);
    int err = jsp_codes_add(&p->codes, &def, now_ns);
    if (!err)
        register_perf(p, &def, now_ns);
    register_tidy(p);
    jsp_ask_note(&p->ask);
    return err;
}

int jsp_register_remove(struct jsprof *p, uint64_t start)
{
    if (p->pid != getpid())
        return -ECHILD;
    return jsp_codes_remove(&p->codes, start, jsp_now_ns(CLOCK_MONOTONIC));
}

int jsp_register_move(struct jsprof *p, uint64_t from, uint64_t to)
{
    if (p->pid != getpid())
        return -ECHILD;
    struct jsp_code_def moved;
    uint64_t now_ns = jsp_now_ns(CLOCK_MONOTONIC);
    int err = jsp_codes_move(&p->codes, from, to, now_ns, &moved);
    if (!err)
        register_perf(p, &moved, now_ns);
    register_tidy(p);
    jsp_ask_note(&p->ask);
    return err;
}

int jsp_register_listing(struct jsprof *p, const jsprof_listing *listing)
{
    if (p->pid != getpid())
        return -ECHILD;
    pthread_mutex_lock(&p->lock);
    int err = jsp_listings_add(&p->output.listings, listing);
    pthread_mutex_unlock(&p->lock);
    jsp_ask_note(&p->ask);
    return err;
}

int jsp_register_symbol(struct jsprof *p, uint64_t start, const char *name)
{
    if (p->pid != getpid())
        return -ECHILD;
    pthread_mutex_lock(&p->lock); /* another file may begin with another bundle */
    int err = jsp_bundle_give(p->output.natives.bundle, start, name);
    pthread_mutex_unlock(&p->lock);
    jsp_ask_note(&p->ask);
    return err;
}

static int register_range(struct jsprof *p, struct jsp_loops *to, uint64_t start,
                          uint64_t length)
{
    struct jsp_function_range range = { start, start + length };
    if (p->pid != getpid())
        return -ECHILD;
    int err = length ? 0 : jsp_function_range(start, p->pid, &range);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    err = jsp_frames_add_range(to, range.start, range.end);
    pthread_mutex_unlock(&p->lock);
    return err;
}

int jsp_register_loop(struct jsprof *p, uint64_t start, uint64_t length)
{
    return register_range(p, &p->output.frames.loops, start, length);
}

int jsp_register_hidden(struct jsprof *p, uint64_t start, uint64_t length)
{
    return register_range(p, &p->output.frames.hidden, start, length);
}
