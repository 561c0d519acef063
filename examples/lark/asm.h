/* asm.h - the few machine instructions that native code is made of, for two machines.
 *
 * asm.c keeps bytes and labels; asm_x86_64.c and asm_aarch64.c encode. Code is made
 * in a plain buffer and may be copied anywhere: jumps are relative, calls absolute.
 *
 * A, B and C are scratch registers, and so are the floating point ones, X and Y.
 * SLOTS and VM live as long as the frame does.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_ASM_H
#define LARK_ASM_H

#include <jsprof.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lark_reg { LARK_A, LARK_B, LARK_C, LARK_SLOTS, LARK_VM, LARK_REGS };
enum lark_freg { LARK_X, LARK_Y };

enum lark_cond {
    LARK_IF_EQ,
    LARK_IF_NE,
    LARK_IF_LT, /* signed */
    LARK_IF_LE,
    LARK_IF_GT,
    LARK_IF_GE,
    LARK_IF_ABOVE_EQ, /* unsigned */
    LARK_IF_MORE,     /* of doubles: false for a NaN */
    LARK_IF_MORE_EQ,
    LARK_CONDS,
};

enum lark_arith {
    LARK_ARITH_ADD,
    LARK_ARITH_SUB,
    LARK_ARITH_MUL,
    LARK_ARITH_AND,
    LARK_ARITH_OR,
    LARK_ARITH_XOR,
    LARK_ARITH_SHL,
    LARK_ARITH_SHR, /* keeps the sign */
    LARK_ARITHS,
};

enum lark_farith { LARK_FADD, LARK_FSUB, LARK_FMUL, LARK_FDIV };

/* A place in memory. */
struct lark_mem {
    enum lark_reg base;
    int32_t offset;
};

/* A jump whose distance is not known yet. */
struct lark_fix {
    uint32_t at; /* offset of the bytes to change */
    uint32_t label;
};

enum { LARK_NO_PLACE = -1, LARK_ASM_ROWS = 4 };

struct lark_asm {
    uint8_t *bytes; /* owned, like the arrays below */
    uint32_t n, capacity;
    int32_t *labels; /* the offset of each label, or LARK_NO_PLACE */
    uint32_t n_labels, labels_capacity;
    struct lark_fix *fixes;
    uint32_t n_fixes, fixes_capacity;
    jsprof_code_row rows[LARK_ASM_ROWS]; /* how to unwind, filled by enter and leave */
    uint32_t n_rows;
};

/* -- asm.c -- */

uint32_t lark_asm_label(struct lark_asm *a);
void lark_asm_bind(struct lark_asm *a, uint32_t label); /* place the label here */
void lark_asm_bytes(struct lark_asm *a, const void *bytes, size_t n);
void lark_asm_u32(struct lark_asm *a, uint32_t word);

/* Record that the bytes before here hold a jump to this label. */
void lark_asm_fix(struct lark_asm *a, uint32_t at, uint32_t label);

/* Record how the stack is unwound after the bytes so far. */
void lark_asm_row(struct lark_asm *a, jsprof_code_row row);

/* Write the distances of all jumps. */
void lark_asm_link(struct lark_asm *a);
void lark_asm_free(struct lark_asm *a);

/* -- one file a machine -- */

/* Emit the beginning of a native function (vm, slots, where to continue), and its end,
 * which returns A. */
void lark_asm_enter(struct lark_asm *a);
void lark_asm_leave(struct lark_asm *a);

void lark_asm_load(struct lark_asm *a, enum lark_reg to, struct lark_mem from);
void lark_asm_load32(struct lark_asm *a, enum lark_reg to, struct lark_mem from);
void lark_asm_store(struct lark_asm *a, struct lark_mem to, enum lark_reg from);
void lark_asm_store32(struct lark_asm *a, struct lark_mem to, enum lark_reg from);
void lark_asm_copy16(struct lark_asm *a, struct lark_mem to, struct lark_mem from);
void lark_asm_imm(struct lark_asm *a, enum lark_reg to, uint64_t value);

/* A = A op B */
void lark_asm_arith(struct lark_asm *a, enum lark_arith op);

/* Emit to += 16 * by; this may destroy `by`. */
void lark_asm_add16(struct lark_asm *a, enum lark_reg to, enum lark_reg by);

void lark_asm_compare(struct lark_asm *a, enum lark_reg x, enum lark_reg y);
void lark_asm_compare_imm(struct lark_asm *a, enum lark_reg x, uint32_t below_4096);

/* A = 1 if the comparison holds, else 0. */
void lark_asm_set(struct lark_asm *a, enum lark_cond cond);

void lark_asm_fload(struct lark_asm *a, enum lark_freg to, struct lark_mem from);
void lark_asm_fstore(struct lark_asm *a, struct lark_mem to, enum lark_freg from);

/* X = X op Y */
void lark_asm_farith(struct lark_asm *a, enum lark_farith op);
void lark_asm_fcompare(struct lark_asm *a, enum lark_freg x, enum lark_freg y);

void lark_asm_jump(struct lark_asm *a, uint32_t label);
void lark_asm_jump_if(struct lark_asm *a, enum lark_cond cond, uint32_t label);

/* Emit function(VM, argument, address of mem). A gets the low byte of the result,
 * widened. */
struct lark_asm_call {
    uint64_t function;
    uint64_t argument;
    struct lark_mem mem;
};
void lark_asm_call(struct lark_asm *a, const struct lark_asm_call *call);

/* Change the jump at `at` so that it goes to `to`; both are offsets. */
void lark_asm_patch(uint8_t *bytes, uint32_t at, uint32_t to);

#endif
