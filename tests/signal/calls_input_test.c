/* calls_input_test.c - exact calls and what hosts do wrong, and what there is too much
 * of: each is refused or counted, and the rest stays right.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#include <sched.h>
#include <sys/time.h>

static struct host h;
static jsprof_thread *me;

TEST(arguments_that_are_none_are_refused)
{
    jsprof_calls calls = { .size = sizeof calls };
    host_open(&h, 1000, JSPROF_CLOCK_CPU);
    CHECK_EQ(jsprof_calls_set(NULL, 1), -EINVAL);
    CHECK_EQ(jsprof_calls_set(h.prof, 16), -EINVAL);
    CHECK_EQ(jsprof_calls_snapshot(h.prof, &calls), -ENOENT);
    CHECK_EQ(jsprof_calls_set(h.prof, 1), 0);
    CHECK_EQ(jsprof_calls_snapshot(NULL, &calls), -EINVAL);
    CHECK_EQ(jsprof_calls_snapshot(h.prof, NULL), -EINVAL);
    calls.size--;
    CHECK_EQ(jsprof_calls_snapshot(h.prof, &calls), -EINVAL);
    jsprof_calls_free(NULL);
    jsprof_alloc(NULL, 1);
    jsprof_tail_call(NULL, NULL);
    jsprof_link_tail_call(NULL, NULL, NULL);
    jsprof_section_begin(NULL, NULL);
    jsprof_section_end(NULL);
    jsprof_stack_forget(NULL, NULL);
    jsprof_count_enter(NULL, NULL, NULL);
    jsprof_count_leave(NULL, NULL, 0);
    jsprof_link_unwind_to(NULL, NULL);
    jsprof_push_at(NULL, "f", NULL, 1, 1);
    jsprof_enter_at(NULL, NULL, 1);
    jsprof_call_enter(NULL, NULL, &h);
    jsprof_call_leave(NULL, &h);
    jsprof_call_leave_through(NULL, &h);
    jsprof_call_unwind_to(NULL, &h);
    jsprof_call_tail(NULL, NULL, &h);
    jsprof_count_unwind(NULL, NULL);
    for (int event = JSPROF_CALL_ENTER; event <= JSPROF_CALL_TAIL; event++)
        jsprof_count_call(NULL, (enum jsprof_call_event)event, NULL, 1);
    CHECK_EQ(jsprof_close(h.prof), 0);
    close(h.fd);
}

TEST(call_without_a_function_has_a_row_of_its_own)
{
    for (uint32_t modes = 1; modes < 16; modes += 14) { /* counts alone, and all */
        jsprof_link link;
        if (!calls_begin(&h, &me, modes))
            return;
        jsprof_link_enter(me, &link, NULL);
        jsprof_enter(me, NULL);
        jsprof_leave(me);
        jsprof_link_leave(me, &link);
        CHECK_EQ(calls_of(h.prof, "[no function]").calls, 2);
        calls_end(&h, me);
    }
}

TEST(leave_without_an_enter_is_counted_and_spoils_nothing)
{
    jsprof_link link, stray = { .up = NULL };
    jsprof_function *f = calls_function("f");
    if (!calls_begin(&h, &me, JSPROF_CALLS_ALL))
        return;
    jsprof_leave(me);
    jsprof_link_enter(me, &link, f);
    stray.up = me->top;
    jsprof_link_leave(me, &stray);
    calls_wait_ms(5);
    jsprof_link_leave(me, &link);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls.underflows, 2);
    CHECK_EQ(calls_row(&calls, "f").calls, 1);
    CHECK(calls_row(&calls, "f").total_ns > 4900000);
    calls_end(&h, me);
}

TEST(label_that_was_pushed_by_name_is_no_call)
{
    jsprof_function *f = calls_function("f");
    if (!calls_begin(&h, &me, JSPROF_CALLS_ALL))
        return;
    jsprof_enter(me, f);
    jsprof_push(me, "label", NULL, 0);
    calls_wait_ms(5);
    jsprof_pop(me);
    jsprof_leave(me);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls.calls, 1);
    CHECK_EQ(calls.underflows, 0);
    CHECK(calls_row(&calls, "f").self_ns > 4900000);
    calls_end(&h, me);
}

TEST(function_that_was_freed_keeps_its_row_and_its_name)
{
    char name[32];
    if (!calls_begin(&h, &me, JSPROF_CALLS_COUNT))
        return;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "closure %d", i);
        jsprof_function *f = calls_function(name);
        for (int k = 0; k <= i; k++) {
            jsprof_enter(me, f);
            jsprof_leave(me);
        }
        jsprof_function_free(f);
    }
    CHECK_EQ(calls_of(h.prof, "closure 0").calls, 1);
    CHECK_EQ(calls_of(h.prof, "closure 99").calls, 100);
    calls_end(&h, me);
}

TEST(function_that_another_session_knows_serves_this_one_as_well)
{
    struct host other = { 0 };
    jsprof_thread *there;
    jsprof_function *f = calls_function("f");
    if (!calls_begin(&h, &me, JSPROF_CALLS_ALL) ||
        !calls_begin(&other, &there, JSPROF_CALLS_COUNT))
        return;
    jsprof_enter(me, f);
    jsprof_enter(there, f);
    jsprof_enter(there, f);
    CHECK_EQ(calls_of(h.prof, "f").calls, 1);
    CHECK_EQ(calls_of(other.prof, "f").calls, 2);
    calls_end(&h, me);
    CHECK_EQ(calls_of(other.prof, "f").calls, 2);
    jsprof_enter(there, f);
    CHECK_EQ(calls_of(other.prof, "f").calls, 3);
    calls_end(&other, there);
}

enum { DEEP = 300000, OPEN = 1 << 18 };

static void too_deep(uint32_t modes)
{
    jsprof_link *links = malloc(DEEP * sizeof *links);
    jsprof_function *f = calls_function("f");
    jsprof_function *leaf = calls_function("leaf");
    if (!calls_begin(&h, &me, modes))
        return;
    uint64_t began = host_ns(CLOCK_MONOTONIC);
    for (int i = DEEP; i--;)
        jsprof_link_enter(me, &links[i], i ? f : leaf);
    for (int i = 0; i < DEEP; i++)
        jsprof_link_leave(me, &links[i]);
    jsprof_link_enter(me, &links[0], leaf);
    calls_wait_ms(2);
    jsprof_link_leave(me, &links[0]);
    uint64_t passed = host_ns(CLOCK_MONOTONIC) - began;
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls_row(&calls, "f").calls, DEEP - 1);
    CHECK_EQ(calls_row(&calls, "leaf").calls, 2);
    CHECK_EQ(calls.depth_lost, DEEP - OPEN);
    CHECK_EQ(calls.underflows, 0);
    CHECK(calls_row(&calls, "leaf").total_ns > 1900000); /* nothing is out of step */
    CHECK(calls_row(&calls, "leaf").total_ns < 2 * passed);
    calls_end(&h, me);
    free(links);
}

TEST(calls_too_deep_for_the_table_are_counted_and_told)
{
    too_deep(JSPROF_CALLS_ALL);
    too_deep(JSPROF_CALLS_USUAL); /* has a way of its own */
}

enum { WIDE = 400, EDGES = (1 << 17) - 1 };

TEST(edges_beyond_the_table_are_one_row_that_says_so)
{
    static jsprof_function *f[WIDE];
    uint64_t sum = 0;
    if (!calls_begin(&h, &me, JSPROF_CALLS_EDGES | JSPROF_CALLS_COUNT))
        return;
    for (int i = 0; i < WIDE; i++)
        f[i] = calls_function("f");
    for (int i = 0; i < WIDE; i++) {
        jsprof_enter(me, f[i]);
        for (int k = 0; k < WIDE; k++) {
            jsprof_enter(me, f[k]);
            jsprof_leave(me);
        }
        jsprof_leave(me);
    }
    jsprof_calls calls = calls_now(h.prof);
    for (size_t i = 0; i < calls.n_edges; i++)
        sum += calls.edges[i].calls;
    CHECK_EQ(calls.calls, WIDE * WIDE + WIDE);
    CHECK_EQ(sum, calls.calls);
    CHECK_EQ(calls.n_edges, EDGES + 1);
    CHECK_EQ(calls.edges_lost, calls.calls - EDGES);
    CHECK(calls.edges[0].caller == 0 && calls.edges[0].callee == 0);
    calls_end(&h, me);
}

static void *call_for_another(void *arg)
{
    jsprof_link link;
    jsprof_link_enter(me, &link, arg);
    jsprof_link_leave(me, &link);
    return NULL;
}

static void another_thread(uint32_t modes)
{
    jsprof_function *f = calls_function("f");
    if (!calls_begin(&h, &me, modes))
        return;
    pthread_join(host_thread(call_for_another, f), NULL);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls.foreign, 2);
    CHECK_EQ(calls.calls, 0);
    calls_end(&h, me);
}

TEST(call_on_another_threads_stack_is_not_counted_but_told)
{
    another_thread(JSPROF_CALLS_ALL);
    another_thread(JSPROF_CALLS_USUAL); /* has a way of its own */
}

/* The next processor that this thread may run on; their number. */
static int move_on(int turn)
{
    static cpu_set_t may;
    cpu_set_t one;
    if (!turn)
        CHECK_EQ(sched_getaffinity(0, sizeof may, &may), 0);
    int n = CPU_COUNT(&may), cpu = -1;
    for (int left = turn % n; left >= 0; left--)
        do
            cpu++;
        while (!CPU_ISSET((size_t)cpu, &may));
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    return n;
}

TEST(thread_that_moves_between_processors_has_the_time_that_passed)
{
    enum { TURNS = 200 };
    jsprof_function *f = calls_function("f");
    jsprof_function *g = calls_function("g");
    jsprof_link outer, link;
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    if (!calls_begin(&h, &me, JSPROF_CALLS_USUAL))
        return;
    jsprof_link_enter(me, &outer, f);
    for (int i = 0; i < TURNS; i++) {
        jsprof_link_enter(me, &link, g);
        if (move_on(i) == 1 && !i)
            printf("# one processor: it moves nowhere\n");
        jsprof_link_leave(me, &link);
        move_on(i + 1);
    }
    jsprof_link_leave(me, &outer);
    sched_setaffinity(0, sizeof before, &before);
    jsprof_calls calls = calls_now(h.prof);
    jsprof_calls_row of_f = calls_row(&calls, "f"), of_g = calls_row(&calls, "g");
    CHECK_EQ(of_g.calls, TURNS);
    CHECK_EQ(calls.clock_back, 0); /* or the processor's counter would not have been taken */
    CHECK(of_f.total_ns > 0);
    CHECK(of_f.self_ns + of_g.self_ns <= of_f.total_ns + 2);
    CHECK(of_f.self_ns + of_g.self_ns + 2 >= of_f.total_ns);
    calls_end(&h, me);
}

static jsprof_function *handler_function;
static volatile uint32_t handled;

static void on_alarm(int sig)
{
    jsprof_link link;
    (void)sig;
    jsprof_link_enter(me, &link, handler_function);
    jsprof_link_leave(me, &link);
    handled = handled + 1;
}

static void in_a_handler(uint32_t modes)
{
    jsprof_function *f = calls_function("f");
    struct sigaction act = { .sa_handler = on_alarm }, before;
    struct itimerval each = { { 0, 100 }, { 0, 100 } }, none = { { 0, 0 }, { 0, 0 } };
    uint64_t n = 0;
    handler_function = calls_function("handler");
    handled = 0;
    if (!calls_begin(&h, &me, modes))
        return;
    sigaction(SIGALRM, &act, &before);
    setitimer(ITIMER_REAL, &each, NULL);
    while (handled <= 200)
        for (int i = 0; i < 1000; i++, n++) {
            jsprof_link link;
            jsprof_link_enter(me, &link, f);
            jsprof_link_leave(me, &link);
        }
    setitimer(ITIMER_REAL, &none, NULL);
    sigaction(SIGALRM, &before, NULL);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls_row(&calls, "f").calls, n);
    CHECK_EQ(calls_row(&calls, "handler").calls + calls.foreign / 2, handled);
    CHECK_EQ(calls.underflows + calls.foreign % 2, 0);
    printf("# %u signals, %llu of them not counted\n", (unsigned)handled,
           (unsigned long long)calls.foreign / 2);
    calls_end(&h, me);
}

TEST(calls_of_a_signal_handler_are_counted_or_told)
{
    in_a_handler(JSPROF_CALLS_ALL);
    in_a_handler(JSPROF_CALLS_USUAL); /* has a way of its own */
}

TEST(child_of_a_fork_counts_in_a_session_of_its_own_only)
{
    jsprof_function *f = calls_function("f");
    if (!calls_begin(&h, &me, JSPROF_CALLS_ALL))
        return;
    jsprof_enter(me, f);
    pid_t child = fork();
    if (child == 0) {
        jsprof_calls calls = { .size = sizeof calls };
        jsprof_enter(me, f);
        jsprof_leave(me);
        _exit(jsprof_calls_set(h.prof, 1) == -ECHILD &&
              jsprof_calls_snapshot(h.prof, &calls) == -ECHILD ? 0 : 1);
    }
    CHECK_EQ(host_child_status(child), 0);
    jsprof_leave(me);
    CHECK_EQ(calls_of(h.prof, "f").calls, 1);
    calls_end(&h, me);
}

enum { TOO_MANY = 1050000, IDS = 1 << 20 };

TEST(functions_beyond_the_table_share_a_row_that_says_so)
{
    jsprof_function **f = malloc(TOO_MANY * sizeof *f);
    int failed = 0;
    if (!calls_begin(&h, &me, JSPROF_CALLS_COUNT))
        return;
    for (int i = 0; i < TOO_MANY; i++) {
        failed += jsprof_function_new(&f[i], "f", NULL, 0, JSPROF_KIND_VM) != 0;
        jsprof_enter(me, f[i]);
        jsprof_leave(me);
    }
    CHECK_EQ(failed, 0);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls.calls, TOO_MANY);
    CHECK(calls.functions_lost >= TOO_MANY - IDS && calls.functions_lost < TOO_MANY - IDS + 2000);
    CHECK_EQ(calls_row(&calls, "[other functions]").calls, calls.functions_lost);
    CHECK_EQ(calls.n_rows, calls.calls - calls.functions_lost + 1);
    calls_end(&h, me);
    for (int i = 0; i < TOO_MANY; i++)
        jsprof_function_free(f[i]);
    free(f);
    /* Nobody counts, so that all of their places are free again. */
    jsprof_function *one = calls_function("one");
    if (!calls_begin(&h, &me, JSPROF_CALLS_COUNT))
        return;
    jsprof_enter(me, one);
    CHECK_EQ(calls_of(h.prof, "one").calls, 1);
    jsprof_leave(me);
    calls_end(&h, me);
}

/* -- Calls by key ---------------------------------------------------------------- */

static jsprof_function *outer, *inner;

static bool keys_begin(uint32_t modes)
{
    outer = calls_function("outer");
    inner = calls_function("inner");
    return calls_begin(&h, &me, modes);
}

TEST(missing_leave_ends_the_call_with_its_caller_and_is_counted)
{
    char stack[3];
    if (!keys_begin(JSPROF_CALLS_USUAL))
        return;
    uint64_t begun = host_ns(CLOCK_MONOTONIC);
    jsprof_call_enter(me, outer, &stack[0]);
    jsprof_call_enter(me, inner, &stack[1]);
    calls_wait_ms(5);
    jsprof_call_leave(me, &stack[0]); /* the leave of inner is missing */
    uint64_t most = host_ns(CLOCK_MONOTONIC) - begun;
    calls_wait_ms(20);
    jsprof_call_leave(me, &stack[1]); /* too late */
    jsprof_call_tail(me, outer, &stack[2]); /* of nothing: enters */
    jsprof_call_leave_through(me, &stack[2]);
    jsprof_call_unwind_to(me, &stack[2]);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls.underflows, 4);
    CHECK_EQ(calls_row(&calls, "outer").calls, 2);
    CHECK(calls_row(&calls, "inner").total_ns <= most);
    calls_end(&h, me);
}

static void *switch_on(void *arg)
{
    (void)arg;
    return jsprof_calls_set(h.prof, JSPROF_CALLS_USUAL) ? NULL : h.prof;
}

TEST(call_by_key_that_began_before_counting_is_counted_when_it_ends)
{
    char stack[1];
    pthread_t other;
    if (!keys_begin(0))
        return;
    jsprof_call_enter(me, outer, &stack[0]);
    CHECK_EQ(pthread_create(&other, NULL, switch_on, NULL), 0);
    void *done = NULL;
    pthread_join(other, &done);
    CHECK(done != NULL);
    jsprof_call_leave(me, &stack[0]); /* the thread's first event with the new modes */
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls.underflows, 1);
    CHECK_EQ(calls_row(&calls, "outer").calls, 0);
    calls_end(&h, me);
}

/* -- Entries of a helper ------------------------------------------------------------- */

static __attribute__((noinline)) void help(uintptr_t sp)
{
    jsprof_enter_at(me, outer, sp);
    jsprof_push_at(me, "label", "file", 7, sp - 8);
}

TEST(entry_of_a_helper_has_the_address_that_it_gives)
{
    char frame[16];
    if (!keys_begin(JSPROF_CALLS_ALL))
        return;
    help((uintptr_t)&frame[8]);
    CHECK_EQ(me->depth, 2);
    CHECK_EQ(me->frames[0].sp, (uintptr_t)&frame[8]);
    CHECK(me->frames[0].function == outer);
    CHECK_EQ(me->frames[1].sp, (uintptr_t)&frame[0]);
    CHECK_EQ(me->frames[1].line, 7);
    CHECK_STR(me->frames[1].label, "label");
    CHECK_EQ(calls_of(h.prof, "outer").calls, 1);
    jsprof_pop(me);
    jsprof_leave(me);
    calls_end(&h, me);
}

TEST_MAIN()
