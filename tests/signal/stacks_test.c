/* stacks_test.c - VM stacks that are deep, broken, or in transition, sampled for real and read back
 * by name. Each moment lasts until it has 20 samples, of which 2 may be of those beside it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "host.h"

enum { DEEP = HOST_LATE ? 20000 : 100000 }; /* the thread sanitizer has a limit */

static struct host h;
static jsprof_thread *me;

enum { SAMPLES = 20, SEEN = SAMPLES - 2 };

static bool begin(uint32_t max_depth)
{
    jsprof_options options = host_options(10000, JSPROF_CLOCK_CPU);
    options.max_depth = max_depth;
    return host_begin_with(&h, options, &me);
}

/* Pause: a stop may have to wait for a thread without a processor, and all of that time would
 * be sampled, without a frame. */
static bool finish(void)
{
    jsprof_thread_pause(me);
    bool is_closed = host_close(&h);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    return is_closed;
}

static jsprof_function *function(const char *name)
{
    jsprof_function *f = NULL;
    CHECK_EQ(jsprof_function_new(&f, name, NULL, 0, JSPROF_KIND_VM), 0);
    return f;
}

TEST(depth_beyond_capacity_keeps_the_roots_and_comes_back)
{
    if (!begin(4))
        return;
    jsprof_push(me, "root", NULL, 0);
    for (uint32_t i = 0; i < me->capacity; i++)
        jsprof_push(me, "inner", NULL, 0);
    jsprof_push(me, "leaf", NULL, 0);
    host_sampled(&h, SAMPLES);
    for (uint32_t i = 0; i <= me->capacity; i++)
        jsprof_pop(me);
    host_sampled(&h, SAMPLES);
    jsprof_pop(me);
    CHECK_EQ(me->depth, 0);
    if (finish()) {
        uint64_t cut = host_samples(&h, "[deeper frames cut]"), root = host_samples(&h, "root");
        CHECK(cut >= SEEN && root >= cut + SEEN);
        CHECK_EQ(host_samples(&h, "leaf"), 0); /* it was never stored */
    }
}

TEST(leave_below_zero_is_counted_and_does_no_harm)
{
    if (!begin(0))
        return;
    jsprof_push(me, "work", NULL, 0);
    for (int i = 0; i < 4; i++)
        jsprof_pop(me);
    jsprof_leave_to(me, 7);
    CHECK_EQ(me->depth, 0);
    jsprof_push(me, "work", NULL, 0);
    host_sampled(&h, SAMPLES);
    jsprof_pop(me);
    if (finish()) {
        CHECK_EQ(h.stats.underflows, 4);
        CHECK(host_samples(&h, "work") >= SEEN);
    }
}

/* Both labels are at one address, one after the other. */
TEST(label_that_was_overwritten_shows_each_text_in_its_time)
{
    char label[16];
    if (!begin(0))
        return;
    for (int i = 0; i < 8; i++) {
        strcpy(label, i & 1 ? "odd" : "even");
        jsprof_push(me, label, NULL, 0);
        host_sampled(&h, SAMPLES);
        jsprof_pop(me);
        memset(label, '#', sizeof label); /* no end: never to be read */
    }
    if (finish()) {
        CHECK(host_samples(&h, "odd") >= 4 * SEEN);
        CHECK(host_samples(&h, "even") >= 4 * SEEN);
        for (uint32_t i = 0; i < h.profile.n_functions; i++)
            CHECK(h.profile.functions[i].name[0] != '#');
    }
}

/* Its frame is gone when it returns, and what the entry says of it is wrong. */
static __attribute__((noinline)) void enter_in(const jsprof_function *f)
{
    jsprof_enter(me, f);
}

static __attribute__((noinline)) void helper(const jsprof_function *f)
{
    volatile char room[3000];
    room[sizeof room - 1] = 1;
    enter_in(f);
    room[0] = 2;
}

TEST(entry_made_in_a_helper_that_returned_is_counted)
{
    jsprof_function *f = function("outer"), *g = function("of a helper");
    if (!begin(0))
        return;
    jsprof_enter(me, f);
    helper(g);
    host_sampled(&h, SAMPLES);
    jsprof_leave(me);
    jsprof_leave(me);
    if (finish()) {
        CHECK(host_samples(&h, "of a helper") >= SEEN);
        CHECK(h.stats.frames_bad >= SEEN);
    }
    jsprof_function_free(f);
    jsprof_function_free(g);
}

TEST(pauses_nest_and_are_counted)
{
    if (!begin(0))
        return;
    jsprof_thread_pause(me);
    jsprof_thread_pause(me);
    jsprof_push(me, "hidden", NULL, 0);
    host_burn_ms(20);
    jsprof_thread_resume(me);
    host_burn_ms(20);
    jsprof_pop(me);
    jsprof_thread_resume(me);
    jsprof_thread_resume(me); /* one too many does nothing */
    jsprof_push(me, "shown", NULL, 0);
    host_sampled(&h, SAMPLES);
    jsprof_pop(me);
    if (finish()) {
        CHECK_EQ(host_weight(&h, "hidden"), 0);
        CHECK(host_samples(&h, "shown") >= SEEN);
        CHECK(h.stats.lost_paused > 200); /* 400 points of CPU time or more */
    }
}

TEST_MAIN()
