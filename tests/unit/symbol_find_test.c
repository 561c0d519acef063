/* symbol_find_test.c - src/public/code.c: the names of C functions of this process.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <string.h>

#include "jsprof.h"
#include "test.h"

__attribute__((noinline)) static int symbol_find_landmark(int n)
{
    __asm__ volatile("");
    return n * 3;
}

static const char *landmark(void)
{
    int (*volatile call)(int) = symbol_find_landmark;
    return (const char *)(uintptr_t)call;
}

TEST(static_function_has_its_name)
{
    char name[64];
    CHECK_EQ(jsprof_symbol_find(landmark(), name, sizeof name), 0);
    CHECK_STR(name, "symbol_find_landmark");
}

TEST(name_is_cut_to_the_room)
{
    char name[7] = "unset.";
    CHECK_EQ(jsprof_symbol_find(landmark(), name, sizeof name), 0);
    CHECK_STR(name, "symbol");
    CHECK_EQ(jsprof_symbol_find(landmark(), name, 1), 0);
    CHECK_STR(name, "");
}

TEST(middle_of_a_function_has_no_name)
{
    char name[8] = "kept";
    CHECK_EQ(jsprof_symbol_find(landmark() + 1, name, sizeof name), -ENOENT);
    CHECK_EQ(jsprof_symbol_find(name, name, sizeof name), -ENOENT);
    CHECK_STR(name, "kept");
}

TEST(without_start_or_room_it_is_refused)
{
    char name[8] = "kept";
    CHECK_EQ(jsprof_symbol_find(NULL, name, sizeof name), -EINVAL);
    CHECK_EQ(jsprof_symbol_find(landmark(), NULL, sizeof name), -EINVAL);
    CHECK_EQ(jsprof_symbol_find(landmark(), name, 0), -EINVAL);
    CHECK_STR(name, "kept");
}

TEST_MAIN()
