/* asm_x86_64.c - the instructions of asm.h for x86-64.
 *
 * SPDX-License-Identifier: MIT
 */
#include "asm.h"

#include <string.h>

#ifdef __x86_64__

enum {
    X86_RAX = 0,
    X86_RCX = 1,
    X86_RDX = 2,
    X86_RBX = 3,
    X86_RSI = 6,
    X86_RDI = 7,
    X86_R14 = 14,
    X86_WIDE = 8, /* bit W of the REX prefix */
};

/* Each has the usual encoding as a base, unlike rsp, rbp, r12 and r13. */
static const uint8_t x86_regs[LARK_REGS] = { X86_RAX, X86_RCX, X86_RDX, X86_RBX,
                                             X86_R14 };

static const uint8_t x86_conds[LARK_CONDS] = {
    [LARK_IF_EQ] = 0x4,    [LARK_IF_NE] = 0x5,       [LARK_IF_LT] = 0xC,
    [LARK_IF_LE] = 0xE,    [LARK_IF_GT] = 0xF,       [LARK_IF_GE] = 0xD,
    [LARK_IF_ABOVE_EQ] = 0x3, [LARK_IF_MORE] = 0x7, [LARK_IF_MORE_EQ] = 0x3,
};

static void x86_byte(struct lark_asm *a, unsigned byte)
{
    uint8_t b = (uint8_t)byte;
    lark_asm_bytes(a, &b, 1);
}

/* Emit REX if a register needs it. */
static void x86_rex(struct lark_asm *a, unsigned wide, unsigned reg, unsigned rm)
{
    unsigned rex = wide | (reg >> 3) << 2 | rm >> 3;
    if (rex)
        x86_byte(a, 0x40 | rex);
}

/* Emit an instruction of one opcode byte with a register and memory. */
static void x86_mem(struct lark_asm *a, unsigned opcode_wide, unsigned reg,
                    struct lark_mem m)
{
    unsigned base = x86_regs[m.base];
    x86_rex(a, opcode_wide >> 8, reg, base);
    x86_byte(a, opcode_wide & 0xFF);
    x86_byte(a, 0x80 | (reg & 7) << 3 | (base & 7));
    lark_asm_u32(a, (uint32_t)m.offset);
}

/* Emit the same for 0F opcodes, with a prefix byte or 0. */
static void x86_mem_0f(struct lark_asm *a, unsigned prefix_opcode, unsigned reg,
                       struct lark_mem m)
{
    unsigned base = x86_regs[m.base];
    if (prefix_opcode >> 8)
        x86_byte(a, prefix_opcode >> 8);
    x86_rex(a, 0, reg, base);
    x86_byte(a, 0x0F);
    x86_byte(a, prefix_opcode & 0xFF);
    x86_byte(a, 0x80 | (reg & 7) << 3 | (base & 7));
    lark_asm_u32(a, (uint32_t)m.offset);
}

/* Emit one with two registers, 64 bits: rm is the first operand. */
static void x86_pair(struct lark_asm *a, unsigned opcode, unsigned rm, unsigned reg)
{
    x86_rex(a, X86_WIDE, reg, rm);
    x86_byte(a, opcode);
    x86_byte(a, 0xC0 | (reg & 7) << 3 | (rm & 7));
}

enum { X86_W = X86_WIDE << 8 }; /* beside an opcode: 64 bits */

void lark_asm_enter(struct lark_asm *a)
{
    lark_asm_row(a, (jsprof_code_row){ .cfa = 8, .ra_at = -8 });
    x86_byte(a, 0x55); /* push rbp */
    lark_asm_row(a, (jsprof_code_row){ .cfa = 16, .ra_at = -8, .fp_at = -16 });
    x86_pair(a, 0x89, 5, 4); /* mov rbp, rsp */
    lark_asm_row(
        a, (jsprof_code_row){ .cfa = 16, .ra_at = -8, .fp_at = -16, .from_fp = 1 });
    x86_byte(a, 0x53); /* push rbx */
    x86_byte(a, 0x41); /* push r14 */
    x86_byte(a, 0x56);
    x86_pair(a, 0x89, X86_R14, X86_RDI);
    x86_pair(a, 0x89, X86_RBX, X86_RSI);
    x86_byte(a, 0xFF); /* jmp rdx */
    x86_byte(a, 0xE2);
}

void lark_asm_leave(struct lark_asm *a)
{
    x86_byte(a, 0x41); /* pop r14 */
    x86_byte(a, 0x5E);
    x86_byte(a, 0x5B); /* pop rbx */
    x86_byte(a, 0x5D); /* pop rbp */
    lark_asm_row(a, (jsprof_code_row){ .cfa = 8, .ra_at = -8 });
    x86_byte(a, 0xC3); /* ret */
}

void lark_asm_load(struct lark_asm *a, enum lark_reg to, struct lark_mem from)
{
    x86_mem(a, 0x8B | X86_W, x86_regs[to], from);
}

void lark_asm_load32(struct lark_asm *a, enum lark_reg to, struct lark_mem from)
{
    x86_mem(a, 0x8B, x86_regs[to], from);
}

void lark_asm_store(struct lark_asm *a, struct lark_mem to, enum lark_reg from)
{
    x86_mem(a, 0x89 | X86_W, x86_regs[from], to);
}

void lark_asm_store32(struct lark_asm *a, struct lark_mem to, enum lark_reg from)
{
    x86_mem(a, 0x89, x86_regs[from], to);
}

void lark_asm_copy16(struct lark_asm *a, struct lark_mem to, struct lark_mem from)
{
    x86_mem_0f(a, 0x10, 0, from); /* movups xmm0 */
    x86_mem_0f(a, 0x11, 0, to);
}

static void x86_imm(struct lark_asm *a, unsigned reg, uint64_t value)
{
    x86_rex(a, value > UINT32_MAX ? X86_WIDE : 0, 0, reg);
    x86_byte(a, 0xB8 | (reg & 7));
    lark_asm_bytes(a, &value, value > UINT32_MAX ? 8 : 4);
}

void lark_asm_imm(struct lark_asm *a, enum lark_reg to, uint64_t value)
{
    x86_imm(a, x86_regs[to], value);
}

void lark_asm_arith(struct lark_asm *a, enum lark_arith op)
{
    static const uint8_t opcodes[LARK_ARITHS] = {
        [LARK_ARITH_ADD] = 0x01, [LARK_ARITH_SUB] = 0x29, [LARK_ARITH_AND] = 0x21,
        [LARK_ARITH_OR] = 0x09,  [LARK_ARITH_XOR] = 0x31,
    };
    if (op == LARK_ARITH_MUL) {
        static const uint8_t imul[] = { 0x48, 0x0F, 0xAF, 0xC1 }; /* rax, rcx */
        lark_asm_bytes(a, imul, sizeof(imul));
    } else if (op == LARK_ARITH_SHL) {
        x86_pair(a, 0xD3, X86_RAX, 4); /* by cl */
    } else if (op == LARK_ARITH_SHR) {
        x86_pair(a, 0xD3, X86_RAX, 7);
    } else {
        x86_pair(a, opcodes[op], X86_RAX, X86_RCX);
    }
}

void lark_asm_add16(struct lark_asm *a, enum lark_reg to, enum lark_reg by)
{
    x86_pair(a, 0xC1, x86_regs[by], 4); /* shl by, 4 */
    x86_byte(a, 4);
    x86_pair(a, 0x01, x86_regs[to], x86_regs[by]);
}

void lark_asm_compare(struct lark_asm *a, enum lark_reg x, enum lark_reg y)
{
    x86_pair(a, 0x39, x86_regs[x], x86_regs[y]);
}

void lark_asm_compare_imm(struct lark_asm *a, enum lark_reg x, uint32_t below_4096)
{
    x86_pair(a, 0x81, x86_regs[x], 7);
    lark_asm_u32(a, below_4096);
}

static void x86_widen_al(struct lark_asm *a)
{
    static const uint8_t movzx[] = { 0x0F, 0xB6, 0xC0 };
    lark_asm_bytes(a, movzx, sizeof(movzx));
}

void lark_asm_set(struct lark_asm *a, enum lark_cond cond)
{
    x86_byte(a, 0x0F);
    x86_byte(a, 0x90u | x86_conds[cond]);
    x86_byte(a, 0xC0);
    x86_widen_al(a);
}

void lark_asm_fload(struct lark_asm *a, enum lark_freg to, struct lark_mem from)
{
    x86_mem_0f(a, 0xF210, to, from);
}

void lark_asm_fstore(struct lark_asm *a, struct lark_mem to, enum lark_freg from)
{
    x86_mem_0f(a, 0xF211, from, to);
}

void lark_asm_farith(struct lark_asm *a, enum lark_farith op)
{
    static const uint8_t opcodes[] = {
        [LARK_FADD] = 0x58, [LARK_FSUB] = 0x5C, [LARK_FMUL] = 0x59, [LARK_FDIV] = 0x5E,
    };
    uint8_t bytes[] = { 0xF2, 0x0F, opcodes[op], 0xC1 }; /* xmm0, xmm1 */
    lark_asm_bytes(a, bytes, sizeof(bytes));
}

void lark_asm_fcompare(struct lark_asm *a, enum lark_freg x, enum lark_freg y)
{
    uint8_t bytes[] = { 0x66, 0x0F, 0x2E, (uint8_t)(0xC0u | (unsigned)x << 3 | y) };
    lark_asm_bytes(a, bytes, sizeof(bytes));
}

void lark_asm_jump(struct lark_asm *a, uint32_t label)
{
    x86_byte(a, 0xE9);
    lark_asm_fix(a, a->n, label);
    lark_asm_u32(a, 0);
}

void lark_asm_jump_if(struct lark_asm *a, enum lark_cond cond, uint32_t label)
{
    x86_byte(a, 0x0F);
    x86_byte(a, 0x80u | x86_conds[cond]);
    lark_asm_fix(a, a->n, label);
    lark_asm_u32(a, 0);
}

void lark_asm_call(struct lark_asm *a, const struct lark_asm_call *call)
{
    x86_pair(a, 0x89, X86_RDI, X86_R14);
    x86_imm(a, X86_RSI, call->argument);
    x86_mem(a, 0x8D | X86_W, X86_RDX, call->mem); /* lea */
    x86_imm(a, X86_RAX, call->function);
    x86_byte(a, 0xFF); /* call rax */
    x86_byte(a, 0xD0);
    x86_widen_al(a);
}

/* The distance counts from the end of its own four bytes. */
void lark_asm_patch(uint8_t *bytes, uint32_t at, uint32_t to)
{
    uint32_t distance = to - (at + 4);
    memcpy(bytes + at, &distance, sizeof(distance));
}

#endif
