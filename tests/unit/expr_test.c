/* expr_test.c - src/sigsafe/unwind_expr.c: expressions of unwind rules give the frame's address
 * on every machine, or none.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sigsafe/unwind_expr.h"

#include <unistd.h>

#include "test.h"

enum { REFUSED = 0x5EED, WORD = 64 };

enum { LIT0 = 0x30, LIT1 = 0x31, CONST1U = 0x08, CONST1S = 0x09, SHL = 0x24, SHR = 0x25,
       SHRA = 0x26, NOT = 0x20, SKIP = 0x2F, NOP = 0x96, DUP = 0x12, DROP = 0x13,
       CONST8U = 0x0E, DEREF = 0x06, DEREF_SIZE = 0x94, AND = 0x1A, MINUS = 0x1C, MUL = 0x1E,
       OR = 0x21, PLUS = 0x22, XOR = 0x27, EQ = 0x29, GE = 0x2A, GT = 0x2B, LE = 0x2C, LT = 0x2D,
       NE = 0x2E, OVER = 0x14, PICK = 0x15, NEG = 0x1F, PLUS_UCONST = 0x23, BRA = 0x28 };

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

/* a b OP, of two constants. */
static uint64_t binary(uint8_t op, uint64_t a, uint64_t b)
{
    uint8_t code[19] = { CONST8U };
    code[9] = CONST8U;
    code[18] = op;
    memcpy(code + 1, &a, sizeof a);
    memcpy(code + 10, &b, sizeof b);
    return run(code, sizeof code);
}

TEST(two_values_become_what_the_operation_says)
{
    static const uint64_t some[] = { 0, 1, 2, 77, INT64_MAX, 1ull << 63, UINT64_MAX - 76,
                                     UINT64_MAX };
    enum { SOME = sizeof some / sizeof *some };
    for (int i = 0; i < SOME * SOME; i++) {
        uint64_t a = some[i / SOME], b = some[i % SOME];
        int64_t sa = (int64_t)a, sb = (int64_t)b;
        CHECK_EQ(binary(AND, a, b), a & b);
        CHECK_EQ(binary(OR, a, b), a | b);
        CHECK_EQ(binary(XOR, a, b), a ^ b);
        CHECK_EQ(binary(PLUS, a, b), a + b);
        CHECK_EQ(binary(MINUS, a, b), a - b);
        CHECK_EQ(binary(MUL, a, b), a * b);
        CHECK_EQ(binary(EQ, a, b), a == b);
        CHECK_EQ(binary(NE, a, b), a != b);
        CHECK_EQ(binary(LT, a, b), sa < sb);
        CHECK_EQ(binary(LE, a, b), sa <= sb);
        CHECK_EQ(binary(GT, a, b), sa > sb);
        CHECK_EQ(binary(GE, a, b), sa >= sb);
        CHECK_EQ(binary(OVER, a, b), a);
    }
    CHECK_EQ(RUN_BYTES(LIT1, LIT0, PICK, 2), 7);
    CHECK_EQ(RUN_BYTES(PICK, 1), REFUSED);
    CHECK_EQ(RUN_BYTES(NEG), (uint64_t)-7);
    CHECK_EQ(RUN_BYTES(PLUS_UCONST, 0x81, 1), 7 + 129);
    CHECK_EQ(RUN_BYTES(LIT1, BRA, 1, 0, NOT), 7);
    CHECK_EQ(RUN_BYTES(LIT0, BRA, 1, 0, NOT), ~7ull);
    CHECK_EQ(RUN_BYTES(LIT0, LIT1, 0x1B), REFUSED); /* a division */
}

TEST(memory_is_read_with_as_many_bytes_as_asked_for)
{
    static const uint64_t words[] = { 0xF1E2D3C4B5A69788u, UINT64_MAX };
    uint64_t at = (uintptr_t)words, word = words[0];
    uint8_t code[11] = { CONST8U };
    jsp_memread_init(&mem, at, at + sizeof words, getpid());
    memcpy(code + 1, &at, sizeof at);
    code[9] = DEREF;
    CHECK(run(code, 10) == word);
    code[9] = DEREF_SIZE;
    for (uint8_t bytes = 1; bytes < 8; bytes++) {
        code[10] = bytes;
        CHECK_EQ(run(code, 11), word & (UINT64_MAX >> (64 - 8 * bytes)));
    }
    code[10] = 8;
    CHECK(run(code, 11) == word);
    code[10] = 9;
    CHECK_EQ(run(code, 11), REFUSED);
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

TEST_MAIN()
