/* unwind_rows_test.c - src/sigsafe/unwind*.c: walks by rows and rules that the test makes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "test.h"

#include <unistd.h>

#include "sigsafe/unwind.h"

enum { MOST = 128 };

static struct jsp_unwinder unwinder;
static struct jsp_rec_native frames[MOST];
static struct jsp_unwound out;

enum { CODE = 0x100000, SECOND = 0x10, AFTER = 0x20 };

/* Leave by 8 * cfa bytes from a register; the frame pointer saved right below the
 * return address, where that is in the frame. */
static uint32_t how(enum jsp_how kind, uint32_t cfa)
{
    return (uint32_t)kind | cfa << JSP_HOW_KIND_BITS | 2u << JSP_HOW_FP_SHIFT |
           (JSP_RA_IN_EXTRA ? 1u << JSP_HOW_EXTRA_SHIFT : 0);
}

/* Walk over `stack` from the second of two functions that have these rows. */
static enum jsp_unwind_stop walk_by(uint32_t first, uint32_t second,
                                    const struct jsp_unwind_rule *rule, uint64_t stack[16])
{
    static struct jsp_unwind_map map;
    const struct jsp_unwind_row rows[] = { { 0, first }, { SECOND, second },
                                           { AFTER, JSP_HOW_END } };
    const uint32_t pages[] = { 0, 3 };
    const struct jsp_unwind_object object = { .start = CODE, .end = CODE + 0x30, .rows = rows,
        .pages = pages, .rules = rule, .n_rows = 3, .n_rules = rule != NULL, .page_shift = 12 };
    const uintptr_t starts[] = { CODE };
    map = (struct jsp_unwind_map){ map.generation + 1000, 1, starts, &object, NULL };
    const struct jsp_regs_core at = { .pc = CODE + SECOND, .sp = (uintptr_t)stack,
                                      .fp = (uintptr_t)stack };
    out = (struct jsp_unwound){ .frames = frames, .max = MOST };
    return jsp_unwind_from(&unwinder, &map, &at, &out);
}

TEST(a_call_that_never_returns_belongs_to_its_own_function)
{
    uint64_t stack[16] = { [1] = CODE + SECOND, [4] = CODE + AFTER + 1 };
    enum jsp_unwind_stop stop = walk_by(how(JSP_HOW_SP, 3), how(JSP_HOW_SP, 2), NULL, stack);
    CHECK_EQ(stop, JSP_STOP_END);
    CHECK_EQ(out.n, 3);
    CHECK_EQ(frames[0].cfa, (uintptr_t)&stack[2]); /* interrupted at the second's first */
    CHECK_EQ(frames[1].cfa, (uintptr_t)&stack[5]); /* returns there, called by the first */
}

TEST(a_frame_that_is_its_own_caller_ends_the_walk)
{
    uint64_t stack[16] = { [1] = CODE + 1 };
    const struct jsp_unwind_cell above = { JSP_CELL_REG, JSP_REG_FP, 0, 16 };
    const struct jsp_unwind_cell ra = { JSP_CELL_AT, 0, 0, -8 }, fp = { JSP_CELL_AT, 0, 0, -16 };
    const struct jsp_unwind_rule rule = { above, ra, { 0 }, fp, { 0 }, 0 };
    stack[0] = (uintptr_t)stack;
    uint32_t by_row = how(JSP_HOW_FP, 2);
    uint32_t absent = JSP_HOW_RULE | 1u << JSP_HOW_KIND_BITS;
    CHECK_EQ(walk_by(by_row, by_row, NULL, stack), JSP_STOP_STACK);
    CHECK_EQ(out.n, 2);
    CHECK_EQ(walk_by(JSP_HOW_RULE, JSP_HOW_RULE, &rule, stack), JSP_STOP_STACK);
    CHECK_EQ(out.n, 2);
    CHECK_EQ(walk_by(absent, absent, &rule, stack), JSP_STOP_NO_TABLE); /* there is no such rule */
}

int main(void)
{
    uint64_t here;
    uintptr_t at = (uintptr_t)&here;
    jsp_unwinder_init(&unwinder, at - (1 << 16), at + (1 << 12), getpid());
    RUN_ALL();
    return DONE();
}
