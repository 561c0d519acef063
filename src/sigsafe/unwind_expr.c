/* sigsafe/unwind_expr.c - see unwind_expr.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "unwind_expr.h"

#include "cursor.h"

enum { EXPR_DEPTH = 16, EXPR_STEPS = 64 };

enum { /* the operations DW_OP_* */
    OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONST8S = 0x0F, OP_CONSTU, OP_CONSTS, OP_DUP,
    OP_DROP, OP_OVER, OP_PICK, OP_SWAP, OP_ROT, OP_ABS = 0x19, OP_AND, OP_DIV, OP_MINUS,
    OP_MOD, OP_MUL, OP_NEG, OP_NOT, OP_OR, OP_PLUS, OP_PLUS_UCONST, OP_SHL, OP_SHR,
    OP_SHRA, OP_XOR, OP_BRA, OP_EQ, OP_GE, OP_GT, OP_LE, OP_LT, OP_NE, OP_SKIP,
    OP_LIT0 = 0x30, OP_LIT31 = 0x4F, OP_BREG0 = 0x70, OP_BREG31 = 0x8F, OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94, OP_NOP = 0x96,
};

struct expr {
    const struct jsp_unwind_env *env;
    struct jsp_cursor c;
    uint64_t stack[EXPR_DEPTH];
    uint32_t depth;
    bool bad;
};

bool jsp_unwind_reg(const struct jsp_unwind_env *env, uint32_t reg, uint64_t *value)
{
    if (reg == JSP_REG_SP)
        *value = env->at.sp;
    else if (reg == JSP_REG_FP)
        *value = env->at.fp;
    else if (reg == JSP_REG_EXTRA)
        *value = env->at.extra;
    else if (reg == JSP_REG_RA)
        *value = env->at.pc;
    else if (env->regs && reg < JSP_N_REGS)
        *value = jsp_regs_get(env->regs, reg);
    else
        return false;
    return true;
}

static void expr_push(struct expr *e, uint64_t value)
{
    if (e->depth < EXPR_DEPTH)
        e->stack[e->depth++] = value;
    else
        e->bad = true;
}

static uint64_t expr_pop(struct expr *e)
{
    if (e->depth)
        return e->stack[--e->depth];
    e->bad = true;
    return 0;
}

/* Return the value `deep` places below the top. */
static uint64_t expr_peek(struct expr *e, uint32_t deep)
{
    if (deep < e->depth)
        return e->stack[e->depth - 1 - deep];
    e->bad = true;
    return 0;
}

static void expr_deref(struct expr *e, uint32_t bytes)
{
    uint64_t value = 0;
    if (bytes > 8 || !jsp_memread_word(e->env->mem, expr_pop(e), &value))
        e->bad = true;
    expr_push(e, bytes < 8 ? value & (((uint64_t)1 << bytes * 8) - 1) : value);
}

static void expr_breg(struct expr *e, uint32_t reg)
{
    uint64_t value = 0;
    if (!jsp_unwind_reg(e->env, reg, &value))
        e->bad = true;
    expr_push(e, value + (uint64_t)jsp_cursor_sleb(&e->c));
}

static void expr_jump(struct expr *e, bool taken)
{
    int16_t by = (int16_t)jsp_cursor_bytes(&e->c, 2);
    if (!taken)
        return;
    if (by < 0)
        e->bad = true; /* a jump backwards is a loop, which no unwind rule needs */
    else
        jsp_cursor_skip(&e->c, (uint64_t)by);
}

/* Push a constant of 1, 2, 4 or 8 bytes; the opcodes alternate between unsigned and
 * signed. */
static void expr_const(struct expr *e, uint8_t op)
{
    uint32_t bytes = 1u << ((op - OP_CONST1U) / 2);
    uint32_t unused = 64 - bytes * 8;
    uint64_t value = jsp_cursor_bytes(&e->c, bytes) << unused;
    bool is_signed = (op - OP_CONST1U) & 1;
    expr_push(e, is_signed ? (uint64_t)((int64_t)value >> unused) : value >> unused);
}

/* Combine two values into one. Return false if op is none of these. */
static bool expr_binary(struct expr *e, uint8_t op)
{
    bool is_one = (op >= OP_AND && op <= OP_XOR) || (op >= OP_EQ && op <= OP_NE);
    if (!is_one || op == OP_NEG || op == OP_NOT || op == OP_PLUS_UCONST || op == OP_BRA)
        return false;
    uint64_t b = expr_pop(e), a = expr_pop(e), v = 0;
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op) {
    case OP_AND: v = a & b; break;
    case OP_MINUS: v = a - b; break;
    case OP_MUL: v = a * b; break;
    case OP_OR: v = a | b; break;
    case OP_PLUS: v = a + b; break;
    case OP_SHL: v = b < 64 ? a << b : 0; break;
    case OP_SHR: v = b < 64 ? a >> b : 0; break;
    case OP_SHRA: v = (uint64_t)(sa >> (b < 64 ? b : 63)); break;
    case OP_XOR: v = a ^ b; break;
    case OP_EQ: v = a == b; break;
    case OP_GE: v = sa >= sb; break;
    case OP_GT: v = sa > sb; break;
    case OP_LE: v = sa <= sb; break;
    case OP_LT: v = sa < sb; break;
    case OP_NE: v = a != b; break;
    default: e->bad = true; /* division: no known unwind rule uses it */
    }
    expr_push(e, v);
    return true;
}

static void expr_step(struct expr *e)
{
    uint8_t op = jsp_cursor_u8(&e->c);
    if (expr_binary(e, op))
        return;
    if (op >= OP_LIT0 && op <= OP_LIT31) {
        expr_push(e, op - OP_LIT0);
    } else if (op >= OP_BREG0 && op <= OP_BREG31) {
        expr_breg(e, op - OP_BREG0);
    } else if (op >= OP_CONST1U && op <= OP_CONST8S) {
        expr_const(e, op);
    } else {
        switch (op) {
        case OP_BREGX: expr_breg(e, (uint32_t)jsp_cursor_uleb(&e->c)); break;
        case OP_CONSTU: expr_push(e, jsp_cursor_uleb(&e->c)); break;
        case OP_CONSTS: expr_push(e, (uint64_t)jsp_cursor_sleb(&e->c)); break;
        case OP_DEREF: expr_deref(e, 8); break;
        case OP_DEREF_SIZE: expr_deref(e, (uint32_t)jsp_cursor_bytes(&e->c, 1)); break;
        case OP_DUP: expr_push(e, expr_peek(e, 0)); break;
        case OP_DROP: expr_pop(e); break;
        case OP_OVER: expr_push(e, expr_peek(e, 1)); break;
        case OP_PICK: expr_push(e, expr_peek(e, (uint32_t)jsp_cursor_bytes(&e->c, 1))); break;
        case OP_NEG: expr_push(e, 0 - expr_pop(e)); break;
        case OP_NOT: expr_push(e, ~expr_pop(e)); break;
        case OP_PLUS_UCONST: expr_push(e, expr_pop(e) + jsp_cursor_uleb(&e->c)); break;
        case OP_BRA: expr_jump(e, expr_pop(e) != 0); break;
        case OP_SKIP: expr_jump(e, true); break;
        case OP_NOP: break;
        default: e->bad = true;
        }
    }
}

bool jsp_unwind_expr(const struct jsp_unwind_env *env, const uint8_t *code, uint32_t n,
                     uint64_t first, uint64_t *result)
{
    struct expr e = { .env = env, .c = { code, code + n, false }, .stack = { first }, .depth = 1 };
    for (int step = 0; e.c.at < e.c.end; step++) {
        if (step == EXPR_STEPS || e.bad)
            return false;
        expr_step(&e);
    }
    uint64_t value = expr_pop(&e);
    if (e.bad || e.c.bad)
        return false;
    *result = value;
    return true;
}
