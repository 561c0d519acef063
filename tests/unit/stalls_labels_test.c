/* stalls_labels_test.c - stall mode: samples in a turn over the limit have the labels of their
 * moment, and those under which their task was made long before.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/seen.h"

/* A busy machine loses some of so many samples. */
enum { LIMIT_MS = 10, BURNT = 3 * LIMIT_MS, SEEN = 12 };

static struct host h;
static jsprof_thread *me;

static bool began(uint32_t flags)
{
    jsprof_options o = host_options(1000, JSPROF_CLOCK_CPU);
    o.stalls = (uint64_t)LIMIT_MS * 1000000;
    o.flags |= flags;
    return host_begin_with(&h, o, &me);
}

static bool ended(void)
{
    return host_close(&h) && CHECK_EQ(h.profile.stall_ns, LIMIT_MS * 1000000);
}

/* Return how many samples have this route; NULL: none. */
static uint64_t samples_of(const char *route)
{
    const struct jsp_labels_read *l = &h.profile.labels;
    uint64_t n = 0;
    for (uint32_t i = 0; i < h.profile.n_stacks; i++) {
        const struct jsp_labels_pair *pair = jsp_labels_value(
            l, h.profile.stacks[i].labels, (struct jsp_read_text){ "route", 5 });
        bool is = pair && route ? jsp_read_is(pair->value, route) : !pair && !route;
        n += is ? h.profile.stacks[i].samples : 0;
    }
    return n;
}

/* -- Labels of the moment ------------------------------------------------------ */

/* Use CPU time under this label until the thread has samples of it. */
static void labelled(const char *route)
{
    jsprof_label_set(me, "route", route);
    seen_burn(me, BURNT);
}

/* What a long turn had is written when it ends, or later: then the thread has other labels. */
static void labels_of(uint32_t flags)
{
    if (!began(flags))
        return;
    jsprof_label_set(me, "route", "/made");
    jsprof_task task = jsprof_task_new(me, "test", "later", 0);
    jsprof_turn_begin(me);
    labelled("/first");
    labelled("/second");
    jsprof_task_begin(me, task);
    labelled("/run");
    jsprof_task_end(me, task);
    jsprof_label_set(me, "route", "/last");
    jsprof_turn_end(me);
    labelled("/outside");
    if (!ended())
        return;
    CHECK(samples_of("/first") >= SEEN);
    CHECK(samples_of("/second") >= SEEN);
    CHECK(samples_of("/run") >= SEEN);
    CHECK_EQ(samples_of("/outside"), 0);
    uint64_t others = samples_of("/last") + samples_of("/made") + samples_of(NULL);
    CHECK(others < h.profile.samples / 4); /* of moments between two calls */
    CHECK_EQ(samples_of("/first") + samples_of("/second") + samples_of("/run") + others,
             h.profile.samples);
}

TEST_OF(a_sample_in_a_long_turn_has_the_labels_of_its_moment, labels_of(0))
TEST_OF(and_so_has_one_without_a_thread, labels_of(JSPROF_NO_THREAD))
TEST_OF(and_a_compact_one, labels_of(JSPROF_COMPACT))

/* -- Labels of tasks ----------------------------------------------------------- */

static jsprof_task made_for(const char *route)
{
    uint32_t level = jsprof_label_push(me, route ? "route" : NULL, route);
    jsprof_task task = jsprof_task_new(me, "test", "task", 0);
    jsprof_label_pop(me, level);
    return task;
}

static void run_seen(jsprof_task task)
{
    jsprof_task_begin(me, task);
    seen_burn(me, BURNT);
    jsprof_task_end(me, task);
}

static void quick_turns(int n)
{
    for (int i = 0; i < n; i++) {
        jsprof_turn_begin(me);
        jsprof_task other = jsprof_task_new(me, "test", "quick", JSPROF_TASK_NO_STACK);
        jsprof_task_begin(me, other);
        jsprof_task_end(me, other);
        jsprof_turn_end(me);
    }
}

/* `others` quick turns lie between the tasks and the one that is long. */
static void labels_of_tasks(uint32_t flags, int others)
{
    if (!began(flags))
        return;
    jsprof_task login = made_for("/login"), plain = made_for(NULL);
    jsprof_task again = made_for("/login"), other = made_for("/other");
    jsprof_task_begin(me, other);
    jsprof_task child = made_for(NULL); /* its maker is in no long turn */
    jsprof_task_end(me, other);
    quick_turns(others);
    jsprof_turn_begin(me);
    run_seen(login);
    run_seen(plain);
    run_seen(again);
    if (others < JSP_STALLS_SLOTS) /* a maker that ran once is forgotten */
        run_seen(child);
    jsprof_turn_end(me);
    if (!ended())
        return;
    CHECK(samples_of("/login") >= 2 * SEEN);
    CHECK(samples_of("/other") >= (others < JSP_STALLS_SLOTS ? SEEN : 0));
    CHECK(samples_of(NULL) >= SEEN);
    CHECK_EQ(samples_of("/login") + samples_of("/other") + samples_of(NULL), h.profile.samples);
    CHECK_EQ(h.profile.account.session.tags_unwritten, 0);
}

TEST_OF(a_task_in_a_long_turn_has_the_labels_under_which_it_was_made, labels_of_tasks(0, 10))
TEST_OF(so_it_has_without_a_thread, labels_of_tasks(JSPROF_NO_THREAD, 10))
TEST_OF(so_it_has_in_a_compact_capture, labels_of_tasks(JSPROF_COMPACT, 10))
TEST_OF(so_it_has_after_its_slot_went_to_another_task, labels_of_tasks(0, 2 * JSP_STALLS_SLOTS))

/* More labels than the library keeps: the oldest are gone, and the account counts them. */
TEST(labels_that_were_overwritten_are_counted)
{
    enum { OTHERS = JSP_STALLS_TAGS * 8 / JSP_TAGS_BYTES * 2 };
    if (!began(0))
        return;
    jsprof_task old = made_for("/old");
    for (int i = 0; i < OTHERS; i++) {
        char value[JSP_TAGS_VALUE + 1];
        uint32_t level = jsprof_label_push(me, "route", "/many");
        memset(value, 'v', sizeof value);
        snprintf(value + sizeof value - 12, 12, "%011d", i);
        jsprof_label_set(me, "one", value);
        jsprof_label_set(me, "two", value);
        jsprof_label_set(me, "three", value);
        jsprof_task_new(me, "test", "other", JSPROF_TASK_NO_STACK);
        jsprof_label_pop(me, level);
    }
    jsprof_task young = made_for("/young");
    jsprof_turn_begin(me);
    run_seen(old);
    run_seen(young);
    jsprof_turn_end(me);
    if (!ended())
        return;
    CHECK_EQ(samples_of("/old"), 0);
    CHECK(samples_of("/young") >= SEEN);
    CHECK_EQ(samples_of("/young") + samples_of(NULL), h.profile.samples);
    CHECK_EQ(h.profile.account.session.tags_unwritten, 1);
}

TEST_MAIN()
