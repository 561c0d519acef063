/* calls_counter_test.c - exact calls by the processor's counter, which no other clock can
 * replace: the time after a jump, and the cost in the file.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/exact.h"
#include "calls.h"

static struct host h;
static jsprof_thread *me;

TEST(file_says_what_counting_one_call_takes)
{
    static struct jsp_read_defects defects;
    struct jsp_exact exact;
    jsprof_function *f = calls_function("f");
    if (!calls_begin(&h, &me, JSPROF_CALLS_ALL))
        return;
    jsprof_enter(me, f);
    jsprof_leave(me);
    if (host_close(&h) && CHECK_EQ(jsp_exact_read(&exact, &h.read, &defects), 0)) {
        CHECK(exact.commit[JSP_WIRE_COMMIT_ENTER_COST] > 0);
        CHECK(exact.commit[JSP_WIRE_COMMIT_LEAVE_COST] > 0);
        jsp_exact_free(&exact);
    }
    CHECK_EQ(jsprof_thread_detach(me), 0);
}

/* As longjmp does: only the frame that is jumped out of is left by name. */
static void jump_out(const jsprof_function *f, const jsprof_function *inner, bool is_linked)
{
    jsprof_link at, between, innermost;
    uint32_t depth = me->depth;
    jsprof_link *top = me->top;
    if (is_linked) {
        jsprof_link_enter(me, &at, f);
        jsprof_link_enter(me, &between, inner);
        jsprof_link_enter(me, &innermost, inner);
        jsprof_link_leave(me, &at);
    } else {
        jsprof_enter(me, f);
        jsprof_enter(me, inner);
        jsprof_enter(me, inner);
        jsprof_leave_to(me, depth);
    }
    CHECK_EQ(me->depth, depth);
    CHECK(me->top == top);
}

TEST(time_after_a_jump_out_of_frames_is_not_theirs)
{
    static const uint32_t modes[] = { JSPROF_CALLS_COUNT | JSPROF_CALLS_TIME, JSPROF_CALLS_ALL };
    jsprof_function *root = calls_function("root");
    jsprof_function *f = calls_function("f");
    jsprof_function *inner = calls_function("inner");
    for (int i = 0; i < 4; i++) {
        if (!calls_begin(&h, &me, modes[i / 2]))
            return;
        jsprof_enter(me, root);
        jump_out(f, inner, i % 2);
        calls_wait_ms(20);
        jsprof_leave(me);
        jsprof_calls calls = calls_now(h.prof);
        CHECK(calls_row(&calls, "root").self_ns > 19000000);
        CHECK_EQ(calls_row(&calls, "f").calls, 1);
        CHECK_EQ(calls_row(&calls, "inner").calls, 2);
        CHECK_EQ(calls.underflows, 0);
        calls_end(&h, me);
    }
}

TEST_MAIN()
