/* calls_keys_test.c - exact calls by key, longjmp out of links, and entries made by a helper:
 * right times for right sequences, and a counter for each wrong one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#include <setjmp.h>

static struct host h;
static jsprof_thread *me;
static jsprof_function *outer, *inner;

static bool begin(uint32_t modes)
{
    outer = calls_function("outer", JSPROF_KIND_VM);
    inner = calls_function("inner", JSPROF_KIND_VM);
    return calls_begin(&h, &me, modes);
}

static void finish(void)
{
    calls_end(&h, me);
    jsprof_function_free(outer);
    jsprof_function_free(inner);
}

/* Return whether this many milliseconds are in it; a machine that was away adds some. */
static bool is_about_ms(uint64_t ns, uint64_t ms)
{
    return ns > ms * 999000 && ns < ms * 1000000 + 500000000;
}

TEST(calls_without_a_thread_do_nothing)
{
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
    CHECK(begin(0));
    jsprof_call_enter(me, outer, &h); /* nothing is counted */
    jsprof_call_leave(me, &h);
    CHECK_EQ(me->depth, 0);
    finish();
}

TEST(calls_by_key_have_the_times_of_their_own)
{
    char stack[2];
    if (!begin(JSPROF_CALLS_ALL))
        return;
    jsprof_call_enter(me, outer, &stack[0]);
    calls_wait_ms(20);
    jsprof_call_enter(me, inner, &stack[1]);
    calls_wait_ms(10);
    jsprof_alloc(me, 64);
    jsprof_call_leave(me, &stack[1]);
    jsprof_call_enter(me, inner, &stack[1]);
    jsprof_call_tail(me, outer, &stack[1]);
    jsprof_call_leave(me, &stack[1]);
    jsprof_call_leave(me, &stack[0]);
    calls_wait_ms(5);
    jsprof_calls calls = calls_now(h.prof);
    jsprof_calls_row o = calls_row(&calls, "outer"), i = calls_row(&calls, "inner");
    CHECK_EQ(o.calls, 2);
    CHECK_EQ(i.calls, 2);
    CHECK_EQ(i.self_bytes, 64);
    CHECK_EQ(o.total_bytes, 64);
    CHECK(is_about_ms(o.self_ns, 20));
    CHECK(is_about_ms(i.total_ns, 10));
    CHECK(o.total_ns >= o.self_ns + i.total_ns);
    CHECK_EQ(calls.underflows, 0);
    jsprof_calls_free(&calls);
    finish();
}

TEST(counts_alone_need_no_leave)
{
    if (!begin(JSPROF_CALLS_COUNT))
        return;
    for (int i = 0; i < 1000; i++)
        jsprof_call_enter(me, i % 2 ? outer : inner, NULL);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls_row(&calls, "outer").calls, 500);
    CHECK_EQ(calls_row(&calls, "inner").calls, 500);
    CHECK_EQ(calls.underflows, 0);
    jsprof_calls_free(&calls);
    finish();
}

TEST(missing_leave_ends_the_call_with_its_caller_and_is_counted)
{
    char stack[3];
    if (!begin(JSPROF_CALLS_USUAL))
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
    CHECK(calls_row(&calls, "outer").total_ns < most + 10000000);
    jsprof_calls_free(&calls);
    finish();
}

TEST(exception_leaves_many_calls_by_key_at_once)
{
    enum { DEEP = (1 << 18) + 1000 }; /* more than have a time of their own */
    static char stack[DEEP];
    if (!begin(JSPROF_CALLS_USUAL))
        return;
    for (int i = 0; i < DEEP; i++)
        jsprof_call_enter(me, i ? inner : outer, &stack[i]);
    jsprof_call_unwind_to(me, &stack[0]);
    calls_wait_ms(10);
    jsprof_call_leave_through(me, &stack[0]);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls_row(&calls, "inner").calls, DEEP - 1);
    CHECK(is_about_ms(calls_row(&calls, "outer").self_ns, 10));
    CHECK_EQ(calls.depth_lost, 1000);
    CHECK_EQ(calls.underflows, 0);
    jsprof_calls_free(&calls);
    finish();
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
    if (!begin(0))
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
    jsprof_calls_free(&calls);
    finish();
}

/* -- longjmp --------------------------------------------------------------------- */

static jmp_buf jump;
static volatile bool jumps = true;

/* Enter links in frames that longjmp then removes. */
static __attribute__((noinline)) void dive(int depth)
{
    jsprof_link link;
    jsprof_link_enter(me, &link, inner);
    if (depth)
        dive(depth - 1);
    else if (jumps)
        longjmp(jump, 1);
    jsprof_link_leave(me, &link);
}

/* Write over the removed frames. */
static __attribute__((noinline)) void overwrite(void)
{
    volatile char gone[16384];
    for (size_t i = 0; i < sizeof gone; i++)
        gone[i] = 0x5A;
}

TEST(longjmp_makes_a_link_the_innermost_again_without_reading_the_dead_ones)
{
    jsprof_link link;
    if (!begin(JSPROF_CALLS_ALL))
        return;
    jsprof_link_enter(me, &link, outer);
    if (!setjmp(jump))
        dive(50);
    overwrite();
    jsprof_link_unwind_to(me, &link);
    CHECK(me->top == &link);
    calls_wait_ms(10);
    jsprof_link_unwind_to(me, &link); /* it is the innermost already */
    jsprof_link_leave(me, &link);
    CHECK(me->top == NULL);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls_row(&calls, "inner").calls, 51);
    CHECK(is_about_ms(calls_row(&calls, "outer").self_ns, 10));
    CHECK_EQ(calls.underflows, 0);
    jsprof_calls_free(&calls);
    finish();
}

TEST(longjmp_out_of_all_links_ends_every_call)
{
    if (!begin(JSPROF_CALLS_ALL))
        return;
    uint64_t begun = host_ns(CLOCK_MONOTONIC);
    if (!setjmp(jump))
        dive(50);
    overwrite();
    jsprof_link_unwind_to(me, NULL);
    CHECK(me->top == NULL);
    uint64_t most = host_ns(CLOCK_MONOTONIC) - begun;
    calls_wait_ms(20);
    jsprof_calls calls = calls_now(h.prof);
    CHECK_EQ(calls_row(&calls, "inner").calls, 51);
    CHECK(calls_row(&calls, "inner").total_ns < most + 10000000);
    CHECK_EQ(calls.underflows, 0);
    jsprof_calls_free(&calls);
    finish();
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
    if (!begin(JSPROF_CALLS_ALL))
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
    finish();
}

int main(void)
{
    RUN(calls_without_a_thread_do_nothing);
    RUN(calls_by_key_have_the_times_of_their_own);
    RUN(counts_alone_need_no_leave);
    RUN(missing_leave_ends_the_call_with_its_caller_and_is_counted);
    RUN(exception_leaves_many_calls_by_key_at_once);
    RUN(call_by_key_that_began_before_counting_is_counted_when_it_ends);
    RUN(longjmp_makes_a_link_the_innermost_again_without_reading_the_dead_ones);
    RUN(longjmp_out_of_all_links_ends_every_call);
    RUN(entry_of_a_helper_has_the_address_that_it_gives);
    return DONE();
}
