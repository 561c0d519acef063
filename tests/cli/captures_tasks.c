/* captures_tasks.c - tasks of an event loop, in the captures for the tests of the tool.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cli/captures.h"

#define MS 1000000

struct captures_tasks {
    uint8_t data[1024];
    size_t n;
    uint64_t time, task; /* of the record before */
};

static void tasks_put(struct captures_tasks *t, uint64_t value)
{
    t->n += build_varint(t->data + t->n, value);
}

static void tasks_from(struct captures_tasks *t, uint64_t *last, uint64_t value)
{
    int64_t by = (int64_t)(value - *last);
    tasks_put(t, (uint64_t)by << 1 ^ (uint64_t)(by >> 63));
    *last = value;
}

static uint64_t tasks_time(double ms)
{
    return 1000 * MS + (uint64_t)(ms * MS);
}

static void tasks_thread(struct captures_tasks *t, uint64_t tid)
{
    tasks_put(t, 1);
    tasks_put(t, tid);
}

static void tasks_what(struct captures_tasks *t, uint64_t number, const char *kind,
                       const char *name)
{
    tasks_put(t, 2);
    tasks_put(t, number);
    for (int i = 0; i < 2; i++) {
        const char *text = i ? name : kind;
        tasks_put(t, strlen(text));
        memcpy(t->data + t->n, text, strlen(text));
        t->n += strlen(text);
    }
}

static void tasks_stack(struct captures_tasks *t, uint64_t number, const uint32_t *frames, int n)
{
    uint64_t last = 0;
    tasks_put(t, 3);
    tasks_put(t, number);
    tasks_put(t, (uint64_t)n);
    for (int i = 0; i < n; i++) {
        tasks_put(t, 1);
        tasks_from(t, &last, frames[i]);
    }
}

static void tasks_new(struct captures_tasks *t, uint64_t task, double ms, uint64_t parent,
                      uint64_t what, uint64_t stack)
{
    tasks_put(t, 4);
    tasks_from(t, &t->task, task);
    tasks_from(t, &t->time, tasks_time(ms));
    tasks_put(t, parent ? task - parent : 0);
    tasks_put(t, what);
    tasks_put(t, stack);
}

/* flags: 1 it was left, 2 it is open; 4 * the runs around it */
static void tasks_run(struct captures_tasks *t, uint64_t task, double from, double to, int flags)
{
    tasks_put(t, 5);
    tasks_from(t, &t->task, task);
    tasks_from(t, &t->time, tasks_time(from));
    tasks_put(t, tasks_time(to) - tasks_time(from));
    tasks_put(t, (uint64_t)flags);
}

static void tasks_turn(struct captures_tasks *t, double from, double to)
{
    tasks_put(t, 7);
    tasks_from(t, &t->time, tasks_time(from));
    tasks_put(t, tasks_time(to) - tasks_time(from));
    tasks_put(t, 0);
    tasks_put(t, 0);
}

static void tasks_ready(struct captures_tasks *t, uint64_t task, double ms, uint64_t by)
{
    tasks_put(t, 8);
    tasks_from(t, &t->task, task);
    tasks_from(t, &t->time, tasks_time(ms));
    tasks_from(t, &t->task, by);
}

static void tasks_due(struct captures_tasks *t, uint64_t task, double ms, double in_ms)
{
    tasks_put(t, 10);
    tasks_from(t, &t->task, task);
    tasks_from(t, &t->time, tasks_time(ms));
    tasks_from(t, &t->task, 0);
    tasks_put(t, (uint64_t)(in_ms * MS));
}

/* A timer that runs three times, makes a promise, whose reaction makes another one; a run inside a
 * run, of a task that nobody knows; a run on a second thread; turns of 7 ms, 30 ms and more. The
 * timer is set for its second run before the first one begins, runs 1 ms late, and 2 ms early the
 * last time. In the
 * other order, the timer's second run comes after the last promise. */
static void tasks_records(struct captures_tasks *t, bool is_other)
{
    static const uint32_t main_stack[] = { 1 }, work_stack[] = { 2, 1 };
    tasks_put(t, 9);
    tasks_put(t, 5);
    tasks_thread(t, 100);
    tasks_what(t, 1, "timeout", "tick (app.js:10)");
    tasks_what(t, 2, "promise", "load (app.js:20)");
    tasks_what(t, 3, "promise", "show (app.js:30)");
    tasks_stack(t, 1, main_stack, 1);
    tasks_stack(t, 2, work_stack, 2);
    tasks_new(t, 5, 1, 0, 1, 1);
    tasks_new(t, 6, 12, 5, 2, 2);
    tasks_ready(t, 6, 13, 5);
    tasks_due(t, 5, 1, 8);
    tasks_due(t, 5, 9.5, 9.5);
    tasks_run(t, 5, 10, 14, 0);
    tasks_new(t, 7, 15, 6, 3, 2);
    tasks_run(t, 6, 14.5, 15.5, 0);
    tasks_turn(t, 9, 16);
    tasks_run(t, 5, is_other ? 48.5 : 20, is_other ? 49 : 22, 0);
    tasks_run(t, 2, 30, 40, 4);
    tasks_run(t, 7, 23, 48, 0);
    tasks_turn(t, 20, 50);
    tasks_due(t, 5, 21, 41);
    tasks_run(t, 5, 60, 65, 2);
    tasks_thread(t, 200);
    tasks_run(t, 6, 20, 30, 1);
}

/* A mark, 25 ms after the start, while task 7 ran. */
static void tasks_mark(struct builder *b)
{
    uint64_t now = b->time;
    b->time = tasks_time(24);
    build_mark(b, 5 * MS, "app", "click", "the button");
    b->time = now;
}

static void tasks_write(struct builder *b, bool is_other)
{
    static const uint8_t running[] = { 1, 0, 3, 14, 1, 2 << 1 }; /* 7, then 6, then 8, of none */
    static const uint64_t of[3][2] = { { 2, 1 }, { 3, 2 }, { 3, 1 } };
    struct captures_tasks t = { .n = 0 };
    uint8_t weights[64] = { 1, 0, 3 };
    size_t w = 3;
    build_start(b, false);
    build_process(b, "host app.js");
    build_metadata(b, "jsprof.version", "0.1.0");
    build_metadata(b, "jsprof.clock", "wall");
    build_metadata(b, "jsprof.hz", "100");
    captures_names(b);
    for (int i = 0; i < 3; i++) {
        uint64_t addrs[] = { build_tag((uint32_t)of[i][0]), build_tag((uint32_t)of[i][1]) };
        build_sample(b, addrs, 2);
        w += build_varint(weights + w, 1);
        w += build_varint(weights + w, 10 * MS);
        w += build_varint(weights + w, 0);
        w += build_varint(weights + w, 0);
    }
    build_chunk(b, "jsprof/samples", weights, w);
    build_chunk(b, "jsprof/running", running, sizeof running);
    tasks_records(&t, is_other);
    build_chunk(b, "jsprof/tasks", t.data, t.n);
    tasks_mark(b);
    captures_losses(b, "session state=final time=70000000 hz=100 clock=wall\n"
                       "thread id=1 tid=100 name=main expirations=3 kept=3 samples=3 "
                       "cpu_ns=30000000 wall_ns=70000000\n");
}

void captures_tasks(struct builder *b)
{
    tasks_write(b, false);
}

void captures_tasks2(struct builder *b)
{
    tasks_write(b, true);
}

/* A stack of work, at that line, and main; and of native code above it, if `native` is not 0. */
static void tasks_mixed(struct captures_tasks *t, uint64_t number, uint64_t native, uint64_t line)
{
    uint64_t last = 0, last_native = 0;
    tasks_put(t, 3);
    tasks_put(t, number);
    tasks_put(t, native ? 3 : 2);
    if (native) {
        tasks_put(t, 0);
        tasks_from(t, &last_native, native);
    }
    tasks_put(t, 1 | 2); /* with a line */
    tasks_from(t, &last, 2);
    tasks_put(t, line);
    tasks_put(t, 1);
    tasks_from(t, &last, 1);
}

/* A timer made three promises on stacks that differ in a line, and in native code. Another one's
 * reaction made the first two ready, a timer the third for one run, its maker for another. */
void captures_causes(struct builder *b)
{
    static const uint32_t main_stack[] = { 1 };
    struct captures_tasks t = { .n = 0 };
    build_start(b, false);
    build_process(b, "host app.js");
    build_metadata(b, "jsprof.version", "0.1.0");
    build_map(b, 0x400000, 0x500000, "/usr/bin/host");
    captures_names(b);
    tasks_put(&t, 9);
    tasks_put(&t, 5);
    tasks_thread(&t, 100);
    tasks_what(&t, 1, "timeout", "tick (app.js:10)");
    tasks_what(&t, 2, "promise", "load (app.js:20)");
    tasks_what(&t, 3, "promise", "show (app.js:30)");
    tasks_what(&t, 4, "timeout", "other (app.js:40)");
    tasks_stack(&t, 1, main_stack, 1);
    tasks_mixed(&t, 2, 0, 7);
    tasks_mixed(&t, 3, 0, 8);
    tasks_mixed(&t, 4, 0x400100, 8);
    tasks_new(&t, 5, 1, 0, 1, 1);
    tasks_new(&t, 6, 2, 0, 3, 1);
    tasks_new(&t, 7, 3, 0, 4, 1);
    for (uint64_t i = 0; i < 3; i++) {
        tasks_new(&t, 8 + i, 11, 5, 2, 2 + i);
        tasks_ready(&t, 8 + i, 12, i < 2 ? 6 : 7);
    }
    tasks_run(&t, 5, 10, 12, 0);
    for (uint64_t i = 0; i < 3; i++)
        tasks_run(&t, 8 + i, 20 + (double)i, 21 + (double)i, 0);
    tasks_ready(&t, 10, 30, 5);
    tasks_run(&t, 10, 32, 33, 0);
    build_chunk(b, "jsprof/tasks", t.data, t.n);
    captures_losses(b, "session state=final time=70000000 hz=100 clock=wall\n"
                       "thread id=1 tid=100 name=main expirations=0 kept=0 samples=0\n");
}
