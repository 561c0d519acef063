/* test.h - the whole test harness: named cases, checks that show both sides,
 * TAP on stdout. A test file is one program; tests/run.sh counts its cases.
 *
 * A check that fails is reported, the case continues, and the check returns false to
 * a case that wants to return. A case that says SKIP(why) and returns is not counted
 * as passed; one that checked nothing has failed. Checks belong to the main thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_H
#define JSP_TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int test_n, test_bad, test_checks;
static const char *test_skipped;

#define TEST(name) static void name(void)

#define RUN(name) test_run(name, #name)

#define DONE() (printf("1..%d\n", test_n), test_bad != 0)

#define CHECK(cond) test_that((cond) ? 1 : 0, __FILE__, __LINE__, #cond)

#define CHECK_EQ(got, want) \
    test_equal((long long)(got), (long long)(want), __FILE__, __LINE__, #got)

#define CHECK_STR(got, want) test_same((got), (want), __FILE__, __LINE__, #got)

#define SKIP(reason) (test_skipped = (reason))

static inline void test_run(void (*body)(void), const char *name)
{
    int before = test_bad;
    test_skipped = NULL;
    test_checks = 0;
    body();
    if (!test_checks && !test_skipped) {
        test_bad++;
        printf("# %s: checked nothing\n", name);
    }
    bool failed = test_bad > before;
    bool skipped = test_skipped && !failed;
    printf("%sok %d - %s%s%s\n", failed ? "not " : "", ++test_n, name,
           skipped ? " # SKIP " : "", skipped ? test_skipped : "");
    fflush(stdout);
}

static inline bool test_that(int truth, const char *file, int line, const char *text)
{
    __atomic_fetch_add(&test_checks, 1, __ATOMIC_RELAXED);
    if (!truth) {
        test_bad++;
        printf("# %s:%d: not so: %s\n", file, line, text);
    }
    return truth;
}

static inline bool test_equal(long long got, long long want, const char *file,
                              int line, const char *text)
{
    __atomic_fetch_add(&test_checks, 1, __ATOMIC_RELAXED);
    if (got != want) {
        test_bad++;
        printf("# %s:%d: %s is %lld, not %lld\n", file, line, text, got, want);
    }
    return got == want;
}

static inline bool test_same(const char *got, const char *want, const char *file,
                             int line, const char *text)
{
    __atomic_fetch_add(&test_checks, 1, __ATOMIC_RELAXED);
    bool same = got && want ? strcmp(got, want) == 0 : got == want;
    if (!same) {
        test_bad++;
        printf("# %s:%d: %s is \"%s\", not \"%s\"\n", file, line, text,
               got ? got : "(null)", want ? want : "(null)");
    }
    return same;
}

#endif
