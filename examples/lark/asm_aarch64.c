/* asm_aarch64.c - the instructions of asm.h for aarch64.
 *
 * SPDX-License-Identifier: MIT
 */
#include "asm.h"

#include <string.h>

#ifdef __aarch64__

enum { ARM_FAR = 16, ARM_FAR_TOO = 17, ARM_ZERO = 31 }; /* 16, 17: scratch */

/* The caller saves x9 to x11, the callee x19 and x20. */
static const uint8_t arm_regs[LARK_REGS] = { 9, 10, 11, 19, 20 };

static const uint8_t arm_conds[LARK_CONDS] = {
    [LARK_IF_EQ] = 0,       [LARK_IF_NE] = 1,    [LARK_IF_LT] = 11,
    [LARK_IF_LE] = 13,      [LARK_IF_GT] = 12,   [LARK_IF_GE] = 10,
    [LARK_IF_ABOVE_EQ] = 2, [LARK_IF_MORE] = 12, [LARK_IF_MORE_EQ] = 10,
};

static void arm_three(struct lark_asm *a, uint32_t word, uint32_t d, uint32_t n,
                      uint32_t m)
{
    lark_asm_u32(a, word | m << 16 | n << 5 | d);
}

static void arm_imm(struct lark_asm *a, uint32_t reg, uint64_t value)
{
    lark_asm_u32(a, 0xD2800000u | (uint32_t)(value & 0xFFFF) << 5 | reg); /* movz */
    for (uint32_t i = 1; i < 4; i++) {
        uint32_t part = (uint32_t)(value >> (16 * i)) & 0xFFFF;
        if (part)
            lark_asm_u32(a, 0xF2800000u | i << 21 | part << 5 | reg); /* movk */
    }
}

/* Load or store with an offset in units of `scale`; through x16 where it is too far. */
static void arm_mem(struct lark_asm *a, uint32_t word_scale, uint32_t reg,
                    struct lark_mem m)
{
    uint32_t scale = word_scale & 31, word = word_scale & ~31u;
    uint32_t base = arm_regs[m.base];
    if (m.offset >= 0 && (uint32_t)m.offset < 4096 * scale) {
        lark_asm_u32(a, word | ((uint32_t)m.offset / scale) << 10 | base << 5 | reg);
        return;
    }
    arm_imm(a, ARM_FAR, (uint64_t)(int64_t)m.offset);
    arm_three(a, 0x8B000000u, ARM_FAR, base, ARM_FAR); /* add */
    lark_asm_u32(a, word | ARM_FAR << 5 | reg);
}

void lark_asm_enter(struct lark_asm *a)
{
    lark_asm_row(a, (jsprof_code_row){ 0 });
    lark_asm_u32(a, 0xA9BE7BFDu); /* stp x29, x30, [sp, -32]! */
    lark_asm_row(a, (jsprof_code_row){ .cfa = 32, .ra_at = -24, .fp_at = -32 });
    lark_asm_u32(a, 0x910003FDu); /* mov x29, sp */
    lark_asm_row(
        a, (jsprof_code_row){ .cfa = 32, .ra_at = -24, .fp_at = -32, .from_fp = 1 });
    lark_asm_u32(a, 0xA90153F3u); /* stp x19, x20, [sp, 16] */
    arm_three(a, 0xAA000000u, 20, ARM_ZERO, 0); /* mov x20, x0 */
    arm_three(a, 0xAA000000u, 19, ARM_ZERO, 1);
    lark_asm_u32(a, 0xD61F0000u | 2 << 5); /* br x2 */
}

void lark_asm_leave(struct lark_asm *a)
{
    arm_three(a, 0xAA000000u, 0, ARM_ZERO, arm_regs[LARK_A]);
    lark_asm_u32(a, 0xA94153F3u); /* ldp x19, x20, [sp, 16] */
    lark_asm_u32(a, 0xA8C27BFDu); /* ldp x29, x30, [sp], 32 */
    lark_asm_row(a, (jsprof_code_row){ 0 });
    lark_asm_u32(a, 0xD65F03C0u); /* ret */
}

void lark_asm_load(struct lark_asm *a, enum lark_reg to, struct lark_mem from)
{
    arm_mem(a, 0xF9400000u | 8, arm_regs[to], from);
}

void lark_asm_load32(struct lark_asm *a, enum lark_reg to, struct lark_mem from)
{
    arm_mem(a, 0xB9400000u | 4, arm_regs[to], from);
}

void lark_asm_store(struct lark_asm *a, struct lark_mem to, enum lark_reg from)
{
    arm_mem(a, 0xF9000000u | 8, arm_regs[from], to);
}

void lark_asm_store32(struct lark_asm *a, struct lark_mem to, enum lark_reg from)
{
    arm_mem(a, 0xB9000000u | 4, arm_regs[from], to);
}

void lark_asm_copy16(struct lark_asm *a, struct lark_mem to, struct lark_mem from)
{
    arm_mem(a, 0x3DC00000u | 16, 0, from); /* ldr q0 */
    arm_mem(a, 0x3D800000u | 16, 0, to);
}

void lark_asm_imm(struct lark_asm *a, enum lark_reg to, uint64_t value)
{
    arm_imm(a, arm_regs[to], value);
}

void lark_asm_arith(struct lark_asm *a, enum lark_arith op)
{
    static const uint32_t words[LARK_ARITHS] = {
        [LARK_ARITH_ADD] = 0x8B000000u, [LARK_ARITH_SUB] = 0xCB000000u,
        [LARK_ARITH_MUL] = 0x9B007C00u, [LARK_ARITH_AND] = 0x8A000000u,
        [LARK_ARITH_OR] = 0xAA000000u,  [LARK_ARITH_XOR] = 0xCA000000u,
        [LARK_ARITH_SHL] = 0x9AC02000u, [LARK_ARITH_SHR] = 0x9AC02800u,
    };
    arm_three(a, words[op], arm_regs[LARK_A], arm_regs[LARK_A], arm_regs[LARK_B]);
}

void lark_asm_add16(struct lark_asm *a, enum lark_reg to, enum lark_reg by)
{
    arm_three(a, 0x8B000000u | 4 << 10, arm_regs[to], arm_regs[to], arm_regs[by]);
}

void lark_asm_compare(struct lark_asm *a, enum lark_reg x, enum lark_reg y)
{
    arm_three(a, 0xEB000000u, ARM_ZERO, arm_regs[x], arm_regs[y]); /* subs xzr */
}

void lark_asm_compare_imm(struct lark_asm *a, enum lark_reg x, uint32_t below_4096)
{
    lark_asm_u32(a, 0xF100001Fu | below_4096 << 10 | (uint32_t)arm_regs[x] << 5);
}

void lark_asm_set(struct lark_asm *a, enum lark_cond cond)
{
    uint32_t inverse = arm_conds[cond] ^ 1u;
    lark_asm_u32(a, 0x9A9F07E0u | inverse << 12 | arm_regs[LARK_A]); /* cset */
}

void lark_asm_fload(struct lark_asm *a, enum lark_freg to, struct lark_mem from)
{
    arm_mem(a, 0xFD400000u | 8, to, from);
}

void lark_asm_fstore(struct lark_asm *a, struct lark_mem to, enum lark_freg from)
{
    arm_mem(a, 0xFD000000u | 8, from, to);
}

void lark_asm_farith(struct lark_asm *a, enum lark_farith op)
{
    static const uint32_t words[] = {
        [LARK_FADD] = 0x1E602800u, [LARK_FSUB] = 0x1E603800u,
        [LARK_FMUL] = 0x1E600800u, [LARK_FDIV] = 0x1E601800u,
    };
    arm_three(a, words[op], LARK_X, LARK_X, LARK_Y);
}

void lark_asm_fcompare(struct lark_asm *a, enum lark_freg x, enum lark_freg y)
{
    arm_three(a, 0x1E602000u, 0, x, y);
}

void lark_asm_jump(struct lark_asm *a, uint32_t label)
{
    lark_asm_fix(a, a->n, label);
    lark_asm_u32(a, 0x14000000u);
}

void lark_asm_jump_if(struct lark_asm *a, enum lark_cond cond, uint32_t label)
{
    lark_asm_fix(a, a->n, label);
    lark_asm_u32(a, 0x54000000u | arm_conds[cond]);
}

void lark_asm_call(struct lark_asm *a, const struct lark_asm_call *call)
{
    arm_three(a, 0xAA000000u, 0, ARM_ZERO, arm_regs[LARK_VM]);
    arm_imm(a, 1, call->argument);
    arm_imm(a, ARM_FAR_TOO, (uint64_t)(int64_t)call->mem.offset);
    arm_three(a, 0x8B000000u, 2, arm_regs[call->mem.base], ARM_FAR_TOO);
    arm_imm(a, ARM_FAR, call->function);
    lark_asm_u32(a, 0xD63F0000u | ARM_FAR << 5); /* blr */
    lark_asm_u32(a, 0x12001C00u | arm_regs[LARK_A]); /* and w9, w0, 255 */
}

/* The distance counts words from the jump itself. */
void lark_asm_patch(uint8_t *bytes, uint32_t at, uint32_t to)
{
    uint32_t word, distance = (to - at) / 4;
    memcpy(&word, bytes + at, sizeof(word));
    if (word >> 26 == 5)
        word |= distance & 0x3FFFFFF;
    else
        word |= (distance & 0x7FFFF) << 5;
    memcpy(bytes + at, &word, sizeof(word));
}

#endif
