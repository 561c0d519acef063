/* test.h - the whole test harness: named cases, checks that show both sides,
 * TAP on stdout. A test file is one program; tests/run.sh counts its cases.
 *
 * TEST_MAIN() at its end runs its cases from the first to the last. A file with a main of its own
 * calls RUN_ALL() between what it makes ready and DONE(), or RUN(name) for each: a case that was
 * not run has failed.
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

/* Each case adds itself before main begins, in whatever order the linker has: `line` sorts them. */
static struct test_case {
    const char *name;
    void (*body)(void);
    int line;
    bool was_run;
    struct test_case *next;
} *test_cases;

#define TEST(name) \
    static void name(void); \
    static struct test_case name##_case = { #name, name, __LINE__, false, NULL }; \
    static __attribute__((constructor)) void name##_add(void) \
    { \
        test_add(&name##_case); \
    } \
    static void name(void)

/* One of several cases that differ in the arguments of a call. */
#define TEST_OF(name, ...) \
    TEST(name) \
    { \
        __VA_ARGS__; \
    }

#define RUN(name) test_run(&name##_case)

#define RUN_ALL() test_run_all()

#define DONE() test_done()

#define TEST_MAIN() \
    int main(void) \
    { \
        RUN_ALL(); \
        return DONE(); \
    }

#define CHECK(cond) test_that((cond) ? 1 : 0, __FILE__, __LINE__, #cond)

#define CHECK_EQ(got, want) \
    test_equal((long long)(got), (long long)(want), __FILE__, __LINE__, #got)

#define CHECK_STR(got, want) test_same((got), (want), __FILE__, __LINE__, #got)

#define SKIP(reason) (test_skipped = (reason))

static inline void test_add(struct test_case *c)
{
    struct test_case **at = &test_cases;
    while (*at && (*at)->line < c->line)
        at = &(*at)->next;
    c->next = *at;
    *at = c;
}

static inline void test_run(struct test_case *c)
{
    int before = test_bad;
    test_skipped = NULL;
    test_checks = 0;
    c->was_run = true;
    c->body();
    if (!test_checks && !test_skipped) {
        test_bad++;
        printf("# %s: checked nothing\n", c->name);
    }
    bool failed = test_bad > before;
    bool skipped = test_skipped && !failed;
    printf("%sok %d - %s%s%s\n", failed ? "not " : "", ++test_n, c->name,
           skipped ? " # SKIP " : "", skipped ? test_skipped : "");
    fflush(stdout);
}

static inline void test_run_all(void)
{
    for (struct test_case *c = test_cases; c; c = c->next)
        test_run(c);
}

static inline int test_done(void)
{
    for (struct test_case *c = test_cases; c; c = c->next)
        if (!c->was_run) {
            test_bad++;
            printf("not ok %d - %s\n# nobody runs it\n", ++test_n, c->name);
        }
    printf("1..%d\n", test_n);
    return test_bad != 0;
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
