/* unit/alloc_test.c - src/sigsafe/alloc.c: how far sampled bytes are from each other.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/alloc.h"
#include "sigsafe/sample.h"

#include "test.h"

enum { EVERY = 1 << 20, DRAWS = 40000 };

/* The distances are exponential: their mean is EVERY, half of them are below EVERY x ln 2, and
 * 1.8 % above EVERY x 4. Each bound is 8 standard deviations away or more. */
TEST(distances_of_sampled_bytes_are_exponential)
{
    static struct jsp_sampled self;
    static struct jsp_alloc_table table;
    double sum = 0;
    int64_t drawn = 0;
    int n_short = 0, n_long = 0, n_negative = 0;
    for (self.number = 1; self.number <= DRAWS; self.number++) {
        jsp_alloc_open(&self, &table, EVERY);
        double distance = (double)self.own.alloc_left / EVERY;
        drawn += self.own.alloc_left;
        sum += distance;
        n_short += distance < 0.6931471805599453;
        n_long += distance > 4;
        n_negative += distance < 0;
    }
    CHECK(sum > 0.96 * DRAWS && sum < 1.04 * DRAWS);
    CHECK(n_short > 0.48 * DRAWS && n_short < 0.52 * DRAWS);
    CHECK(n_long > 0.0129 * DRAWS && n_long < 0.0237 * DRAWS);
    CHECK_EQ(n_negative, 0);
    CHECK_EQ(self.alloc.drawn, drawn);
    CHECK(self.alloc.every == EVERY && self.alloc.table == &table);
    CHECK_EQ(self.alloc.asked.uc_stack.ss_flags, SS_DISABLE);
}

/* Return the number of the block in the table, or 0. */
static uint64_t number_of(const struct jsp_alloc_table *t, const void *block)
{
    for (uint32_t i = 0, home = jsprof_alloc_home(block); i < JSP_ALLOC_WINDOW; i++)
        if (t->slots[home + i].block == (uintptr_t)block)
            return t->slots[home + i].number;
    return 0;
}

TEST(a_block_that_moves_keeps_its_samples)
{
    static struct jsp_alloc_table t;
    static struct jsp_sampled self;
    static char a, b;
    uint32_t from = jsprof_alloc_home(&a), to = jsprof_alloc_home(&b);
    self.alloc.table = &t;
    for (uint32_t i = 0; i < 2; i++) { /* two samples, in the last slots of the window */
        t.slots[from + JSP_ALLOC_WINDOW - 1 - i].block = (uintptr_t)&a;
        t.slots[from + JSP_ALLOC_WINDOW - 1 - i].number = 8 - i;
    }
    t.homes[from] = 2;
    jsp_alloc_moved(&self, &a, &b);
    CHECK(number_of(&t, &a) == 0 && number_of(&t, &b) == 7);
    CHECK(t.homes[from] == 0 && t.homes[to] == 2 && self.alloc.n_untold == 0);
    jsp_alloc_moved(&self, &a, &b);
    jsp_alloc_moved(&self, NULL, &a);
    for (uint32_t i = 0; i < JSP_ALLOC_WINDOW; i++)
        t.slots[from + i].block = t.slots[from + i].block ? t.slots[from + i].block : 99;
    t.homes[from] = JSP_ALLOC_WINDOW;
    jsp_alloc_moved(&self, &b, &a); /* its window is full */
    CHECK(number_of(&t, &b) == 0 && number_of(&t, &a) == 0 && t.homes[to] == 0);
    CHECK(t.homes[from] == JSP_ALLOC_WINDOW && self.alloc.n_untold == 2);
}

TEST_MAIN()
