/* taskfile_test.c - src/capture/taskfile.c, read_taskfile.c and src/analyze/tasks.c: records as
 * they are written and read, and captures that lie.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "analyze/tasks.h"
#include "capture/taskfile.h"
#include "capture_builder.h"
#include "test.h"

static uint8_t bytes[4096];
static size_t used;
static struct jsp_tasks_base base;

static void begin(void)
{
    used = 0;
    base = (struct jsp_tasks_base){ 0 };
}

static void put(struct jsp_tasks_record r)
{
    used += jsp_tasks_record_put(bytes + used, &base, &r);
}

static bool same_text(struct jsp_read_text a, struct jsp_read_text b)
{
    return jsp_read_equal(a, b);
}

/* Compare records that have numbers alone; what lies between and after their fields may differ. */
static bool same_numbers(const struct jsp_tasks_record *a, const struct jsp_tasks_record *b)
{
    switch (a->tag) {
    case JSP_WIRE_TASKS_FIRST:
        return a->first == b->first;
    case JSP_WIRE_TASKS_THREAD:
        return a->tid == b->tid;
    case JSP_WIRE_TASKS_NEW:
        return memcmp(&a->made, &b->made, sizeof a->made) == 0;
    case JSP_WIRE_TASKS_READY:
    case JSP_WIRE_TASKS_DUE:
        return memcmp(&a->ready, &b->ready, sizeof a->ready) == 0;
    case JSP_WIRE_TASKS_RUN:
        return memcmp(&a->run, &b->run, sizeof a->run) == 0;
    case JSP_WIRE_TASKS_DONE:
        return memcmp(&a->done, &b->done, sizeof a->done) == 0;
    case JSP_WIRE_TASKS_TURN:
        return a->turn.begin == b->turn.begin && a->turn.duration == b->turn.duration &&
               a->turn.inner == b->turn.inner && a->turn.depth == b->turn.depth;
    default:
        return false;
    }
}

TEST(every_record_is_read_as_it_was_written)
{
    const uint64_t addrs[] = { 0xE000000000000007, 0x401000, 0xE000000000000003, 0x7fff00001234 };
    const uint32_t lines[] = { 12, 0, UINT32_MAX, 0 };
    const struct jsp_tasks_record in[] = {
        { JSP_WIRE_TASKS_FIRST, .first = 3 },
        { JSP_WIRE_TASKS_THREAD, .tid = 77 },
        { JSP_WIRE_TASKS_WHAT, .what = { 1, { "timeout", 7 }, { "", 0 } } },
        { JSP_WIRE_TASKS_STACK, .stack = { 5, { 4, addrs, lines, NULL, NULL } } },
        { JSP_WIRE_TASKS_NEW, .made = { 9, 1000, 3, 1, 5 } },
        { JSP_WIRE_TASKS_NEW, .made = { 10, 900, 0, 0, 0 } },
        { JSP_WIRE_TASKS_READY, .ready = { 9, 1500, 10, 0 } },
        { JSP_WIRE_TASKS_DUE, .ready = { 9, 1600, 10, UINT64_C(1) << 40 } },
        { JSP_WIRE_TASKS_RUN, .run = { 9, 2000, 500, 63, JSP_WIRE_RUN_LEFT } },
        { JSP_WIRE_TASKS_RUN, .run = { 0, INT64_MAX, 0, 0, JSP_WIRE_RUN_OPEN } },
        { JSP_WIRE_TASKS_DONE, .done = { 9, 3000 } },
        { JSP_WIRE_TASKS_TURN, .turn = { 1, 4000, 4000, 15 } },
    };
    const uint8_t *at = bytes;
    struct jsp_tasks_record r;
    begin();
    for (size_t i = 0; i < sizeof in / sizeof *in; i++)
        put(in[i]);
    base = (struct jsp_tasks_base){ 0 };
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        if (!CHECK(jsp_tasks_record_get(&at, bytes + used, &base, &r)) ||
            !CHECK_EQ(r.tag, in[i].tag))
            return;
        if (r.tag == JSP_WIRE_TASKS_WHAT) {
            CHECK_EQ(r.what.number, 1);
            CHECK(same_text(r.what.kind, in[i].what.kind));
            CHECK(same_text(r.what.name, in[i].what.name));
        } else if (r.tag == JSP_WIRE_TASKS_STACK) {
            struct jsp_tasks_frame_at walk = { 0 };
            uint64_t addr, line;
            CHECK_EQ(r.stack.number, 5);
            for (int f = 0; f < 4; f++) {
                CHECK(jsp_tasks_frame_get(&r.stack.frames, &walk, &addr, &line));
                CHECK(addr == addrs[f] && line == lines[f]);
            }
            CHECK(!jsp_tasks_frame_get(&r.stack.frames, &walk, &addr, &line));
        } else {
            CHECK(same_numbers(&r, &in[i]));
        }
    }
    CHECK_EQ(at == bytes + used, true);
}

/* A part of a record is none, wherever it ends. */
TEST(a_record_that_is_cut_is_refused)
{
    const struct jsp_tasks_record in[] = {
        { JSP_WIRE_TASKS_WHAT, .what = { 300, { "kind", 4 }, { "name", 4 } } },
        { JSP_WIRE_TASKS_NEW, .made = { 1u << 20, 1u << 30, 1, 300, 300 } },
        { JSP_WIRE_TASKS_RUN, .run = { 1u << 20, 1u << 30, 1u << 30, 300, 3 } },
        { JSP_WIRE_TASKS_READY, .ready = { 1u << 20, 1u << 30, 1, 0 } },
        { JSP_WIRE_TASKS_TURN, .turn = { 1u << 30, 1u << 30, 300, 300 } },
    };
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) {
        struct jsp_tasks_record r;
        begin();
        put(in[i]);
        for (size_t n = 0; n < used; n++) {
            const uint8_t *at = bytes;
            base = (struct jsp_tasks_base){ 0 };
            CHECK(!jsp_tasks_record_get(&at, bytes + n, &base, &r));
        }
    }
}

TEST(a_run_that_ends_after_2_to_the_63_is_refused)
{
    for (uint64_t i = 0; i < 2; i++) {
        struct jsp_tasks_record r;
        const uint8_t *at = bytes;
        begin();
        put((struct jsp_tasks_record){ JSP_WIRE_TASKS_RUN, .run = { 9, 2, INT64_MAX - 2 + i } });
        base = (struct jsp_tasks_base){ 0 };
        CHECK_EQ(jsp_tasks_record_get(&at, bytes + used, &base, &r), !i);
    }
}

static struct builder b;
static struct jsp_tasks t;
static struct jsp_profile p;
static struct jsp_read r;

/* Read the records as the one chunk of a capture of process 8. */
static bool read_as_capture(void)
{
    char why[JSP_READ_WHY];
    build_start(&b, false);
    build_chunk(&b, JSP_WIRE_FILE_TASKS, bytes, used);
    return CHECK_EQ(jsp_read_memory(&r, b.bytes, b.size, why), 0) &&
           CHECK_EQ(jsp_profile_load(&p, &r, NULL), 0) && CHECK_EQ(jsp_tasks_read(&t, &p), 0);
}

static void end(void)
{
    jsp_tasks_free(&t);
    jsp_profile_free(&p);
    jsp_read_close(&r);
    free(b.bytes);
}

TEST(what_a_capture_claims_wrongly_is_counted)
{
    begin();
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_FIRST, .first = 5 });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_THREAD, .tid = 9 });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_NEW, .made = { 7, 100, 6, 99, 99 } });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_NEW, .made = { 7, 200, 0, 0, 0 } });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_RUN, .run = { 7, 300, 100, 0, 0 } });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_RUN, .run = { 7, 350, 100, 1, 0 } });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_RUN, .run = { 8, 500, 1, 0, 0 } });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_RUN, .run = { 3, 600, 1, 0, 0 } });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_RUN, .run = { 0, 900, 1, 0, 0 } });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_RUN, .run = { 7, 700, 1, 0, 2 } });
    put((struct jsp_tasks_record){ JSP_WIRE_TASKS_RUN, .run = { 7, 700, 9, 0, 0 } });
    if (!read_as_capture())
        return;
    CHECK_EQ(t.n_tasks, 1);
    CHECK_EQ(t.defects.repeated, 1);
    CHECK_EQ(t.defects.orphans, 1);
    CHECK_EQ(t.defects.crossing, 1);
    CHECK_EQ(t.defects.unknown, 2); /* not the one of task 0 */
    CHECK_EQ(t.defects.before, 1);
    CHECK_EQ(t.defects.bad, 0);
    CHECK_EQ(t.n_runs, 6); /* the open one ended later */
    CHECK_EQ(t.tasks[0].time, 100);
    CHECK_EQ(t.tasks[0].what, 0);
    CHECK_EQ(t.tasks[0].stack, JSP_TASK_NONE);
    CHECK_EQ(t.runs[0].inner, 50);
    CHECK_EQ(t.runs[1].outer, 0);
    CHECK(!t.runs[4].is_open && t.runs[4].duration == 9);
    end();
}

/* A task below itself: the difference to its parent leads to no lower number. And a task before any
 * thread. */
TEST(a_circle_of_parents_or_a_record_without_a_thread_is_refused)
{
    static const uint8_t own[] = { JSP_WIRE_TASKS_THREAD, 9, JSP_WIRE_TASKS_NEW, 4, 2, 2, 0, 0 };
    for (int is_own = 0; is_own < 2; is_own++) {
        begin();
        put((struct jsp_tasks_record){ JSP_WIRE_TASKS_NEW, .made = { 7, 100, 0, 0, 0 } });
        if (is_own)
            memcpy(bytes, own, used = sizeof own); /* task 2, whose parent would be 0 */
        if (!read_as_capture())
            return;
        CHECK_EQ(t.n_tasks, 0);
        CHECK_EQ(t.defects.bad, 1);
        end();
    }
}

TEST_MAIN()
