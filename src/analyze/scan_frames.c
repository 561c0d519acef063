/* analyze/scan_frames.c - the first pass: everything in a capture but its samples.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"
#include "capture/wire.h"

static void scan_copy(char *out, size_t width, struct jsp_read_text t)
{
    snprintf(out, width, "%.*s", (int)t.len, t.at);
}

/* Begin an epoch: definitions change here, and earlier samples keep the old ones. */
static int scan_epoch(struct jsp_profile *p)
{
    struct jsp_profile_work *w = p->work;
    if (w->n_samples == w->epoch_samples)
        return 0;
    if (jsp_grow(&w->epochs, &w->epochs_room, w->n_epochs, sizeof *w->epochs) < 0)
        return -ENOMEM;
    w->epochs[w->n_epochs++] = w->epoch_samples = w->n_samples;
    return 0;
}

static int scan_jitmap(struct jsp_profile *p, const struct jsp_read_cursor *c,
                       const struct jsp_read_frame *f)
{
    struct jsp_read_names names;
    struct jsp_read_text name;
    uint64_t addr;
    int err = 0;
    if (!jsp_read_names(c, f, &names))
        return 0;
    while (err == 0 && jsp_read_name(c, f, &names, &addr, &name)) {
        if (jsp_lookup_renames(&p->lookup, addr, f->pid, name))
            err = scan_epoch(p);
        struct jsp_lookup_key key = { addr, f->pid, p->work->n_epochs };
        if (err == 0)
            err = jsp_lookup_define(&p->lookup, key, name);
    }
    return err;
}

static void scan_metadata(struct jsp_profile *p, const struct jsp_read_cursor *c,
                          const struct jsp_read_frame *f)
{
    struct jsp_read_pair pair;
    char number[16];
    if (!jsp_read_pair(c, f, &pair))
        return;
    if (jsp_read_is(pair.key, "jsprof.clock"))
        scan_copy(p->clock, sizeof p->clock, pair.value);
    if (jsp_read_is(pair.key, "jsprof.host"))
        scan_copy(p->host, sizeof p->host, pair.value);
    if (jsp_read_is(pair.key, "jsprof.version"))
        scan_copy(p->version, sizeof p->version, pair.value);
    p->is_relayed |= jsp_read_is(pair.key, "jsprof.relayed");
    if (jsp_read_is(pair.key, "jsprof.source"))
        scan_copy(p->source, sizeof p->source, pair.value);
    if (jsp_read_is(pair.key, "jsprof.stalls")) {
        scan_copy(number, sizeof number, pair.value);
        p->stall_ns = strtoull(number, NULL, 10);
    }
    if (jsp_read_is(pair.key, "jsprof.fold")) {
        scan_copy(number, sizeof number, pair.value);
        p->fold_ns = strtoull(number, NULL, 10);
    }
    if (jsp_read_is(pair.key, "jsprof.sched"))
        scan_copy(p->sched, sizeof p->sched, pair.value);
    if (jsp_read_is(pair.key, "jsprof.looks"))
        scan_copy(p->looks, sizeof p->looks, pair.value);
    if (jsp_read_is(pair.key, "jsprof.proc"))
        p->no_proc = jsp_read_is(pair.value, "none");
    if (jsp_read_is(pair.key, "jsprof.alloc")) {
        scan_copy(number, sizeof number, pair.value);
        p->heap.every = strtoul(number, NULL, 10);
    }
    if (jsp_read_is(pair.key, "jsprof.hz")) {
        scan_copy(number, sizeof number, pair.value);
        p->hz = (uint32_t)strtoul(number, NULL, 10);
    }
}

static void scan_counters(struct jsp_profile *p, const struct jsp_read_cursor *c,
                          const struct jsp_read_frame *f)
{
    struct jsp_read_counters all;
    struct jsp_read_counter one;
    if (!jsp_read_counters(c, f, &all))
        return;
    while (jsp_read_counter(c, f, &all, &one))
        p->is_of_lua |= jsp_read_is(one.group, "Lua") && jsp_read_is(one.name, "memory");
}

static bool scan_skip_running(const uint8_t **at, const uint8_t *end)
{
    uint64_t folded;
    return jsp_read_varint(at, end, &folded);
}

static int scan_running(struct jsp_profile *p, const struct jsp_read_chunk *chunk, uint64_t offset)
{
    static const struct jsp_weights_record record = { scan_skip_running, 1 };
    const struct jsp_weights_block of = { .end = chunk->data + chunk->len, .offset = offset };
    const uint8_t *at = chunk->data;
    int err = 0;
    while (err == 0 && at < of.end)
        err = jsp_weights_block(&p->work->running, &at, &of, &record);
    return err;
}

static int scan_tasks(struct jsp_profile *p, const struct jsp_read_chunk *chunk, int32_t pid)
{
    struct jsp_profile_work *w = p->work;
    if (!chunk->len)
        return 0;
    if (jsp_grow(&w->tasks, &w->tasks_room, w->n_tasks, sizeof *w->tasks) < 0)
        return -ENOMEM;
    w->tasks[w->n_tasks++] =
        (struct jsp_work_tasks){ chunk->data, chunk->data + chunk->len, pid, w->n_epochs };
    return 0;
}

/* Sysprof writes files of this machine only: one of the other byte order keeps its numbers. */
static int scan_relayed(struct jsp_profile *p, const struct jsp_read_chunk *chunk, int32_t pid)
{
    struct jsp_lookup_key key = { 0, pid, p->work->n_epochs };
    return p->capture->swap ? 0
                            : jsp_relayed_add(&p->work->relayed, &p->lookup, chunk, key);
}

static int scan_chunk(struct jsp_profile *p, const struct jsp_read_cursor *c,
                      const struct jsp_read_frame *f)
{
    struct jsp_read_chunk chunk;
    if (!jsp_read_chunk(c, f, &chunk))
        return 0;
    const uint8_t *end = chunk.data + chunk.len;
    int err = 0;
    if (jsp_read_is(chunk.path, JSP_WIRE_FILE_SAMPLES))
        err = jsp_weights_add(&p->work->weights, chunk.data, end, f->offset);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_ALLOCATIONS))
        err = jsp_weights_add(&p->work->allocations, chunk.data, end, f->offset);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_STATES))
        err = jsp_states_add(&p->state_file, &chunk, f->pid, f->offset);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_LABELS))
        err = jsp_labels_add(&p->labels, &chunk, f->pid, f->offset);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_RUNNING))
        err = scan_running(p, &chunk, f->offset);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_TASKS))
        err = scan_tasks(p, &chunk, f->pid);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_RELAYED))
        err = scan_relayed(p, &chunk, f->pid);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_FRAMES))
        err = jsp_lookup_kinds_add(&p->lookup, chunk.data, end);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_LOOPS))
        err = jsp_lookup_loops_add(&p->lookup, chunk.data, end, f->pid);
    else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_LOSSES)) {
        p->account.is_ended |= chunk.is_last;
        err = jsp_account_read(&p->account,
                               (struct jsp_account_text){ (const char *)chunk.data,
                                                          chunk.len, f->pid });
    } else if (jsp_read_is(chunk.path, JSP_WIRE_FILE_SYMBOLS))
        err = jsp_lookup_symbols_add(&p->lookup, chunk.data, chunk.len);
    if (err == -ENOMEM)
        return err;
    if (err)
        jsp_read_count(c->defects, JSP_READ_RECORD, f->offset);
    return 0;
}

static int scan_frame(struct jsp_profile *p, const struct jsp_read_cursor *c,
                      const struct jsp_read_frame *f)
{
    struct jsp_read_map map;
    struct jsp_read_text command;
    struct jsp_process *process;
    int32_t child;
    int err;
    if (f->time > p->last_time)
        p->last_time = f->time;
    if (f->time > 0 && (p->first_time == 0 || f->time < p->first_time))
        p->first_time = f->time;
    p->work->n_samples += jsp_work_counts(p, f);
    switch (f->type) {
    case JSP_WIRE_SAMPLE:
        return 0;
    case JSP_WIRE_ALLOCATION:
        return jsp_heap_add(&p->heap, p->capture, f);
    case JSP_WIRE_JITMAP:
        return scan_jitmap(p, c, f);
    case JSP_WIRE_MAP:
        if (!jsp_read_map(c, f, &map))
            return 0;
        err = scan_epoch(p);
        return err < 0 ? err : jsp_lookup_map_add(&p->lookup, &map, f->pid, p->work->n_epochs);
    case JSP_WIRE_PROCESS:
        if (!jsp_read_process(c, f, &command))
            return 0;
        err = jsp_work_process(p, f->pid, &process);
        if (err == 0 && (command.len || !process->command.at))
            process->command = command;
        return err;
    case JSP_WIRE_FORK:
        if (!jsp_read_fork(c, f, &child))
            return 0;
        err = jsp_work_process(p, child, &process);
        if (err == 0 && child != f->pid)
            process->parent = f->pid;
        return err;
    case JSP_WIRE_MARK:
        jsp_read_mark(c, f, &(struct jsp_read_mark){ 0 }); /* only to count its defects */
        return 0;
    case JSP_WIRE_CTRDEF:
        scan_counters(p, c, f);
        return 0;
    case JSP_WIRE_CTRSET:
        jsp_read_counters(c, f, &(struct jsp_read_counters){ 0 });
        return 0;
    case JSP_WIRE_METADATA:
        scan_metadata(p, c, f);
        return 0;
    case JSP_WIRE_FILE_CHUNK:
        return scan_chunk(p, c, f);
    default:
        return 0;
    }
}

int jsp_scan_frames(struct jsp_profile *p)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    jsp_read_start(&c, p->capture, &p->defects);
    while (jsp_read_next(&c, &f)) {
        int err = scan_frame(p, &c, &f);
        if (err < 0)
            return err;
        jsp_work_progress(p, c.offset / 2);
    }
    jsp_relayed_seal(&p->work->relayed);
    int bad = jsp_lookup_seal(&p->lookup, p->capture);
    if (bad < 0)
        return bad;
    p->defects.count[JSP_READ_SYMBOLS] += (uint64_t)bad;
    return 0;
}
