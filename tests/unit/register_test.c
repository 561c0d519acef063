/* unit/register_test.c - src/session/register.c: a program that compiles for long before
 * it is profiled.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/session.h"
#include "test.h"

enum { MANY = 50000, CODES = 16, MOST_KEPT = 4096 };

static jsprof *prof;

static bool begin(void)
{
    jsprof_options options = { .size = sizeof options, .flags = JSPROF_USE_FD };
    options.fd = memfd_create("capture", MFD_CLOEXEC);
    return CHECK_EQ(jsprof_open(&prof, &options), 0);
}

static const void *place(uintptr_t at)
{
    return (const void *)(0x10000 + 64 * at);
}

TEST(code_that_was_replaced_is_forgotten_while_nothing_is_sampled)
{
    jsprof_code code = { .size = sizeof code, .length = 64, .name = "f" };
    int failed = 0;
    if (!begin())
        return;
    for (uintptr_t i = 0; i < MANY; i++) {
        code.start = place(i % CODES);
        failed += jsprof_code_add(prof, &code) != 0;
    }
    CHECK_EQ(failed, 0);
    CHECK_EQ(prof->codes.n, CODES);
    CHECK(prof->codes.n_dead < MOST_KEPT);
    CHECK_EQ(jsprof_close(prof), 0);
}

TEST(code_that_only_moves_is_forgotten_where_it_was)
{
    jsprof_code code = { .size = sizeof code, .length = 64, .name = "f", .start = place(0) };
    int failed = 0;
    if (!begin() || !CHECK_EQ(jsprof_code_add(prof, &code), 0))
        return;
    for (uintptr_t i = 0; i < MANY; i++)
        failed += jsprof_code_move(prof, place(i % CODES), place((i + 1) % CODES)) != 0;
    CHECK_EQ(failed, 0);
    CHECK_EQ(prof->codes.n, 1);
    CHECK(prof->codes.n_dead < MOST_KEPT);
    CHECK_EQ(jsprof_close(prof), 0);
}

/* perf looks addresses up in /tmp/perf-PID.map: it must have the code where it is now. */
TEST(code_that_moves_is_in_the_map_of_perf_where_it_was_and_where_it_is)
{
    jsprof_options options = { .size = sizeof options,
                               .flags = JSPROF_USE_FD | JSPROF_PERF_MAP };
    jsprof_code code = { .size = sizeof code, .length = 64, .name = "f", .start = place(1) };
    char path[64], text[256] = "";
    options.fd = memfd_create("capture", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    if (!CHECK_EQ(jsprof_open(&prof, &options), 0))
        return;
    CHECK_EQ(jsprof_code_add(prof, &code), 0);
    CHECK_EQ(jsprof_code_move(prof, place(1), place(9)), 0);
    CHECK_EQ(jsprof_close(prof), 0);
    FILE *map = fopen(path, "re");
    if (CHECK(map != NULL)) {
        text[fread(text, 1, sizeof text - 1, map)] = 0;
        fclose(map);
    }
    unlink(path);
    CHECK_STR(text, "10040 40 f\n10240 40 f\n");
}

TEST_MAIN()
