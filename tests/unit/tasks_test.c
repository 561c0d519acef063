/* tasks_test.c - tasks and turns: what the capture says of a program that knows its own, and what
 * becomes of a host's mistakes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "signal/host.h"

#include "analyze/samples.h"
#include "analyze/tasks.h"
#include "capture/wire.h"

static struct host h;
static jsprof_thread *me;
static struct jsp_tasks t;

static bool began(jsprof_options o)
{
    jsp_tasks_free(&t);
    return host_begin_with(&h, o, &me);
}

static bool ended(void)
{
    return host_close(&h) && CHECK_EQ(jsp_tasks_read(&t, &h.profile), 0) &&
           CHECK_EQ(t.defects.bad, 0) && CHECK_EQ(t.defects.repeated, 0) &&
           CHECK_EQ(t.defects.crossing, 0);
}

/* Return the position of the task of this name, or JSP_TASK_NONE. */
static uint32_t named(const char *name)
{
    uint32_t i = 0;
    while (i < t.n_tasks && !jsp_read_is(t.whats[t.tasks[i].what].name, name))
        i++;
    return CHECK(i < t.n_tasks) ? i : JSP_TASK_NONE;
}

static uint32_t only_run(uint32_t task)
{
    if (task == JSP_TASK_NONE || !CHECK_EQ(t.tasks[task].n_runs, 1))
        return JSP_TASK_NONE;
    return t.runs_of[t.tasks[task].first_run];
}

static bool stack_has(uint32_t stack, const char *name)
{
    static struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    int n = stack != JSP_TASK_NONE ? jsp_tasks_stack_frames(&t, &h.profile, stack, frames) : 0;
    while (n > 0 && strcmp(h.profile.functions[frames[n - 1].function].name, name) != 0)
        n--;
    return n > 0;
}

static const struct jsp_account_thread *account(void)
{
    return &h.profile.account.threads[0];
}

/* Make a task inside a frame of this name. */
static jsprof_task make_in(const char *frame, const char *name)
{
    jsprof_push(me, frame, NULL, 7);
    jsprof_task task = jsprof_task_new(me, "test", name, 0);
    jsprof_pop(me);
    return task;
}

TEST(a_chain_has_its_parents_runs_stacks_and_delays)
{
    if (!began(host_options(1000, JSPROF_CLOCK_CPU)))
        return;
    jsprof_task a = make_in("maker of a", "a"), b, c;
    jsprof_task_begin(me, a);
    b = make_in("maker of b", "b");
    c = jsprof_task_new(me, "test", "c", JSPROF_TASK_NO_STACK);
    CHECK_EQ(jsprof_task_running(me), a);
    jsprof_task_end(me, a);
    CHECK_EQ(jsprof_task_running(me), 0);
    jsprof_task_begin(me, b);
    jsprof_task_ready(me, c);
    jsprof_task_begin(me, c);
    jsprof_task_end(me, c);
    jsprof_task_end(me, b);
    jsprof_task_done(me, c);
    if (!ended())
        return;
    uint32_t at_a = named("a"), at_b = named("b"), at_c = named("c");
    CHECK_EQ(t.n_tasks, 3);
    CHECK_EQ(t.tasks[at_a].parent, JSP_TASK_NONE);
    CHECK_EQ(t.tasks[at_b].parent, at_a);
    CHECK_EQ(t.tasks[at_c].parent, at_a);
    CHECK(stack_has(t.tasks[at_a].stack, "maker of a"));
    CHECK(stack_has(t.tasks[at_b].stack, "maker of b"));
    CHECK_EQ(t.tasks[at_c].stack, JSP_TASK_NONE);
    CHECK(jsp_read_is(t.whats[t.tasks[at_c].what].kind, "test"));
    CHECK(t.tasks[at_c].done >= t.tasks[at_c].time);
    uint32_t run_b = only_run(at_b), run_c = only_run(at_c);
    CHECK_EQ(t.runs[run_c].outer, run_b);
    CHECK_EQ(t.runs[run_c].by, at_b);
    CHECK_EQ(t.runs[run_b].by, at_a);
    CHECK(t.runs[run_b].delay > 0 && t.runs[run_c].delay >= 0);
    CHECK_EQ(t.runs[run_b].inner, t.runs[run_c].duration);
    CHECK_EQ(t.runs[only_run(at_a)].outer, JSP_TASK_NONE);
}

TEST(equal_stacks_are_stored_once)
{
    if (!began(host_options(1000, JSPROF_CLOCK_CPU)))
        return;
    for (int i = 0; i < 500; i++)
        make_in(i % 2 ? "odd" : "even", i % 2 ? "1" : "0");
    if (!ended())
        return;
    CHECK_EQ(t.n_tasks, 500);
    CHECK_EQ(t.n_stacks, 2);
    CHECK_EQ(t.n_whats, 3); /* with the one that has no name */
    CHECK(stack_has(t.tasks[0].stack, "even") && stack_has(t.tasks[1].stack, "odd"));
}

/* Samples inside a task have its number, and those outside have none. */
TEST(a_sample_knows_the_innermost_task)
{
    if (!began(host_options(1000, JSPROF_CLOCK_CPU)))
        return;
    jsprof_task outer = jsprof_task_new(me, "test", "outer", 0);
    jsprof_task inner = jsprof_task_new(me, "test", "inner", 0);
    host_sampled(&h, 20);
    jsprof_task_begin(me, outer);
    jsprof_task_begin(me, inner);
    host_sampled(&h, 20);
    jsprof_task_end(me, inner);
    host_sampled(&h, 20);
    jsprof_task_end(me, outer);
    if (!ended())
        return;
    uint64_t in[2] = { 0 }, without = 0, between = 0;
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_samples samples;
    struct jsp_sample s;
    jsp_read_start(&c, &h.read, NULL);
    jsp_samples_start(&samples, &h.profile, NULL);
    while (jsp_read_next(&c, &f)) {
        if (f.type != JSP_WIRE_SAMPLE || !jsp_samples_take(&samples, &f, &s))
            continue;
        uint32_t task = jsp_tasks_find(&t, f.pid, s.task);
        without += !s.task;
        if (s.task && CHECK(task < 2)) {
            in[task]++;
            uint32_t run = jsp_tasks_run_at(&t, 0, f.time);
            between += run == JSP_TASK_NONE || t.runs[run].task != task;
        }
    }
    CHECK(between <= 4); /* at each begin and end one, after its time was read */
    CHECK(in[0] >= 15 && in[1] >= 15 && without >= 15);
    CHECK_EQ(in[0] + in[1] + without, h.profile.samples);
}

TEST(turns_nest_and_leave_no_run_behind)
{
    if (!began(host_options(1000, JSPROF_CLOCK_CPU)))
        return;
    jsprof_task a = jsprof_task_new(me, NULL, "a", 0), b = jsprof_task_new(me, NULL, "b", 0);
    jsprof_turn_begin(me);
    jsprof_task_begin(me, a);
    jsprof_turn_begin(me); /* a loop inside the task */
    jsprof_task_begin(me, b);
    jsprof_turn_end(me);
    CHECK_EQ(jsprof_task_running(me), a);
    jsprof_task_end(me, a);
    jsprof_turn_end(me);
    jsprof_turn_end(me); /* never began */
    if (!ended())
        return;
    CHECK_EQ(t.n_turns, 2);
    CHECK_EQ(t.turns[0].depth, 0);
    CHECK_EQ(t.turns[1].depth, 1);
    CHECK_EQ(t.turns[0].inner, t.turns[1].duration);
    CHECK_EQ(t.turns[1].inner, 0);
    const struct jsp_task_run *run_a = &t.runs[only_run(named("a"))];
    const struct jsp_task_run *run_b = &t.runs[only_run(named("b"))];
    CHECK(run_b->is_left && !run_a->is_left);
    CHECK_EQ(run_a->turn, 0);
    CHECK_EQ(run_b->turn, 1);
    CHECK_EQ(account()->tasks_left, 1);
    CHECK_EQ(account()->tasks_unmatched, 1);
}

static void *other_thread(void *task)
{
    jsprof_thread *t2;
    if (jsprof_thread_attach(h.prof, "other", &t2) < 0)
        return NULL;
    jsprof_task_end(t2, *(jsprof_task *)task); /* it runs on another thread */
    jsprof_task_begin(me, *(jsprof_task *)task); /* not our thread's: nothing happens */
    jsprof_task_begin(t2, *(jsprof_task *)task);
    jsprof_task_end(t2, *(jsprof_task *)task);
    jsprof_thread_detach(t2);
    jsprof_task_begin(t2, *(jsprof_task *)task); /* freed memory */
    return t2;
}

TEST(a_task_runs_on_another_thread_and_ends_there)
{
    if (!began(host_options(1000, JSPROF_CLOCK_CPU)))
        return;
    jsprof_task task = jsprof_task_new(me, "test", "moved", 0);
    jsprof_task_begin(me, task);
    void *done;
    pthread_join(host_thread(other_thread, &task), &done);
    CHECK(done);
    jsprof_task_end(me, task);
    if (!ended())
        return;
    uint32_t at = named("moved");
    if (CHECK_EQ(t.tasks[at].n_runs, 2)) {
        const uint32_t *runs = t.runs_of + t.tasks[at].first_run;
        CHECK(t.runs[runs[0]].begin <= t.runs[runs[1]].begin);
        CHECK(t.runs[runs[0]].thread != t.runs[runs[1]].thread);
    }
    uint64_t unmatched = 0;
    for (uint32_t i = 0; i < h.profile.account.n_threads; i++)
        unmatched += h.profile.account.threads[i].tasks_unmatched;
    CHECK_EQ(unmatched, 1);
}

TEST(a_timer_that_was_due_before_is_late_by_that_and_keeps_its_maker)
{
    if (!began(host_options(1000, JSPROF_CLOCK_CPU)))
        return;
    jsprof_task root = jsprof_task_new(me, "test", "root", 0);
    jsprof_task_begin(me, root);
    jsprof_task timer = jsprof_task_new(me, "test", "timer", 0);
    jsprof_task_end(me, root);
    const int64_t in_ns[] = { -50000000, 3600000000000, INT64_MIN, INT64_MAX };
    for (int i = 0; i < 4; i++) {
        jsprof_task_due(me, timer, in_ns[i]);
        jsprof_task_begin(me, timer);
        jsprof_task_end(me, timer);
    }
    if (!ended())
        return;
    const struct jsp_task *k = &t.tasks[named("timer")];
    if (CHECK_EQ(k->n_runs, 4)) {
        const uint32_t *runs = t.runs_of + k->first_run;
        CHECK(t.runs[runs[0]].delay >= 50000000);
        CHECK_EQ(t.runs[runs[1]].delay, 0); /* it ran early */
        for (int i = 0; i < 4; i++)
            CHECK_EQ(t.runs[runs[i]].by, named("root"));
    }
}

TEST(wrong_handles_and_ends_are_counted)
{
    if (!began(host_options(1000, JSPROF_CLOCK_CPU)))
        return;
    jsprof_task task = jsprof_task_new(me, "test", "a", 0);
    jsprof_task_begin(me, task);
    jsprof_task_end(me, task);
    jsprof_task_end(me, task);                   /* twice */
    jsprof_task_end(me, task + 1);               /* never begun, never made */
    jsprof_task_begin(me, task ^ 1ull << 60);    /* of another session */
    jsprof_task_end(me, task ^ 1ull << 60);
    jsprof_task_end(me, task ^ 1ull << 60);      /* no run of it is open */
    jsprof_task_ready(me, ~0ull);
    jsprof_task_begin(me, 0);                    /* its maker is not known: no mistake */
    jsprof_task_end(me, 0);
    jsprof_task_begin(me, task + 1000);          /* never made */
    jsprof_task_end(me, task + 1000);
    jsprof_task_begin(NULL, task);
    CHECK_EQ(jsprof_task_new(NULL, "test", "b", 0), 0);
    for (int i = 0; i < 100; i++)
        jsprof_task_begin(me, task);
    for (int i = 0; i < 100; i++)
        jsprof_task_end(me, task);
    if (!ended())
        return;
    CHECK_EQ(account()->tasks_unmatched, 2);
    CHECK_EQ(account()->tasks_foreign, 3); /* a run, an end, a moment */
    CHECK_EQ(account()->tasks_deep, 36);
    CHECK_EQ(t.tasks[named("a")].n_runs, 65);
    CHECK_EQ(t.n_runs, 68);
    CHECK_EQ(t.defects.unknown, 1); /* the one that was never made */
    CHECK_EQ(t.defects.before, 0);
}

TEST(a_name_is_copied_and_a_run_that_never_ends_is_open)
{
    if (!began(host_options(1000, JSPROF_CLOCK_CPU)))
        return;
    char *name = strdup("freed");
    jsprof_task task = jsprof_task_new(me, name, name, 0);
    memset(name, 'x', strlen(name));
    free(name);
    jsprof_task_begin(me, task);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    CHECK_EQ(jsprof_flush(h.prof), 0);
    if (!ended())
        return;
    const struct jsp_task_run *run = &t.runs[only_run(named("freed"))];
    CHECK(run->is_open);
}

/* Nothing drains a session that has no thread and whose program only makes tasks: what the ring
 * does not hold is counted, and the rest is there. */
TEST(a_full_ring_loses_and_counts)
{
    enum { MADE = 20000 };
    jsprof_options o = host_options(1, JSPROF_CLOCK_CPU);
    o.ring_bytes = 1 << 14;
    o.max_depth = 1;
    o.flags |= JSPROF_NO_THREAD;
    if (!began(o))
        return;
    for (int i = 0; i < MADE; i++)
        jsprof_task_new(me, "test", "many", JSPROF_TASK_NO_STACK);
    if (!ended())
        return;
    CHECK(account()->tasks_lost > 0);
    CHECK_EQ(t.n_tasks + account()->tasks_lost, MADE);
}

TEST(a_child_goes_on_inside_the_task_of_its_parent)
{
    if (HOST_LATE || getenv("RUN_UNDER")) {
        SKIP("neither the thread sanitizer nor an emulator has threads after a fork");
        return;
    }
    jsprof_options o = host_options(1000, JSPROF_CLOCK_CPU);
    char path[] = "/tmp/jsprof-tasks-XXXXXX", other[64];
    close(mkstemp(path));
    o.path = path;
    o.flags |= JSPROF_CHILDREN;
    h = (struct host){ .fd = -1 };
    if (!CHECK_EQ(jsprof_open(&h.prof, &o), 0) ||
        !CHECK_EQ(jsprof_thread_attach(h.prof, "main", &me), 0) ||
        !CHECK_EQ(jsprof_start(h.prof), 0))
        return;
    jsprof_task task = jsprof_task_new(me, "test", "outer", 0);
    jsprof_task_begin(me, task);
    fflush(stdout);
    pid_t child = fork();
    jsprof_task inner = jsprof_task_new(me, "test", child ? "parent's" : "child's", 0);
    jsprof_task_begin(me, inner);
    jsprof_task_end(me, inner);
    jsprof_task_end(me, task);
    int closed = jsprof_close(h.prof);
    if (child == 0)
        _exit(closed == 0 ? 0 : 1);
    CHECK_EQ(closed, 0);
    CHECK_EQ(host_child_status(child), 0);
    snprintf(other, sizeof other, "%s.%d", path, (int)child);
    char why[JSP_READ_WHY];
    if (CHECK_EQ(jsp_read_open(&h.read, other, why), 0) &&
        CHECK_EQ(jsp_profile_load(&h.profile, &h.read, NULL), 0) &&
        CHECK_EQ(jsp_tasks_read(&t, &h.profile), 0)) {
        CHECK_EQ(t.n_tasks, 1);
        CHECK_EQ(t.n_runs, 2);
        CHECK_EQ(t.defects.before, 1);
        CHECK_EQ(t.defects.orphans, 1);
        const struct jsp_task_run *run = &t.runs[only_run(named("child's"))];
        CHECK(run->outer != JSP_TASK_NONE && t.runs[run->outer].task == JSP_TASK_NONE);
        CHECK_EQ(account()->tasks_unmatched, 0);
    }
    unlink(path);
    unlink(other);
}

TEST_MAIN()
