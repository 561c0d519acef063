/* capture/taskfile.c - writes the records of jsprof/tasks and jsprof/running: see taskfile.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "taskfile.h"

static uint8_t *taskfile_number(uint8_t *to, uint64_t value)
{
    return to + jsp_varint_put(to, value);
}

/* Write the difference from *last, which becomes `value`. */
static uint8_t *taskfile_from(uint8_t *to, uint64_t *last, uint64_t value)
{
    to = taskfile_number(to, jsp_varint_fold(value - *last));
    *last = value;
    return to;
}

static uint8_t *taskfile_text(uint8_t *to, struct jsp_read_text text)
{
    to = taskfile_number(to, text.len);
    if (text.len)
        memcpy(to, text.at, text.len);
    return to + text.len;
}

static uint8_t *taskfile_frames(uint8_t *to, const struct jsp_tasks_frames *frames)
{
    uint64_t last[2] = { 0 }; /* of untagged and of tagged addresses */
    to = taskfile_number(to, frames->n);
    for (uint32_t i = 0; i < frames->n; i++) {
        uint64_t addr = frames->addrs[i];
        bool is_tagged = (addr & JSP_WIRE_JIT_MASK) == JSP_WIRE_JIT_TAG;
        *to++ = (uint8_t)((is_tagged ? JSP_WIRE_STACKS_TAGGED : 0) |
                          (frames->lines[i] ? JSP_WIRE_STACKS_LINE : 0));
        to = taskfile_from(to, &last[is_tagged], addr - (is_tagged ? JSP_WIRE_JIT_TAG : 0));
        if (frames->lines[i])
            to = taskfile_number(to, frames->lines[i]);
    }
    return to;
}

static uint8_t *taskfile_made(uint8_t *to, struct jsp_tasks_base *base,
                           const struct jsp_tasks_record *r)
{
    to = taskfile_from(to, &base->task, r->made.task);
    to = taskfile_from(to, &base->time, r->made.time);
    to = taskfile_number(to, r->made.parent ? r->made.task - r->made.parent : 0);
    to = taskfile_number(to, r->made.what);
    return taskfile_number(to, r->made.stack);
}

static uint8_t *taskfile_run(uint8_t *to, struct jsp_tasks_base *base,
                          const struct jsp_tasks_record *r)
{
    to = taskfile_from(to, &base->task, r->run.task);
    to = taskfile_from(to, &base->time, r->run.begin);
    to = taskfile_number(to, r->run.duration);
    return taskfile_number(to, (uint64_t)r->run.depth * JSP_WIRE_RUN_DEPTH | r->run.flags);
}

size_t jsp_tasks_record_put(uint8_t *to, struct jsp_tasks_base *base,
                            const struct jsp_tasks_record *r)
{
    uint8_t *begin = to;
    *to++ = (uint8_t)r->tag;
    switch (r->tag) {
    case JSP_WIRE_TASKS_THREAD:
        to = taskfile_number(to, (uint32_t)r->tid);
        break;
    case JSP_WIRE_TASKS_WHAT:
        to = taskfile_number(to, r->what.number);
        to = taskfile_text(to, r->what.kind);
        to = taskfile_text(to, r->what.name);
        break;
    case JSP_WIRE_TASKS_STACK:
        to = taskfile_number(to, r->stack.number);
        to = taskfile_frames(to, &r->stack.frames);
        break;
    case JSP_WIRE_TASKS_NEW:
        to = taskfile_made(to, base, r);
        break;
    case JSP_WIRE_TASKS_RUN:
        to = taskfile_run(to, base, r);
        break;
    case JSP_WIRE_TASKS_DONE:
        to = taskfile_from(to, &base->task, r->done.task);
        to = taskfile_from(to, &base->time, r->done.time);
        break;
    case JSP_WIRE_TASKS_TURN:
        to = taskfile_from(to, &base->time, r->turn.begin);
        to = taskfile_number(to, r->turn.duration);
        to = taskfile_number(to, r->turn.inner);
        to = taskfile_number(to, r->turn.depth);
        break;
    case JSP_WIRE_TASKS_READY:
    case JSP_WIRE_TASKS_DUE:
        to = taskfile_from(to, &base->task, r->ready.task);
        to = taskfile_from(to, &base->time, r->ready.time);
        to = taskfile_from(to, &base->task, r->ready.by);
        if (r->tag == JSP_WIRE_TASKS_DUE)
            to = taskfile_number(to, r->ready.in);
        break;
    case JSP_WIRE_TASKS_FIRST:
        to = taskfile_number(to, r->first);
        break;
    }
    return (size_t)(to - begin);
}

size_t jsp_running_put(uint8_t *to, uint64_t *last, uint64_t task)
{
    return (size_t)(taskfile_from(to, last, task) - to);
}
