/* unit/function_lines_test.c - src/session/function_lines.c and holders of functions: which
 * rows a name has, and how long those of freed functions stay.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/function_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/function.h"
#include "sigsafe/names.h"
#include "test.h"

static const jsprof_code_line rows[] = { { 4, 40 }, { 8, 80 }, { 9, 90 } };
static const jsprof_code_line other[] = { { 1, 7 } };

static jsprof_function *function(const char *name)
{
    jsprof_function *f = NULL;
    CHECK_EQ(jsprof_function_new(&f, name, "f.x", 3, JSPROF_KIND_VM), 0);
    return f;
}

static uint32_t line_at(const char *name, uint64_t pc)
{
    return jsp_function_line(name, (uint32_t)strlen(name), pc);
}

TEST(line_of_a_pc_is_that_of_the_row_before_it)
{
    CHECK_EQ(line_at("f (f.x:3)", 8), 0); /* no function has lines yet */
    jsprof_function *f = function("f");
    CHECK_EQ(jsprof_function_lines(f, rows, 3), 0);
    CHECK_EQ(line_at("f (f.x:3)", 3), 0);
    CHECK_EQ(line_at("f (f.x:3)", 4), 40);
    CHECK_EQ(line_at("f (f.x:3)", 7), 40);
    CHECK_EQ(line_at("f (f.x:3)", 8), 80);
    CHECK_EQ(line_at("f (f.x:3)", 9), 90);
    CHECK_EQ(line_at("f (f.x:3)", UINT64_MAX), 90);
    CHECK_EQ(line_at("f (f.x:4)", 8), 0);
    CHECK_EQ(line_at("f", 8), 0);
    jsprof_function_free(f);
}

TEST(arguments_that_are_wrong_are_refused_and_change_nothing)
{
    static const jsprof_code_line twice[] = { { 1, 1 }, { 1, 2 } };
    jsprof_function *f = function("wrong");
    CHECK_EQ(jsprof_function_lines(NULL, rows, 3), -EINVAL);
    CHECK_EQ(jsprof_function_lines(f, NULL, 1), -EINVAL);
    CHECK_EQ(jsprof_function_lines(f, rows, 3), 0);
    CHECK_EQ(jsprof_function_lines(f, twice, 2), -EINVAL);
    CHECK_EQ(line_at("wrong (f.x:3)", 8), 80);
    CHECK(jsprof_function_ref(NULL) == NULL);
    jsprof_function_free(f);
}

TEST(newest_rows_of_a_name_count_until_they_are_taken_away)
{
    jsprof_function *a = function("two"), *b = function("two");
    CHECK_EQ(jsprof_function_lines(a, rows, 3), 0);
    CHECK_EQ(jsprof_function_lines(b, rows, 3), 0);
    CHECK(a->lines == b->lines); /* equal rows are shared */
    CHECK_EQ(jsprof_function_lines(b, other, 1), 0);
    CHECK_EQ(line_at("two (f.x:3)", 8), 7);
    CHECK_EQ(jsprof_function_lines(b, NULL, 0), 0);
    CHECK(b->lines == NULL);
    jsprof_function_free(a);
    jsprof_function_free(b);
}

TEST(rows_of_a_freed_function_stay_for_the_drain_but_not_for_ever)
{
    enum { MANY = 4096 };
    jsprof_code_line *many = calloc(MANY, sizeof *many);
    for (uint32_t i = 0; many && i < MANY; i++)
        many[i] = (jsprof_code_line){ i + 1, i + 1 };
    jsprof_function *f = function("gone");
    CHECK_EQ(jsprof_function_lines(f, rows, 3), 0);
    jsprof_function_free(f);
    CHECK_EQ(line_at("gone (f.x:3)", 8), 80);
    f = function("gone"); /* holds the queued rows again */
    CHECK_EQ(jsprof_function_lines(f, rows, 3), 0);
    uint32_t n = 2 * JSP_FUNCTION_LINES_FREED / (MANY * sizeof *many);
    for (uint32_t i = 0; many && i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "many %u", (unsigned)i);
        jsprof_function *g = function(name);
        CHECK_EQ(jsprof_function_lines(g, many, MANY), 0);
        jsprof_function_free(g);
    }
    CHECK_EQ(line_at("gone (f.x:3)", 8), 80); /* it has a holder */
    CHECK_EQ(line_at("many 0 (f.x:3)", 8), 0);
    char last[32];
    snprintf(last, sizeof last, "many %u (f.x:3)", (unsigned)n - 1);
    CHECK_EQ(line_at(last, 8), 8);
    jsprof_function_free(f);
    free(many);
}

TEST(function_lives_until_its_last_holder_frees_it)
{
    jsprof_function *f = function("shared");
    CHECK(jsprof_function_ref(f) == f);
    CHECK_EQ(jsprof_function_lines(f, rows, 3), 0);
    CHECK(jsp_function_is_shared(f));
    jsprof_function_free(f);
    CHECK(!jsp_function_is_shared(f));
    CHECK(f->seal == jsp_function_seal(f, f->serial));
    CHECK(f->lines != NULL);
    jsprof_function_free(f);
}

TEST(closure_may_be_freed_while_another_runs)
{
    jsprof_options options = { .size = sizeof options, .path = "/dev/null" };
    jsprof_function *f = jsprof_function_ref(function("closure"));
    jsprof *prof;
    jsprof_thread *me;
    CHECK_EQ(jsprof_open(&prof, &options), 0);
    CHECK_EQ(jsprof_thread_attach(prof, "main", &me), 0);
    jsprof_enter(me, f);
    jsprof_function_free_checked(f); /* would abort if it were the last hold */
    jsprof_leave(me);
    jsprof_function_free_checked(f);
    CHECK_EQ(jsprof_close(prof), 0);
}

TEST_MAIN()
