/* unit/resume_test.c - src/sigsafe/resume.c: stacks that resume one another, deeper than the
 * library keeps.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/resume.h"

#include "test.h"

enum { STACKS = JSP_LEVELS_MAX + 4, BYTES = 64 };

TEST(nothing_is_written_past_the_resumers_that_are_kept)
{
    static struct jsp_sampled self;
    static uint8_t memory[STACKS][BYTES], before[sizeof(struct jsp_resumer)];
    static jsprof_cstack stacks[STACKS];
    size_t end = offsetof(struct jsp_sampled, resumers) + sizeof self.resumers;
    memcpy(before, (uint8_t *)&self + end, sizeof before);
    for (int i = 0; i < STACKS; i++) {
        struct jsp_regs_core here = { .sp = (uintptr_t)memory[i] };
        stacks[i] = (jsprof_cstack){ .low = memory[i], .high = memory[i] + BYTES,
                                     .resumer = i ? &stacks[i - 1] : NULL };
        jsp_resume_switch(&self, &stacks[i], &here);
        CHECK(self.cstack == &stacks[i]);
    }
    CHECK(self.resumers[JSP_LEVELS_MAX - 1].stack == &stacks[JSP_LEVELS_MAX - 2]);
    CHECK_EQ(memcmp(before, (uint8_t *)&self + end, sizeof before), 0);
}

TEST(what_was_seized_is_restored)
{
    static struct jsp_sampled self;
    for (int i = 0; i < 4; i++) {
        self.is_inside = i & 1;
        self.busy = i >> 1;
        struct jsp_seized was = jsp_sampled_seize(&self);
        CHECK(!self.is_inside && !self.busy);
        jsp_sampled_restore(&self, was);
        CHECK(self.is_inside == (i & 1) && self.busy == i >> 1);
    }
}

TEST_MAIN()
