/* stalls_test.c - stall mode: turns over the limit are in the capture with all that is inside
 * them, and nothing else is.
 *
 * The test measures its turns with the same clock, from inside and from outside. A machine that
 * is away for a while makes a quick turn long: then it has to be there, too.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

#include <sys/stat.h>

#include "analyze/events.h"
#include "analyze/samples.h"
#include "analyze/tasks.h"
#include "capture/wire.h"

enum { LIMIT_MS = 10, TURNS = 400, STALLS = 4, CHAIN = 3 };

static struct host h;
static jsprof_thread *me;
static struct jsp_tasks t;
static struct {
    uint64_t outside[2], inside[2]; /* begin and end, measured outside and inside of the turn */
    bool is_stall;
} turns[TURNS];
static uint32_t n_turns;
static bool was_away; /* a turn took long, because the machine was away or because it was to */

static bool began(uint32_t flags, int clock)
{
    jsprof_options o = host_options(1000, clock);
    o.stalls = (uint64_t)LIMIT_MS * 1000000;
    o.flags |= flags;
    n_turns = 0;
    jsp_tasks_free(&t);
    return host_begin_with(&h, o, &me);
}

/* Read the capture. Like host_finish, it checks that every expiration is counted. */
static bool ended(void)
{
    if (!host_close(&h))
        return false;
    return CHECK_EQ(jsp_tasks_read(&t, &h.profile), 0) && CHECK_EQ(t.defects.bad, 0) &&
           CHECK_EQ(t.defects.repeated, 0) && CHECK_EQ(t.defects.unknown, 0);
}

static void turn(jsprof_task task, uint64_t burn_ms)
{
    uint32_t at = n_turns++ % TURNS;
    turns[at].is_stall = burn_ms;
    turns[at].outside[0] = jsprof_now();
    jsprof_turn_begin(me);
    turns[at].inside[0] = jsprof_now();
    jsprof_task_begin(me, task);
    jsprof_mark(h.prof, jsprof_now(), "test", burn_ms ? "slow" : "quick", NULL);
    if (burn_ms)
        host_burn_ms(burn_ms);
    jsprof_task_end(me, task);
    turns[at].inside[1] = jsprof_now();
    jsprof_turn_end(me);
    turns[at].outside[1] = jsprof_now();
    was_away |= turns[at].outside[1] - turns[at].outside[0] >= (uint64_t)LIMIT_MS * 1000000;
}

/* Quick turns, and stalls among them, each in a task at the end of a chain. */
static void run_loop(void)
{
    for (int i = 0; i < TURNS; i++) {
        bool is_slow = i % (TURNS / STALLS) == TURNS / STALLS / 2;
        jsprof_task task = jsprof_task_new(me, "test", is_slow ? "root" : "other", 0);
        for (int link = 0; is_slow && link < CHAIN; link++) {
            jsprof_task_begin(me, task);
            jsprof_task next = jsprof_task_new(me, "test", link == CHAIN - 1 ? "slow" : "link", 0);
            jsprof_task_end(me, task);
            task = next;
        }
        turn(task, is_slow ? 5 * LIMIT_MS : 0);
    }
}

static bool is_in_capture(uint32_t at)
{
    bool is_there = false;
    for (uint32_t i = 0; i < t.n_turns && !is_there; i++)
        is_there = (uint64_t)t.turns[i].begin >= turns[at].outside[0] &&
                   (uint64_t)t.turns[i].begin <= turns[at].inside[0];
    return is_there;
}

/* All long turns are there, none that was quick. Return how many are there. */
static uint32_t check_turns(void)
{
    const uint64_t limit = (uint64_t)LIMIT_MS * 1000000;
    uint32_t there = 0;
    for (uint32_t i = 0; i < TURNS; i++) {
        bool is = is_in_capture(i);
        there += is;
        if (turns[i].inside[1] - turns[i].inside[0] > limit)
            CHECK(is);
        if (turns[i].outside[1] - turns[i].outside[0] < limit)
            CHECK(!is);
    }
    CHECK_EQ(t.n_turns, there);
    return there;
}

/* Every sample is in a turn of the capture. Return how many are in the task "slow". */
static uint32_t check_samples(void)
{
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_samples samples;
    struct jsp_sample s;
    uint32_t slow = 0;
    jsp_read_start(&c, &h.read, NULL);
    jsp_samples_start(&samples, &h.profile, NULL);
    while (jsp_read_next(&c, &f)) {
        if (f.type != JSP_WIRE_SAMPLE || !jsp_samples_take(&samples, &f, &s))
            continue;
        uint32_t task = jsp_tasks_find(&t, f.pid, s.task);
        CHECK(jsp_tasks_turn_at(&t, 0, f.time) != JSP_TASK_NONE);
        CHECK(!s.task || task != JSP_TASK_NONE);
        slow += task != JSP_TASK_NONE && jsp_read_is(t.whats[t.tasks[task].what].name, "slow");
    }
    return slow;
}

/* Each run of "slow" has the whole chain. */
static void check_chains(void)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < t.n_runs; i++) {
        uint32_t task = t.runs[i].task, links = 0;
        if (!jsp_read_is(t.whats[t.tasks[task].what].name, "slow"))
            continue;
        found++;
        for (; t.tasks[task].parent != JSP_TASK_NONE; task = t.tasks[task].parent)
            links++;
        CHECK_EQ(links, CHAIN);
        CHECK(jsp_read_is(t.whats[t.tasks[task].what].name, "root"));
        CHECK(t.tasks[task].stack != JSP_TASK_NONE);
    }
    CHECK_EQ(found, STALLS);
}

static void check_marks(void)
{
    struct jsp_events e;
    uint32_t slow = 0, quick = 0;
    if (!CHECK_EQ(jsp_events_read(&e, &h.profile, (struct jsp_events_of){ 0 }), 0))
        return;
    for (uint32_t i = 0; i < e.n_marks; i++) {
        slow += jsp_read_is(e.marks[i].name, "slow");
        quick += jsp_read_is(e.marks[i].name, "quick");
    }
    CHECK_EQ(slow, STALLS);
    CHECK(quick <= t.n_turns - STALLS);
    jsp_events_free(&e);
}

static void all_of_it(uint32_t flags, int clock)
{
    if (!began(flags, clock))
        return;
    run_loop();
    if (!ended())
        return;
    CHECK(check_turns() >= STALLS);
    CHECK(check_samples() > 0);
    check_chains();
    check_marks();
    CHECK(h.stats.lost_paused + h.stats.kept > 0);
}

TEST_OF(long_turns_are_there_with_their_causes_and_no_quick_ones, all_of_it(0, JSPROF_CLOCK_CPU))
TEST_OF(so_they_are_on_the_wall_clock, all_of_it(0, JSPROF_CLOCK_WALL))
TEST_OF(so_they_are_without_a_thread, all_of_it(JSPROF_NO_THREAD, JSPROF_CLOCK_CPU))
TEST_OF(so_they_are_in_a_compact_capture, all_of_it(JSPROF_COMPACT, JSPROF_CLOCK_CPU))

static uint64_t written(void)
{
    struct stat st;
    CHECK_EQ(fstat(h.fd, &st), 0);
    return (uint64_t)st.st_size;
}

TEST(quick_turns_write_nothing)
{
    if (!began(0, JSPROF_CLOCK_CPU))
        return;
    turn(jsprof_task_new(me, "test", "other", 0), 0); /* its stack is written */
    CHECK_EQ(jsprof_flush(h.prof), 0);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    uint64_t before = written();
    uint64_t begun = jsprof_now();
    was_away = false;
    for (int i = 0; i < 1000; i++) {
        turn(jsprof_task_new(me, "test", "other", JSPROF_TASK_NO_STACK), 0);
        if (i % 100 == 0)
            host_burn_ms(3); /* between turns: samples that are dropped */
    }
    CHECK_EQ(jsprof_flush(h.prof), 0);
    if (!was_away && jsprof_now() - begun < 1000000000)
        CHECK_EQ(written(), before);
    else
        CHECK(written() >= before);
    if (!ended())
        return;
    CHECK(h.stats.lost_quick > 0);
}

TEST(a_turn_that_does_not_end_is_there)
{
    if (!began(0, JSPROF_CLOCK_CPU))
        return;
    jsprof_task root = jsprof_task_new(me, "test", "root", 0);
    jsprof_task_begin(me, root);
    jsprof_task slow = jsprof_task_new(me, "test", "slow", 0);
    jsprof_task_end(me, root);
    jsprof_turn_begin(me);
    jsprof_task_begin(me, slow);
    host_burn_ms(10 * LIMIT_MS);
    if (!ended())
        return;
    CHECK(h.profile.samples > 0);
    CHECK_EQ(t.n_tasks, 2);
}

/* More tasks than there are slots. One that has never run, and one that runs again and again,
 * are known when they run at last. */
TEST(a_task_that_waits_long_is_known)
{
    enum { OTHERS = 140000 };
    if (!began(0, JSPROF_CLOCK_CPU))
        return;
    jsprof_task waits = jsprof_task_new(me, "test", "waits", JSPROF_TASK_NO_STACK);
    jsprof_task often = jsprof_task_new(me, "test", "often", JSPROF_TASK_NO_STACK);
    for (int i = 0; i < 2; i++)
        turn(often, 0);
    for (int i = 0; i < OTHERS; i++) {
        jsprof_task other = jsprof_task_new(me, "test", "other", JSPROF_TASK_NO_STACK);
        jsprof_task_begin(me, other);
        jsprof_task_end(me, other);
    }
    turn(often, 3 * LIMIT_MS);
    turn(waits, 3 * LIMIT_MS);
    if (!ended())
        return;
    uint32_t found = 0;
    for (uint32_t i = 0; i < t.n_runs; i++)
        found += jsp_read_is(t.whats[t.tasks[t.runs[i].task].what].name, "often") +
                 jsp_read_is(t.whats[t.tasks[t.runs[i].task].what].name, "waits");
    CHECK(found >= 2);
    CHECK(t.n_tasks < OTHERS / 10);
}

TEST(a_timer_in_a_long_turn_keeps_its_maker)
{
    if (!began(0, JSPROF_CLOCK_CPU))
        return;
    jsprof_task root = jsprof_task_new(me, "test", "root", 0);
    jsprof_task_begin(me, root);
    jsprof_task timer = jsprof_task_new(me, "test", "timer", 0);
    jsprof_task_end(me, root);
    jsprof_task_due(me, timer, -1000000);
    turn(timer, 3 * LIMIT_MS);
    if (!ended())
        return;
    bool is_there = false;
    for (uint32_t i = 0; i < t.n_runs; i++) {
        const struct jsp_task_run *run = &t.runs[i];
        if (!jsp_read_is(t.whats[t.tasks[run->task].what].name, "timer"))
            continue;
        is_there = true;
        CHECK(run->delay >= 1000000);
        CHECK(run->by != JSP_TASK_NONE &&
              jsp_read_is(t.whats[t.tasks[run->by].what].name, "root"));
    }
    CHECK(is_there);
}

TEST_MAIN()
