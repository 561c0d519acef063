/* expr_test.c - src/sigsafe/unwind_expr.c: expressions of unwind rules give the frame's address
 * on every machine, or none.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/unwind_expr.h"

#include "test.h"

enum { REFUSED = 0x5EED, WORD = 64 };

enum { LIT0 = 0x30, LIT1 = 0x31, CONST1U = 0x08, CONST1S = 0x09, SHL = 0x24, SHR = 0x25,
       SHRA = 0x26, NOT = 0x20, SKIP = 0x2F, NOP = 0x96, DUP = 0x12, DROP = 0x13 };

static struct jsp_memread mem;
static const struct jsp_unwind_env env = { .at = { 0x1000, 0x2000, 0x3000, 0x4000 }, .mem = &mem };

/* What the bytes make of 7. */
static uint64_t run(const uint8_t *code, uint32_t n)
{
    uint64_t value = REFUSED;
    return jsp_unwind_expr(&env, code, n, 7, &value) ? value : REFUSED;
}

#define RUN_BYTES(...) \
    run((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Processors take such a shift by its lowest six bits: the frame would be somewhere else. */
TEST(shift_by_a_whole_word_or_more_leaves_nothing_of_the_value)
{
    CHECK_EQ(RUN_BYTES(LIT1, CONST1U, WORD - 1, SHL), 1ull << (WORD - 1));
    CHECK_EQ(RUN_BYTES(LIT1, CONST1U, WORD, SHL), 0);
    CHECK_EQ(RUN_BYTES(LIT1, CONST1U, WORD + 1, SHL), 0);
    CHECK_EQ(RUN_BYTES(LIT0, NOT, CONST1U, WORD - 1, SHR), 1);
    CHECK_EQ(RUN_BYTES(LIT0, NOT, CONST1U, WORD, SHR), 0);
    CHECK_EQ(RUN_BYTES(LIT0, NOT, CONST1S, 0xFF, SHR), 0); /* by -1 */
    CHECK_EQ(RUN_BYTES(CONST1S, 0x80, CONST1U, WORD, SHRA), UINT64_MAX);
    CHECK_EQ(RUN_BYTES(CONST1U, 0x7F, CONST1U, WORD, SHRA), 0);
    CHECK_EQ(RUN_BYTES(CONST1S, 0x80, LIT1, SHRA), (uint64_t)-64);
}

TEST(expression_that_jumps_back_overflows_or_says_nothing_is_refused)
{
    uint8_t many[80];
    CHECK_EQ(RUN_BYTES(SKIP, 1, 0, NOT, NOP), 7);
    CHECK_EQ(RUN_BYTES(NOP, SKIP, 0xFC, 0xFF), REFUSED); /* for ever */
    CHECK_EQ(RUN_BYTES(SKIP, 9, 0), REFUSED);
    CHECK_EQ(RUN_BYTES(DROP), REFUSED);
    memset(many, DUP, sizeof many);
    CHECK_EQ(run(many, 15), 7); /* 16 values */
    CHECK_EQ(run(many, 16), REFUSED);
    memset(many, NOP, sizeof many);
    CHECK_EQ(run(many, 64), 7);
    CHECK_EQ(run(many, 65), REFUSED);
}

int main(void)
{
    RUN(shift_by_a_whole_word_or_more_leaves_nothing_of_the_value);
    RUN(expression_that_jumps_back_overflows_or_says_nothing_is_refused);
    return DONE();
}
