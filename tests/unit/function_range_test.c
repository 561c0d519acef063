/* unit/function_range_test.c - src/image/function_range.c: the bounds of a function that a host
 * names by its address, and interpreters without a length.
 *
 * SPDX-License-Identifier: MIT
 */
#include "image/function_range.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/session.h"
#include "test.h"

static volatile int sink;

static __attribute__((noinline)) void inner(void)
{
    for (int i = 0; i < 10; i++)
        sink = sink + i;
}

static __attribute__((noinline)) void other(void)
{
    for (int i = 0; i < 20; i++)
        sink = sink - 3 * i;
}

static uint64_t at(void (*function)(void))
{
    return (uint64_t)(uintptr_t)function;
}

TEST(range_is_that_of_one_function)
{
    struct jsp_function_range range = { 0, 0 }, same, next;
    CHECK_EQ(jsp_function_range(at(inner), getpid(), &range), 0);
    CHECK_EQ(range.start, at(inner));
    CHECK(range.end > range.start + 8 && range.end < range.start + 4096);
    CHECK_EQ(jsp_function_range(range.end - 1, getpid(), &same), 0);
    CHECK_EQ(same.start, range.start);
    CHECK_EQ(jsp_function_range(at(other), getpid(), &next), 0);
    CHECK(next.start >= range.end || next.end <= range.start);
    inner();
    other();
}

TEST(function_of_another_object_is_found)
{
    struct jsp_function_range range = { 0, 0 };
    uint64_t pc = (uint64_t)(uintptr_t)&qsort;
    if (jsp_function_range(pc, getpid(), &range) == -ENOENT) {
        SKIP("needs unwind tables in the C library");
        return;
    }
    CHECK(range.start <= pc && pc < range.end);
}

TEST(memory_without_a_table_has_no_range)
{
    struct jsp_function_range range = { 7, 7 };
    CHECK_EQ(jsp_function_range((uint64_t)(uintptr_t)&range, getpid(), &range), -ENOENT);
    CHECK_EQ(jsp_function_range(0, getpid(), &range), -ENOENT);
    CHECK_EQ(range.start, 7);
}

TEST(interpreter_without_a_length_is_the_function_at_its_start)
{
    jsprof_options options = { .size = sizeof options, .path = "/dev/null" };
    struct jsp_function_range range = { 0, 0 };
    jsprof *prof;
    if (!CHECK_EQ(jsprof_open(&prof, &options), 0))
        return;
    CHECK_EQ(jsp_function_range(at(inner), getpid(), &range), 0);
    const void *middle = (const void *)(uintptr_t)(range.start + 1);
    CHECK_EQ(jsprof_interpreter_add(prof, middle, 0), 0);
    CHECK_EQ(jsprof_interpreter_hide(prof, (const void *)(uintptr_t)at(other), 0), 0);
    CHECK_EQ(prof->output.frames.loops.n, 1);
    CHECK_EQ(prof->output.frames.loops.at[0][0], range.start);
    CHECK_EQ(prof->output.frames.loops.at[0][1], range.end);
    CHECK_EQ(prof->output.frames.hidden.n, 1);
    CHECK_EQ(prof->output.frames.hidden.at[0][0], at(other));
    CHECK_EQ(jsprof_interpreter_add(prof, &range, 0), -ENOENT);
    CHECK_EQ(jsprof_interpreter_add(prof, NULL, 0), -EINVAL);
    CHECK_EQ(prof->output.frames.loops.n, 1);
    CHECK_EQ(jsprof_close(prof), 0);
}

TEST_MAIN()
