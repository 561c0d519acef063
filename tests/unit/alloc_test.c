/* unit/alloc_test.c - src/sigsafe/alloc.c: how far sampled bytes are from each other.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/alloc.h"
#include "sigsafe/sample.h"

#include <math.h>

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
    int n_short = 0, n_long = 0, n_negative = 0, n_wrong = 0;
    for (self.number = 1; self.number <= DRAWS; self.number++) {
        jsp_alloc_open(&self, &table, EVERY);
        double distance = (double)self.own.alloc_left / EVERY;
        drawn += self.own.alloc_left;
        sum += distance;
        n_short += distance < 0.6931471805599453;
        n_long += distance > 4;
        n_negative += distance < 0;
        uint64_t random = self.alloc.random * 0x2545F4914F6CDD1Du >> 11;
        double share = (double)(random + 1) / 9007199254740992.0;
        n_wrong += fabs(-log(share) - distance) * EVERY > 1;
    }
    CHECK(sum > 0.96 * DRAWS && sum < 1.04 * DRAWS);
    CHECK(n_short > 0.48 * DRAWS && n_short < 0.52 * DRAWS);
    CHECK(n_long > 0.0129 * DRAWS && n_long < 0.0237 * DRAWS);
    CHECK_EQ(n_negative, 0);
    CHECK_EQ(n_wrong, 0); /* as libm has it */
    CHECK_EQ(self.alloc.drawn, drawn);
    CHECK(self.alloc.every == EVERY && self.alloc.table == &table);
    CHECK_EQ(self.alloc.asked.uc_stack.ss_flags, SS_DISABLE);
}

TEST_MAIN()
