/* clocks_test.c - src/base/clocks.c: which words name a clock.
 *
 * SPDX-License-Identifier: MIT
 */
#include "base/clocks.h"

#include <stddef.h>

#include "analyze/profile.h"
#include "test.h"

TEST(each_clock_is_found_by_its_key)
{
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++) {
        const struct jsp_clock_row *row = jsp_clock_find(jsp_clocks[clock].key);
        if (CHECK(row != NULL))
            CHECK_EQ(row->clock, clock);
    }
    CHECK_EQ(jsp_clock_find("cpu")->clock, JSPROF_CLOCK_CPU);
    CHECK_EQ(jsp_clock_find("wall")->clock, JSPROF_CLOCK_WALL);
}

TEST(words_that_only_resemble_a_key_name_no_clock)
{
    static const char *const words[] = { "", "c", "cp", "cpus", "CPU", " cpu", "cpu ", "wal",
                                         "walls", "cpu_ns", "cpu or wall" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK(jsp_clock_find(words[i]) == NULL);
}

TEST(message_lists_all_keys)
{
    CHECK_STR(JSP_CLOCKS_KEYS, "cpu or wall");
}

TEST(unit_of_values_follows_the_clock)
{
    CHECK_STR(jsp_unit_key(JSP_VALUE_CPU), "cpu_ns");
    CHECK_STR(jsp_unit_key(JSP_VALUE_WALL), "wall_ns");
    CHECK_STR(jsp_unit_key(JSP_VALUE_COUNT), "samples");
    CHECK_STR(jsp_unit_name(JSP_VALUE_CPU), "CPU time");
    CHECK_STR(jsp_unit_name(JSP_VALUE_WALL), "elapsed time");
    CHECK_STR(jsp_unit_name(JSP_VALUE_COUNT), "samples");
}

TEST_MAIN()
