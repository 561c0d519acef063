/* unit/record_test.c - src/session/begin.c, retarget.c: each recording of a dormant session has
 * what happened in its time, and counts from 0.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include <fcntl.h>

#include "capture/taskfile.h"
#include "capture/wire.h"
#include "session/session.h"

static struct host h;
static jsprof_thread *me;
static int counter;

static bool begin(void)
{
    const struct jsp_session_setup setup = {
        .fd = -1, .hz = 1, .max_depth = 64, .ring_bytes = 1 << 16, .label_bytes = 1 << 16,
        .clock = JSP_CLOCK_CPU, .dormant = true, .children = true,
        .signo = SIGPROF,
    };
    return CHECK_EQ(jsp_session_open(&h.prof, &setup), 0);
}

static int record(struct jsp_session_aim aim)
{
    h.fd = memfd_create("capture", MFD_CLOEXEC);
    aim.fd = dup(h.fd);
    int err = jsp_session_record(h.prof, &aim);
    CHECK(!err || fcntl(aim.fd, F_GETFD) < 0); /* it took the descriptor over */
    return err;
}

/* Misuse each interface so often, run as many tasks, and mark as often. */
static void misuse(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        jsprof_task task = jsprof_task_new(me, "kind", "name", 0);
        jsprof_task_begin(me, task);
        jsprof_task_end(me, task);
        jsprof_task_done(me, task);
        jsprof_turn_end(me);
        jsprof_label_pop(me, 7);
        jsprof_label_set((jsprof_thread *)(void *)&h, "key", "of no thread");
        jsprof_mark(h.prof, 0, "group", "mark", NULL);
        jsprof_log(h.prof, 16, "domain", "message");
        jsprof_counter_set(h.prof, counter, n);
    }
}

/* Count the frames of each type, and runs of tasks, each of a task of its own. */
static int frames[256], n_runs;

static void count_frames(void)
{
    struct jsp_read_cursor walk;
    struct jsp_read_frame f;
    struct jsp_read_chunk chunk;
    struct jsp_tasks_record r;
    uint64_t first = 0;
    memset(frames, 0, sizeof frames);
    n_runs = 0;
    for (jsp_read_start(&walk, &h.read, NULL); jsp_read_next(&walk, &f); frames[f.type]++) {
        struct jsp_tasks_base base = { 0, 0 };
        if (f.type != JSP_WIRE_FILE_CHUNK || !jsp_read_chunk(&walk, &f, &chunk) ||
            chunk.path.len != 12 || memcmp(chunk.path.at, JSP_WIRE_FILE_TASKS, 12) != 0)
            continue;
        for (const uint8_t *at = chunk.data, *end = at + chunk.len;
             at < end && CHECK(jsp_tasks_record_get(&at, end, &base, &r));) {
            first = r.tag == JSP_WIRE_TASKS_FIRST ? r.first : first;
            n_runs += r.tag == JSP_WIRE_TASKS_RUN && r.run.task == first + (uint64_t)n_runs;
        }
    }
}

static void check_file(uint32_t n, uint32_t hz, int n_values)
{
    if (!host_load(&h))
        return;
    const struct jsp_account *a = &h.profile.account;
    CHECK(a->session.hz == hz && strcmp(a->session.state, "final") == 0);
    if (CHECK_EQ(a->n_threads, 1)) {
        CHECK_EQ(a->threads[0].tags_unmatched, n);
        CHECK_EQ(a->threads[0].tasks_unmatched, n);
        CHECK_EQ(a->threads[0].expirations, h.stats.expirations);
    }
    CHECK_EQ(a->session.tags_stray, n);
    count_frames();
    CHECK_EQ(n_runs, n);
    CHECK(frames[JSP_WIRE_MARK] == (int)n && frames[JSP_WIRE_LOG] == (int)n);
    CHECK(frames[JSP_WIRE_CTRDEF] == 1 && frames[JSP_WIRE_CTRSET] == n_values);
    jsp_profile_free(&h.profile);
    jsp_read_close(&h.read);
}

/* The child of a fork has the session, its thread and its counters. */
static int record_in_child(void)
{
    test_bad = 0;
    if (CHECK_EQ(record((struct jsp_session_aim){ .hz = 5 }), 0)) {
        misuse(2);
        CHECK_EQ(jsp_session_record_end(h.prof, &h.stats), 0);
        check_file(2, 5, 1); /* its counters begin without values */
    }
    CHECK_EQ(jsprof_close(h.prof), 0);
    fflush(stdout);
    return test_bad != 0;
}

TEST(each_recording_has_what_happened_in_its_time)
{
    struct jsp_session_brief brief;
    struct sigaction now;
    if (!begin())
        return;
    CHECK_EQ(record((struct jsp_session_aim){ .hz = 1 }), -ENOTCONN);
    CHECK_EQ(jsprof_start(h.prof), 0);
    CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0);
    CHECK_EQ(record((struct jsp_session_aim){ .hz = 1, .tasks = true }), -ENODATA);
    CHECK_EQ(record((struct jsp_session_aim){ .hz = 1, .alloc = true }), -EOPNOTSUPP);
    CHECK_EQ(jsp_session_record_end(h.prof, &h.stats), -ENOENT);
    counter = jsprof_counter(h.prof, "group", "counter", NULL, JSPROF_COUNTER_WHOLE);
    misuse(50);
    for (int i = 0; i < 20000; i++) /* more than the queue holds */
        CHECK_EQ(jsprof_log(h.prof, 16, "domain", "message"), 0);
    for (uint32_t i = 0; i < 3; i++) {
        const struct jsp_session_aim aim = { .hz = 1 + i, .clock = (enum jsp_clock)(i == 1),
                                             .tasks = i == 2, .compact = i == 2 };
        CHECK_EQ(record(aim), 0);
        int fd = h.fd;
        CHECK_EQ(record(aim), -EBUSY);
        h.fd = fd;
        CHECK_EQ(jsp_session_brief(h.prof, &brief), 0);
        CHECK(brief.is_recording && brief.is_dormant && brief.is_wanted && brief.threads == 1 &&
              brief.hz == 1 + i && brief.clock == aim.clock);
        misuse(3 + i);
        h.stats = (jsprof_stats){ .size = sizeof h.stats };
        CHECK_EQ(jsp_session_record_end(h.prof, &h.stats), 0);
        CHECK_EQ(jsp_session_brief(h.prof, &brief), 0);
        CHECK(!brief.is_recording && brief.threads == 1);
        check_file(3 + i, 1 + i, 2);
        CHECK_EQ(jsp_session_unsampled(h.prof), 1);
        misuse(7);
    }
    CHECK_EQ(host_in_child(record_in_child), 0);
    CHECK_EQ(jsprof_close(h.prof), 0);
    sigaction(SIGPROF, NULL, &now);
    CHECK(now.sa_handler == SIG_DFL);
    CHECK_EQ(jsp_session_brief(h.prof, &brief), -EINVAL);
}

TEST_MAIN()
