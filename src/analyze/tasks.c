/* analyze/tasks.c - the tasks of a capture: reads the records. See tasks.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "tasks_work.h"
#include "work.h"

/* -- Records ------------------------------------------------------------------ */

static int tasks_thread(struct tasks_work *w, int32_t pid, int32_t tid, uint32_t *out)
{
    struct jsp_tasks *t = w->t;
    *out = jsp_tasks_work_find(w, TASKS_THREAD, pid, (uint32_t)tid);
    if (*out != JSP_TASK_NONE)
        return 0;
    if (jsp_grow(&t->threads, &w->threads_room, t->n_threads, sizeof *t->threads) < 0)
        return -ENOMEM;
    t->threads[t->n_threads] = (struct jsp_task_thread){ .pid = pid, .tid = tid };
    *out = t->n_threads++;
    return jsp_tasks_work_add(w, TASKS_THREAD, pid, (uint32_t)tid, *out);
}

/* Find or add a kind and a name. */
static int tasks_what_of(struct tasks_work *w, const struct jsp_task_what *what, uint32_t *out)
{
    struct jsp_tasks *t = w->t;
    uint64_t h = jsp_hash_bytes(w->by_text.seed, what->kind.at, what->kind.len);
    uint32_t hash = (uint32_t)jsp_hash_bytes(h, what->name.at, what->name.len);
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&w->by_text, hash, &probe)) != 0)
        if (jsp_read_equal(t->whats[at - 1].kind, what->kind) &&
            jsp_read_equal(t->whats[at - 1].name, what->name)) {
            *out = at - 1;
            return 0;
        }
    if (jsp_grow(&t->whats, &w->whats_room, t->n_whats, sizeof *t->whats) < 0)
        return -ENOMEM;
    t->whats[t->n_whats] = *what;
    *out = t->n_whats++;
    return jsp_hash_add(&w->by_text, hash, *out);
}

static int tasks_what(struct tasks_work *w, int32_t pid, const struct jsp_tasks_record *r)
{
    const struct jsp_task_what what = { r->what.kind, r->what.name };
    uint32_t at;
    if (jsp_tasks_work_find(w, TASKS_WHAT, pid, r->what.number) != JSP_TASK_NONE)
        return 0;
    int err = tasks_what_of(w, &what, &at);
    return err < 0 ? err : jsp_tasks_work_add(w, TASKS_WHAT, pid, r->what.number, at);
}

static int tasks_stack(struct tasks_work *w, const struct jsp_work_tasks *chunk,
                       const struct jsp_tasks_record *r)
{
    struct jsp_tasks *t = w->t;
    if (jsp_tasks_work_find(w, TASKS_STACK, chunk->pid, r->stack.number) != JSP_TASK_NONE)
        return 0;
    if (jsp_grow(&t->stacks, &w->stacks_room, t->n_stacks, sizeof *t->stacks) < 0)
        return -ENOMEM;
    t->stacks[t->n_stacks] =
        (struct jsp_task_stack){ r->stack.frames, chunk->pid, chunk->epoch };
    return jsp_tasks_work_add(w, TASKS_STACK, chunk->pid, r->stack.number, t->n_stacks++);
}

static int tasks_made(struct tasks_work *w, int32_t pid, uint32_t thread,
                      const struct jsp_tasks_record *r)
{
    struct jsp_tasks *t = w->t;
    if (jsp_tasks_work_find(w, TASKS_TASK, pid, r->made.task) != JSP_TASK_NONE) {
        t->defects.repeated++;
        return 0;
    }
    if (jsp_grow(&t->tasks, &w->tasks_room, t->n_tasks, sizeof *t->tasks) < 0 ||
        jsp_grow(&w->raw, &w->raw_room, t->n_tasks, sizeof *w->raw) < 0)
        return -ENOMEM;
    t->tasks[t->n_tasks] = (struct jsp_task){ .number = r->made.task, .thread = thread,
                                              .time = (int64_t)r->made.time };
    w->raw[t->n_tasks] = (struct tasks_raw){ r->made.parent, r->made.what, r->made.stack, pid };
    return jsp_tasks_work_add(w, TASKS_TASK, pid, r->made.task, t->n_tasks++);
}

static int tasks_run(struct tasks_work *w, uint32_t thread, const struct jsp_tasks_record *r)
{
    struct jsp_tasks *t = w->t;
    if (jsp_grow(&t->runs, &w->runs_room, t->n_runs, sizeof *t->runs) < 0 ||
        jsp_grow(&w->run_of, &w->run_of_room, t->n_runs, sizeof *w->run_of) < 0)
        return -ENOMEM;
    w->run_of[t->n_runs] = r->run.task;
    t->runs[t->n_runs] = (struct jsp_task_run){
        .begin = (int64_t)r->run.begin, .duration = (int64_t)r->run.duration,
        .task = t->n_runs, /* until sealing, the place in run_of */
        .thread = thread, .outer = JSP_TASK_NONE, .turn = JSP_TASK_NONE, .by = JSP_TASK_NONE,
        .delay = -1, .depth = r->run.depth,
        .is_open = r->run.flags & JSP_WIRE_RUN_OPEN, .is_left = r->run.flags & JSP_WIRE_RUN_LEFT,
    };
    t->n_runs++;
    return 0;
}

static int tasks_turn(struct tasks_work *w, uint32_t thread, const struct jsp_tasks_record *r)
{
    struct jsp_tasks *t = w->t;
    if (jsp_grow(&t->turns, &w->turns_room, t->n_turns, sizeof *t->turns) < 0)
        return -ENOMEM;
    t->turns[t->n_turns++] = (struct jsp_task_turn){
        (int64_t)r->turn.begin, (int64_t)r->turn.duration, (int64_t)r->turn.inner, thread,
        r->turn.depth };
    return 0;
}

static void tasks_done(struct tasks_work *w, int32_t pid, const struct jsp_tasks_record *r)
{
    uint32_t at = jsp_tasks_work_find(w, TASKS_TASK, pid, r->done.task);
    if (at != JSP_TASK_NONE && !w->t->tasks[at].done)
        w->t->tasks[at].done = (int64_t)r->done.time;
}

static int tasks_ready(struct tasks_work *w, int32_t pid, const struct jsp_tasks_record *r)
{
    if (jsp_grow(&w->readies, &w->readies_room, w->n_readies, sizeof *w->readies) < 0)
        return -ENOMEM;
    w->readies[w->n_readies++] =
        (struct tasks_ready){ (int64_t)r->ready.time, (int64_t)(r->ready.time + r->ready.in),
                              r->ready.task, r->ready.by, pid, r->tag == JSP_WIRE_TASKS_DUE };
    return 0;
}

static int tasks_first(struct tasks_work *w, int32_t pid, uint64_t first)
{
    if (jsp_tasks_work_find(w, TASKS_FIRST, pid, 0) != JSP_TASK_NONE)
        return 0;
    if (jsp_grow(&w->firsts, &w->firsts_room, w->n_firsts, sizeof *w->firsts) < 0)
        return -ENOMEM;
    w->firsts[w->n_firsts] = first;
    return jsp_tasks_work_add(w, TASKS_FIRST, pid, 0, w->n_firsts++);
}

/* Add a record. `thread` is that of the chunk's last THREAD record, or JSP_TASK_NONE: what needs
 * one is then malformed. */
static int tasks_record(struct tasks_work *w, const struct jsp_work_tasks *chunk,
                        const struct jsp_tasks_record *r, uint32_t *thread)
{
    bool needs_thread = r->tag >= JSP_WIRE_TASKS_NEW && r->tag <= JSP_WIRE_TASKS_TURN;
    if (needs_thread && *thread == JSP_TASK_NONE)
        return -EBADMSG;
    switch (r->tag) {
    case JSP_WIRE_TASKS_THREAD:
        return tasks_thread(w, chunk->pid, r->tid, thread);
    case JSP_WIRE_TASKS_WHAT:
        return tasks_what(w, chunk->pid, r);
    case JSP_WIRE_TASKS_STACK:
        return tasks_stack(w, chunk, r);
    case JSP_WIRE_TASKS_NEW:
        return tasks_made(w, chunk->pid, *thread, r);
    case JSP_WIRE_TASKS_RUN:
        return tasks_run(w, *thread, r);
    case JSP_WIRE_TASKS_TURN:
        return tasks_turn(w, *thread, r);
    case JSP_WIRE_TASKS_DONE:
        tasks_done(w, chunk->pid, r);
        return 0;
    case JSP_WIRE_TASKS_READY:
    case JSP_WIRE_TASKS_DUE:
        return tasks_ready(w, chunk->pid, r);
    case JSP_WIRE_TASKS_FIRST:
        return tasks_first(w, chunk->pid, r->first);
    }
    return -EBADMSG;
}

static int tasks_chunk(struct tasks_work *w, const struct jsp_work_tasks *chunk)
{
    const uint8_t *at = chunk->at;
    struct jsp_tasks_base base = { 0 };
    struct jsp_tasks_record r;
    uint32_t thread = JSP_TASK_NONE;
    int err = 0;
    while (err == 0 && at < chunk->end)
        err = jsp_tasks_record_get(&at, chunk->end, &base, &r)
                  ? tasks_record(w, chunk, &r, &thread)
                  : -EBADMSG;
    if (err != -EBADMSG)
        return err;
    w->t->defects.bad++;
    return 0;
}

/* -- All of it ---------------------------------------------------------------- */

static int tasks_init(struct tasks_work *w)
{
    static const struct jsp_task_what none = { { "", 0 }, { "", 0 } };
    uint32_t at;
    int err = jsp_hash_init(&w->by_text, 0);
    for (int i = 0; err == 0 && i < TASKS_SPACES; i++)
        err = jsp_hash_init(&w->numbers[i].by, 0);
    return err < 0 ? err : tasks_what_of(w, &none, &at);
}

static void tasks_work_free(struct tasks_work *w)
{
    for (int i = 0; i < TASKS_SPACES; i++) {
        jsp_hash_free(&w->numbers[i].by);
        free(w->numbers[i].at);
    }
    jsp_hash_free(&w->by_text);
    free(w->raw);
    free(w->run_of);
    free(w->firsts);
    free(w->readies);
}

int jsp_tasks_read(struct jsp_tasks *t, const struct jsp_profile *p)
{
    *t = (struct jsp_tasks){ 0 };
    struct tasks_work w = { .t = t, .profile = p };
    int err = tasks_init(&w);
    for (uint32_t i = 0; err == 0 && i < p->work->n_tasks; i++)
        err = tasks_chunk(&w, &p->work->tasks[i]);
    if (err == 0)
        err = jsp_tasks_work_seal(&w);
    tasks_work_free(&w);
    if (err < 0)
        jsp_tasks_free(t);
    return err;
}

void jsp_tasks_free(struct jsp_tasks *t)
{
    free(t->tasks);
    free(t->whats);
    free(t->runs);
    free(t->turns);
    free(t->stacks);
    free(t->threads);
    free(t->runs_of);
    *t = (struct jsp_tasks){ 0 };
}
