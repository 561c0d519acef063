/* exact_compare_test.c - src/analyze/exact_compare.c: which function is which of another
 * capture, and that many of one name do not take for ever.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/exact.h"

#include <stdlib.h>

#include "test.h"

enum { MANY = 200000 };

struct side {
    struct jsp_exact exact;
    struct jsp_exact_function functions[MANY];
};

static struct side first, second;

/* The next function: called `calls` times. */
static void function(struct side *s, const char *name, uint32_t line, uint64_t calls)
{
    s->functions[s->exact.n_functions++] = (struct jsp_exact_function){
        .shown = name, .line = line, .name = { name, (uint32_t)strlen(name) },
        .file = { "a.js", 4 }, .cost.calls = calls,
    };
}

static void start(struct side *s)
{
    s->exact = (struct jsp_exact){ .functions = s->functions };
    s->exact.commit[JSP_WIRE_COMMIT_TICKS_PER_SECOND] = 1000000000;
}

/* How many pairs have so many calls in the first and so many in the second. */
static uint32_t pairs_of(uint64_t a, uint64_t b, uint32_t *all)
{
    struct jsp_exact_pair *pairs = NULL;
    uint32_t n = 0;
    *all = 0;
    if (!CHECK_EQ(jsp_exact_compare(&pairs, all, &first.exact, &second.exact,
                                    JSP_EXACT_BY_CALLS), 0))
        return 0;
    for (uint32_t i = 0; i < *all; i++)
        n += pairs[i].first.calls == a && pairs[i].second.calls == b;
    free(pairs);
    return n;
}

TEST(code_that_moved_is_paired_in_order_behind_code_that_did_not)
{
    uint32_t all;
    start(&first);
    start(&second);
    function(&first, "f", 30, 3); /* not told in the order of their lines */
    function(&first, "f", 10, 1);
    function(&first, "f", 20, 2);
    function(&first, "gone", 1, 7);
    function(&second, "f", 35, 30);
    function(&second, "f", 15, 10);
    function(&second, "f", 20, 20); /* has not moved */
    function(&second, "new", 1, 8);
    CHECK_EQ(pairs_of(2, 20, &all), 1);
    CHECK_EQ(all, 5);
    CHECK_EQ(pairs_of(1, 10, &all), 1);
    CHECK_EQ(pairs_of(3, 30, &all), 1);
    CHECK_EQ(pairs_of(7, 0, &all), 1);
    CHECK_EQ(pairs_of(0, 8, &all), 1);
}

TEST(a_bundle_of_anonymous_functions_is_compared_in_no_time)
{
    uint32_t all;
    start(&first);
    start(&second);
    for (uint32_t i = 0; i < MANY; i++) {
        function(&first, "(anonymous)", i, 1);
        function(&second, "(anonymous)", i + 1, 2);
    }
    CHECK_EQ(pairs_of(1, 2, &all), MANY);
    CHECK_EQ(all, MANY);
}

TEST_MAIN()
