/* export/merge_tasks.c - the tasks of several captures, joined: jsprof/tasks.
 *
 * The numbers of each input's tasks, names and stacks follow those of the input before, so tasks
 * of one process that was recorded twice stay apart, and a parent's number stays the lower one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "capture/taskfile.h"
#include "merge_work.h"

enum {
    MERGE_TASKS_FULL = 40 << 10,
    MERGE_TASKS_RECORD = JSP_TASKS_RECORD + JSP_WIRE_MAX_ADDRS * JSP_TASKS_FRAME,
};

struct merge_tasks {
    struct merge_work *w;
    struct jsp_tasks_base base; /* of the chunk being written */
    struct jsp_tasks_record thread;
    bool has_thread; /* the chunk being read has one */
    uint8_t *one;    /* owned: a record */
    uint64_t addrs[JSP_WIRE_MAX_ADDRS];
    uint32_t lines[JSP_WIRE_MAX_ADDRS];
};

static uint64_t merge_tasks_number(uint64_t *last, uint64_t before, uint64_t number)
{
    if (!number || __builtin_add_overflow(number, before, &number))
        return 0;
    *last = number > *last ? number : *last;
    return number;
}

uint64_t merge_task(struct merge_work *w, uint64_t number)
{
    return merge_tasks_number(&w->tasks.last_task, w->tasks.tasks_before, number);
}

uint64_t merge_label(struct merge_work *w, uint64_t number)
{
    return merge_tasks_number(&w->tasks.last_labels, w->tasks.labels_before, number);
}

void merge_labels(struct merge_work *w, const struct jsp_read_chunk *c)
{
    const struct jsp_sample_numbers add = { w->tasks.labels_before, w->tasks.tasks_before };
    uint64_t last = jsp_sample_blocks_sets(c, &add, w->blocks.chunk, w, &w->has_failed);
    w->tasks.last_labels = last > w->tasks.last_labels ? last : w->tasks.last_labels;
}

void merge_tasks_begin(struct merge_work *w)
{
    w->tasks.labels_before = w->tasks.last_labels;
    w->tasks.tasks_before = w->tasks.last_task;
    w->tasks.whats_before = w->tasks.last_what;
    w->tasks.stacks_before = w->tasks.last_stack;
}

/* Read the frames of a stack, with the addresses of the output. */
static void merge_tasks_frames(struct merge_tasks *m, struct jsp_tasks_frames *frames)
{
    struct jsp_tasks_frame_at walk = { 0 };
    uint64_t addr, line;
    uint32_t n = 0;
    while (jsp_tasks_frame_get(frames, &walk, &addr, &line)) {
        m->addrs[n] = merge_address(m->w, addr);
        m->lines[n++] = line <= UINT32_MAX ? (uint32_t)line : 0; /* larger ones are not lines */
    }
    *frames = (struct jsp_tasks_frames){ .n = n, .addrs = m->addrs, .lines = m->lines };
}

static uint64_t merge_tasks_time(const struct merge_work *w, uint64_t time)
{
    int64_t moved;
    return __builtin_add_overflow((int64_t)time, w->shift, &moved) || moved < 0 ? time
                                                                                 : (uint64_t)moved;
}

/* Give the record the numbers and times of the output. */
static void merge_tasks_renumber(struct merge_tasks *m, struct jsp_tasks_record *r)
{
    struct merge_work *w = m->w;
    struct merge_tasks_numbers *n = &w->tasks;
    switch (r->tag) {
    case JSP_WIRE_TASKS_THREAD:
        break;
    case JSP_WIRE_TASKS_WHAT:
        r->what.number = merge_tasks_number(&n->last_what, n->whats_before, r->what.number);
        break;
    case JSP_WIRE_TASKS_STACK:
        r->stack.number = merge_tasks_number(&n->last_stack, n->stacks_before, r->stack.number);
        merge_tasks_frames(m, &r->stack.frames);
        break;
    case JSP_WIRE_TASKS_NEW:
        r->made.time = merge_tasks_time(w, r->made.time);
        r->made.task = merge_task(w, r->made.task);
        r->made.parent = merge_task(w, r->made.parent);
        r->made.what = merge_tasks_number(&n->last_what, n->whats_before, r->made.what);
        r->made.stack = merge_tasks_number(&n->last_stack, n->stacks_before, r->made.stack);
        break;
    case JSP_WIRE_TASKS_RUN:
        r->run.begin = merge_tasks_time(w, r->run.begin);
        r->run.task = merge_task(w, r->run.task);
        break;
    case JSP_WIRE_TASKS_DONE:
        r->done.time = merge_tasks_time(w, r->done.time);
        r->done.task = merge_task(w, r->done.task);
        break;
    case JSP_WIRE_TASKS_READY:
    case JSP_WIRE_TASKS_DUE:
        r->ready.time = merge_tasks_time(w, r->ready.time);
        r->ready.task = merge_task(w, r->ready.task);
        r->ready.by = merge_task(w, r->ready.by);
        break;
    case JSP_WIRE_TASKS_TURN:
        r->turn.begin = merge_tasks_time(w, r->turn.begin);
        break;
    case JSP_WIRE_TASKS_FIRST:
        r->first = merge_task(w, r->first);
        break;
    }
}

static void merge_tasks_append(struct merge_tasks *m, const struct jsp_tasks_record *r)
{
    size_t n = jsp_tasks_record_put(m->one, &m->base, r);
    if (jsp_bytes_write(&m->w->text, m->one, n) < 0)
        m->w->has_failed = true;
}

static void merge_tasks_flush(struct merge_tasks *m)
{
    struct merge_work *w = m->w;
    if (w->text.n)
        merge_chunk(w, JSP_WIRE_FILE_TASKS, w->text.at, w->text.n, false);
    w->has_tasks |= w->text.n > 0;
    w->text.n = 0;
    m->base = (struct jsp_tasks_base){ 0 };
}

/* Write a record. It begins a new chunk if this one is full. */
static void merge_tasks_put(struct merge_tasks *m, const struct jsp_tasks_record *r)
{
    size_t most = r->tag == JSP_WIRE_TASKS_STACK ? (size_t)r->stack.frames.n * JSP_TASKS_FRAME
                  : r->tag == JSP_WIRE_TASKS_WHAT ? r->what.kind.len + r->what.name.len : 0;
    if (most > JSP_WIRE_MAX_CHUNK - 4 * JSP_TASKS_RECORD)
        return; /* no chunk holds it */
    if (m->w->text.n && m->w->text.n + most > MERGE_TASKS_FULL) {
        merge_tasks_flush(m);
        if (m->has_thread && r->tag != JSP_WIRE_TASKS_THREAD)
            merge_tasks_append(m, &m->thread);
    }
    merge_tasks_append(m, r);
    if (r->tag == JSP_WIRE_TASKS_THREAD)
        m->thread = *r;
    m->has_thread |= r->tag == JSP_WIRE_TASKS_THREAD;
}

void merge_tasks(struct merge_work *w, const struct jsp_read_chunk *c)
{
    const uint8_t *at = c->data, *end = at + c->len;
    struct merge_tasks *m = calloc(1, sizeof *m);
    struct jsp_tasks_base base = { 0 };
    struct jsp_tasks_record r;
    if (m)
        m->one = malloc(MERGE_TASKS_RECORD + c->len);
    if (!m || !m->one) {
        free(m);
        w->has_failed = true;
        return;
    }
    m->w = w;
    /* a bad record was reported when the capture was loaded */
    while (at < end && jsp_tasks_record_get(&at, end, &base, &r)) {
        merge_tasks_renumber(m, &r);
        merge_tasks_put(m, &r);
    }
    merge_tasks_flush(m);
    free(m->one);
    free(m);
}
