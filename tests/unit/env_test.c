/* unit/env_test.c - src/session/env.c: what each variable of the environment sets, and what is
 * refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "test.h"

static jsprof *prof;
static char text[300];

static int start(const char *name, const char *value)
{
    setenv("JSPROF", "/dev/null", 1);
    setenv(name, value, 1);
    int err = jsprof_start_from_env(&prof);
    jsprof_error_text(err, text, sizeof text);
    unsetenv(name);
    return err;
}

static void refused(const char *name, const char *value, const char *why)
{
    char want[300];
    snprintf(want, sizeof want, "%s=%s: %s is allowed", name, value, why);
    CHECK_EQ(start(name, value), -EINVAL);
    CHECK_STR(text, want);
    CHECK(prof == NULL);
}

TEST(depth_is_the_number_of_frames_that_a_sample_keeps)
{
    if (!CHECK_EQ(start("JSPROF_DEPTH", "77"), 1))
        return;
    CHECK_EQ(prof->given.max_depth, 77);
    CHECK_EQ(jsprof_close(prof), 0);
    refused("JSPROF_DEPTH", "0", "a whole number from 1 to 1000");
    refused("JSPROF_DEPTH", "1001", "a whole number from 1 to 1000");
    refused("JSPROF_DEPTH", "many", "a whole number from 1 to 1000");
}

TEST(no_thread_lets_the_sampled_thread_write)
{
    if (!CHECK_EQ(start("JSPROF_NO_THREAD", "1"), 1))
        return;
    CHECK(prof->given.alone);
    CHECK_EQ(jsprof_close(prof), 0);
    refused("JSPROF_NO_THREAD", "2", "0 or 1");
}

/* Start with these calls, and return the modes that are on. */
static uint32_t modes(const char *calls)
{
    jsprof_calls now = { .size = sizeof now };
    jsprof_thread *me;
    if (!CHECK_EQ(start("JSPROF_CALLS", calls), 1))
        return 0;
    CHECK_EQ(jsprof_thread_attach(prof, "main", &me), 0);
    CHECK_EQ(jsprof_calls_snapshot(prof, &now), 0);
    uint32_t on = now.modes;
    jsprof_calls_free(&now);
    CHECK_EQ(jsprof_close(prof), 0);
    CHECK_EQ(jsprof_thread_detach(me), 0);
    return on;
}

TEST(calls_are_words_with_commas_between)
{
    CHECK_EQ(modes("count"), JSPROF_CALLS_COUNT);
    CHECK_EQ(modes("time"), JSPROF_CALLS_TIME);
    CHECK_EQ(modes("alloc"), JSPROF_CALLS_ALLOC);
    CHECK_EQ(modes("edges"), JSPROF_CALLS_EDGES);
    CHECK_EQ(modes("count,time"), JSPROF_CALLS_USUAL);
    CHECK_EQ(modes("edges,count"), JSPROF_CALLS_EDGES | JSPROF_CALLS_COUNT);
    CHECK_EQ(modes("all"), JSPROF_CALLS_ALL);
    const char *allowed = "all, or some of count, time, alloc and edges with commas between,";
    refused("JSPROF_CALLS", "yes", allowed);
    refused("JSPROF_CALLS", "count,", allowed);
    refused("JSPROF_CALLS", ",count", allowed);
    refused("JSPROF_CALLS", "counts", allowed);
    refused("JSPROF_CALLS", "count time", allowed);
}

TEST(program_counts_no_calls_unless_it_is_asked)
{
    jsprof_calls now = { .size = sizeof now };
    if (!CHECK_EQ(start("JSPROF_CALLS", ""), 1))
        return;
    CHECK_EQ(jsprof_calls_snapshot(prof, &now), -ENOENT);
    CHECK_EQ(prof->given.max_depth, 512);
    CHECK(!prof->given.alone);
    CHECK_EQ(jsprof_close(prof), 0);
}

TEST_MAIN()
