/* capture/read_taskfile.c - reads the records of jsprof/tasks and jsprof/running: see taskfile.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "taskfile.h"

static bool taskfile_u32(const uint8_t **at, const uint8_t *end, uint32_t *out)
{
    uint64_t value;
    if (!jsp_read_varint(at, end, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool taskfile_from(const uint8_t **at, const uint8_t *end, uint64_t *last, uint64_t *out)
{
    uint64_t folded;
    if (!jsp_read_varint(at, end, &folded))
        return false;
    *out = *last += jsp_varint_unfold(folded);
    return true;
}

/* A moment or the number of a task, of which a capture has less than 2^63. */
static bool taskfile_below(const uint8_t **at, const uint8_t *end, uint64_t *last, uint64_t *out)
{
    return taskfile_from(at, end, last, out) && *out <= INT64_MAX;
}

static bool taskfile_text(const uint8_t **at, const uint8_t *end, struct jsp_read_text *out)
{
    uint64_t len;
    if (!jsp_read_varint(at, end, &len) || len > (uint64_t)(end - *at))
        return false;
    *out = (struct jsp_read_text){ (const char *)*at, (uint32_t)len };
    *at += len;
    return true;
}

/* Read one frame, without its context. */
static bool taskfile_frame(const uint8_t **at, const uint8_t *end, uint8_t *flags,
                        uint64_t *folded, uint64_t *line)
{
    *line = 0;
    if (*at == end)
        return false;
    *flags = *(*at)++;
    return !(*flags & ~(JSP_WIRE_STACKS_TAGGED | JSP_WIRE_STACKS_LINE)) &&
           jsp_read_varint(at, end, folded) &&
           (!(*flags & JSP_WIRE_STACKS_LINE) || jsp_read_varint(at, end, line));
}

static bool taskfile_frames(const uint8_t **at, const uint8_t *end, struct jsp_tasks_frames *out)
{
    uint64_t folded, line;
    uint8_t flags;
    *out = (struct jsp_tasks_frames){ 0 };
    if (!taskfile_u32(at, end, &out->n) || out->n > JSP_WIRE_MAX_ADDRS)
        return false;
    out->packed = *at;
    for (uint32_t i = 0; i < out->n; i++)
        if (!taskfile_frame(at, end, &flags, &folded, &line))
            return false;
    out->end = *at;
    return true;
}

bool jsp_tasks_frame_get(const struct jsp_tasks_frames *frames, struct jsp_tasks_frame_at *f,
                         uint64_t *addr, uint64_t *line)
{
    uint64_t folded;
    uint8_t flags;
    f->at = f->at ? f->at : frames->packed;
    if (f->done == frames->n || !taskfile_frame(&f->at, frames->end, &flags, &folded, line))
        return false;
    f->done++;
    if (flags & JSP_WIRE_STACKS_TAGGED) {
        f->tagged = (uint32_t)(f->tagged + jsp_varint_unfold(folded));
        *addr = JSP_WIRE_JIT_TAG | f->tagged;
    } else {
        *addr = f->plain += jsp_varint_unfold(folded);
    }
    return true;
}

static bool taskfile_made(const uint8_t **at, const uint8_t *end, struct jsp_tasks_base *base,
                       struct jsp_tasks_record *out)
{
    uint64_t before;
    if (!taskfile_below(at, end, &base->task, &out->made.task) || !out->made.task ||
        !taskfile_below(at, end, &base->time, &out->made.time) ||
        !jsp_read_varint(at, end, &before) || before >= out->made.task ||
        !jsp_read_varint(at, end, &out->made.what) ||
        !jsp_read_varint(at, end, &out->made.stack))
        return false;
    out->made.parent = before ? out->made.task - before : 0;
    return true;
}

/* Read a span of time that ends before 2^63. */
static bool taskfile_span(const uint8_t **at, const uint8_t *end, struct jsp_tasks_base *base,
                       uint64_t *begin, uint64_t *duration)
{
    return taskfile_below(at, end, &base->time, begin) && jsp_read_varint(at, end, duration) &&
           *duration <= INT64_MAX - *begin;
}

static bool taskfile_run(const uint8_t **at, const uint8_t *end, struct jsp_tasks_base *base,
                      struct jsp_tasks_record *out)
{
    uint32_t depth;
    if (!taskfile_below(at, end, &base->task, &out->run.task) ||
        !taskfile_span(at, end, base, &out->run.begin, &out->run.duration) ||
        !taskfile_u32(at, end, &depth))
        return false;
    out->run.depth = depth / JSP_WIRE_RUN_DEPTH;
    out->run.flags = depth & JSP_WIRE_RUN_FLAGS;
    return true;
}

bool jsp_tasks_record_get(const uint8_t **at, const uint8_t *end, struct jsp_tasks_base *base,
                          struct jsp_tasks_record *out)
{
    uint32_t tid;
    *out = (struct jsp_tasks_record){ 0 };
    if (*at == end)
        return false;
    out->tag = (enum jsp_wire_tasks)*(*at)++;
    switch (out->tag) {
    case JSP_WIRE_TASKS_THREAD:
        if (!taskfile_u32(at, end, &tid))
            return false;
        out->tid = (int32_t)tid;
        return true;
    case JSP_WIRE_TASKS_WHAT:
        return jsp_read_varint(at, end, &out->what.number) && out->what.number &&
               taskfile_text(at, end, &out->what.kind) && taskfile_text(at, end, &out->what.name);
    case JSP_WIRE_TASKS_STACK:
        return jsp_read_varint(at, end, &out->stack.number) && out->stack.number &&
               taskfile_frames(at, end, &out->stack.frames);
    case JSP_WIRE_TASKS_NEW:
        return taskfile_made(at, end, base, out);
    case JSP_WIRE_TASKS_RUN:
        return taskfile_run(at, end, base, out);
    case JSP_WIRE_TASKS_DONE:
        return taskfile_below(at, end, &base->task, &out->done.task) &&
               taskfile_below(at, end, &base->time, &out->done.time);
    case JSP_WIRE_TASKS_TURN:
        return taskfile_span(at, end, base, &out->turn.begin, &out->turn.duration) &&
               jsp_read_varint(at, end, &out->turn.inner) &&
               out->turn.inner <= out->turn.duration && taskfile_u32(at, end, &out->turn.depth);
    case JSP_WIRE_TASKS_READY:
    case JSP_WIRE_TASKS_DUE:
        return taskfile_below(at, end, &base->task, &out->ready.task) &&
               taskfile_below(at, end, &base->time, &out->ready.time) &&
               taskfile_below(at, end, &base->task, &out->ready.by) &&
               (out->tag == JSP_WIRE_TASKS_READY ||
                (jsp_read_varint(at, end, &out->ready.in) &&
                 out->ready.in <= INT64_MAX - out->ready.time));
    case JSP_WIRE_TASKS_FIRST:
        return jsp_read_varint(at, end, &out->first);
    }
    return false;
}

bool jsp_running_get(const uint8_t **at, const uint8_t *end, uint64_t *last, uint64_t *task)
{
    return taskfile_from(at, end, last, task);
}
