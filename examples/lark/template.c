/* template.c - from a function's operations to native code.
 *
 * Locals and operands stay where the interpreter has them, so either may take over from
 * the other between two operations. Common cases for integers and doubles are inline
 * code; the functions of operate.h do the rest.
 *
 * SPDX-License-Identifier: MIT
 */
#include "template.h"

#include "heap.h"
#include "operate.h"

#include <stdlib.h>

void lark_template_free(struct lark_template *t)
{
    lark_asm_free(&t->code);
    free(t->lines);
    free(t->entries);
    free(t->pcs);
}

#if defined(__x86_64__) || defined(__aarch64__)

/* One function in progress. The label of operation i is i. */
struct template {
    struct lark_template *out;
    struct lark_asm *a;
    const struct lark_function *f;
    const struct lark_op *op;
    uint32_t leave; /* label: return A */
    uint32_t fail;  /* label: return 0 */
};

static struct lark_mem template_slot(uint32_t slot, size_t offset)
{
    size_t at = slot * sizeof(struct lark_value) + offset;
    return (struct lark_mem){ LARK_SLOTS, (int32_t)at };
}

/* Return the operand that is `above` places above the lowest operand of the operation. */
static struct lark_mem template_operand(const struct template *t, int above,
                                        size_t offset)
{
    uint32_t depth = (uint32_t)(t->op->depth + above);
    return template_slot(t->f->n_locals + depth, offset);
}

static struct lark_mem template_type(const struct template *t, int above)
{
    return template_operand(t, above, offsetof(struct lark_value, type));
}

static struct lark_mem template_as(const struct template *t, int above)
{
    return template_operand(t, above, offsetof(struct lark_value, as));
}

static void template_unless_type(struct template *t, int above, enum lark_type type,
                                 uint32_t label)
{
    lark_asm_load32(t->a, LARK_A, template_type(t, above));
    lark_asm_compare_imm(t->a, LARK_A, type);
    lark_asm_jump_if(t->a, LARK_IF_NE, label);
}

static void template_set_type(struct template *t, int above, enum lark_type type)
{
    lark_asm_imm(t->a, LARK_B, type);
    lark_asm_store32(t->a, template_type(t, above), LARK_B);
}

/* Call a function of operate.h for it. */
static void template_operate(struct template *t, lark_operate_fn function)
{
    struct lark_asm_call call = {
        .function = (uintptr_t)function,
        .argument = (uintptr_t)t->op,
        .mem = template_operand(t, 0, 0),
    };
    lark_asm_call(t->a, &call);
    lark_asm_compare_imm(t->a, LARK_A, 0);
    lark_asm_jump_if(t->a, LARK_IF_EQ, t->fail);
}

static void template_const(struct template *t)
{
    const struct lark_value *v = &t->f->consts[t->op->arg];
    lark_asm_imm(t->a, LARK_A, (uint64_t)v->as.i);
    lark_asm_store(t->a, template_as(t, 0), LARK_A);
    template_set_type(t, 0, (enum lark_type)v->type);
}

/* Global variables move while a script is compiled, but not while it runs. */
static void template_global(struct template *t, bool load)
{
    struct lark_mem global = { LARK_A, t->op->arg * (int32_t)sizeof(struct lark_value) };
    lark_asm_load(t->a, LARK_A,
                  (struct lark_mem){ LARK_VM, (int32_t)offsetof(struct lark, globals) });
    if (load)
        lark_asm_copy16(t->a, template_operand(t, 0, 0), global);
    else
        lark_asm_copy16(t->a, global, template_operand(t, -1, 0));
}

/* Load the two operands into A and B, or into X and Y. */
static void template_load_ints(struct template *t)
{
    lark_asm_load(t->a, LARK_A, template_as(t, -2));
    lark_asm_load(t->a, LARK_B, template_as(t, -1));
}

static void template_load_doubles(struct template *t)
{
    lark_asm_fload(t->a, LARK_X, template_as(t, -2));
    lark_asm_fload(t->a, LARK_Y, template_as(t, -1));
}

static int template_arith(uint8_t code)
{
    switch (code) {
    case LARK_ADD: return LARK_ARITH_ADD;
    case LARK_SUB: return LARK_ARITH_SUB;
    case LARK_MUL: return LARK_ARITH_MUL;
    case LARK_BITAND: return LARK_ARITH_AND;
    case LARK_BITOR: return LARK_ARITH_OR;
    case LARK_BITXOR: return LARK_ARITH_XOR;
    case LARK_SHL: return LARK_ARITH_SHL;
    case LARK_SHR: return LARK_ARITH_SHR;
    default: return -1; /* DIV and MOD: division by zero is an error */
    }
}

static int template_farith(uint8_t code)
{
    switch (code) {
    case LARK_ADD: return LARK_FADD;
    case LARK_SUB: return LARK_FSUB;
    case LARK_MUL: return LARK_FMUL;
    case LARK_DIV: return LARK_FDIV;
    default: return -1;
    }
}

static void template_binary(struct template *t)
{
    struct lark_asm *a = t->a;
    uint32_t not_ints = lark_asm_label(a), slow = lark_asm_label(a),
             done = lark_asm_label(a);
    int arith = template_arith(t->op->code), farith = template_farith(t->op->code);
    if (arith >= 0) {
        template_unless_type(t, -2, LARK_INT, not_ints);
        template_unless_type(t, -1, LARK_INT, slow);
        template_load_ints(t);
        lark_asm_arith(a, (enum lark_arith)arith);
        lark_asm_store(a, template_as(t, -2), LARK_A);
        lark_asm_jump(a, done);
    }
    lark_asm_bind(a, not_ints);
    if (farith >= 0) {
        template_unless_type(t, -2, LARK_DOUBLE, slow);
        template_unless_type(t, -1, LARK_DOUBLE, slow);
        template_load_doubles(t);
        lark_asm_farith(a, (enum lark_farith)farith);
        lark_asm_fstore(a, template_as(t, -2), LARK_X);
        lark_asm_jump(a, done);
    }
    lark_asm_bind(a, slow);
    template_operate(t, lark_operate_binary);
    lark_asm_bind(a, done);
}

static enum lark_cond template_cond(uint8_t code)
{
    static const enum lark_cond conds[] = {
        [LARK_EQ - LARK_EQ] = LARK_IF_EQ, [LARK_NE - LARK_EQ] = LARK_IF_NE,
        [LARK_LT - LARK_EQ] = LARK_IF_LT, [LARK_LE - LARK_EQ] = LARK_IF_LE,
        [LARK_GT - LARK_EQ] = LARK_IF_GT, [LARK_GE - LARK_EQ] = LARK_IF_GE,
    };
    return conds[code - LARK_EQ];
}

/* x86-64 has no "less" that is false for a NaN, so < and <= swap their operands. */
static void template_compare_doubles(struct template *t)
{
    uint8_t code = t->op->code;
    bool turned = code == LARK_LT || code == LARK_LE;
    bool strict = code == LARK_LT || code == LARK_GT;
    template_load_doubles(t);
    lark_asm_fcompare(t->a, turned ? LARK_Y : LARK_X, turned ? LARK_X : LARK_Y);
    lark_asm_set(t->a, strict ? LARK_IF_MORE : LARK_IF_MORE_EQ);
}

static void template_compare(struct template *t)
{
    struct lark_asm *a = t->a;
    uint32_t not_ints = lark_asm_label(a), slow = lark_asm_label(a);
    uint32_t store = lark_asm_label(a), done = lark_asm_label(a);
    template_unless_type(t, -2, LARK_INT, not_ints);
    template_unless_type(t, -1, LARK_INT, slow);
    template_load_ints(t);
    lark_asm_compare(a, LARK_A, LARK_B);
    lark_asm_set(a, template_cond(t->op->code));
    lark_asm_jump(a, store);
    lark_asm_bind(a, not_ints);
    if (t->op->code >= LARK_LT) {
        template_unless_type(t, -2, LARK_DOUBLE, slow);
        template_unless_type(t, -1, LARK_DOUBLE, slow);
        template_compare_doubles(t);
        lark_asm_jump(a, store);
    }
    lark_asm_bind(a, slow);
    template_operate(t, lark_operate_compare);
    lark_asm_jump(a, done);
    lark_asm_bind(a, store);
    lark_asm_store(a, template_as(t, -2), LARK_A);
    template_set_type(t, -2, LARK_BOOL);
    lark_asm_bind(a, done);
}

/* Jump to `label` if the topmost operand is true, or if it is false; else continue. */
static void template_test(struct template *t, bool when, uint32_t label)
{
    struct lark_asm *a = t->a;
    uint32_t otherwise = lark_asm_label(a);
    lark_asm_load32(a, LARK_A, template_type(t, -1));
    lark_asm_compare_imm(a, LARK_A, LARK_BOOL);
    lark_asm_jump_if(a, LARK_IF_GT, when ? label : otherwise);
    lark_asm_jump_if(a, LARK_IF_LT, when ? otherwise : label);
    lark_asm_load(a, LARK_A, template_as(t, -1));
    lark_asm_compare_imm(a, LARK_A, 0);
    lark_asm_jump_if(a, when ? LARK_IF_NE : LARK_IF_EQ, label);
    lark_asm_bind(a, otherwise);
}

static void template_not(struct template *t)
{
    struct lark_asm *a = t->a;
    uint32_t store = lark_asm_label(a), is_false = lark_asm_label(a);
    template_test(t, false, is_false);
    lark_asm_imm(a, LARK_A, 0);
    lark_asm_jump(a, store);
    lark_asm_bind(a, is_false);
    lark_asm_imm(a, LARK_A, 1);
    lark_asm_bind(a, store);
    lark_asm_store(a, template_as(t, -1), LARK_A);
    template_set_type(t, -1, LARK_BOOL);
}

/* Load the address of the item of array `above` into B; jump to `slow` if there is none. */
static void template_item(struct template *t, int above, uint32_t slow)
{
    struct lark_asm *a = t->a;
    template_unless_type(t, above, LARK_ARRAY, slow);
    template_unless_type(t, above + 1, LARK_INT, slow);
    lark_asm_load(a, LARK_C, template_as(t, above));
    lark_asm_load32(a, LARK_B,
                    (struct lark_mem){ LARK_C, (int32_t)offsetof(struct lark_array, n) });
    lark_asm_load(a, LARK_A, template_as(t, above + 1));
    lark_asm_compare(a, LARK_A, LARK_B);
    lark_asm_jump_if(a, LARK_IF_ABOVE_EQ, slow); /* a negative index is "above", too */
    lark_asm_load(
        a, LARK_B,
        (struct lark_mem){ LARK_C, (int32_t)offsetof(struct lark_array, items) });
    lark_asm_add16(a, LARK_B, LARK_A);
}

static void template_index(struct template *t)
{
    uint32_t slow = lark_asm_label(t->a), done = lark_asm_label(t->a);
    template_item(t, -2, slow);
    lark_asm_copy16(t->a, template_operand(t, -2, 0), (struct lark_mem){ LARK_B, 0 });
    lark_asm_jump(t->a, done);
    lark_asm_bind(t->a, slow);
    template_operate(t, lark_operate_index);
    lark_asm_bind(t->a, done);
}

static void template_put(struct template *t)
{
    uint32_t slow = lark_asm_label(t->a), done = lark_asm_label(t->a);
    template_item(t, -3, slow);
    lark_asm_copy16(t->a, (struct lark_mem){ LARK_B, 0 }, template_operand(t, -1, 0));
    lark_asm_jump(t->a, done);
    lark_asm_bind(t->a, slow);
    template_operate(t, lark_operate_put);
    lark_asm_bind(t->a, done);
}

static void template_return(struct template *t)
{
    struct lark_mem result = { LARK_SLOTS, -(int32_t)sizeof(struct lark_value) };
    lark_asm_copy16(t->a, result, template_operand(t, -1, 0));
    lark_asm_imm(t->a, LARK_A, 1);
    lark_asm_jump(t->a, t->leave);
}

static void template_variable(struct template *t)
{
    struct lark_mem local = template_slot((uint32_t)t->op->arg, 0);
    switch (t->op->code) {
    case LARK_CONST: template_const(t); break;
    case LARK_LOCAL: lark_asm_copy16(t->a, template_operand(t, 0, 0), local); break;
    case LARK_STORE: lark_asm_copy16(t->a, local, template_operand(t, -1, 0)); break;
    case LARK_GLOBAL: template_global(t, true); break;
    case LARK_ASSIGN: template_global(t, false); break;
    default: break; /* POP needs no code: the depth is known */
    }
}

static void template_operation(struct template *t)
{
    uint8_t code = t->op->code;
    if (code <= LARK_POP)
        template_variable(t);
    else if (code <= LARK_SHR)
        template_binary(t);
    else if (code <= LARK_GE)
        template_compare(t);
    else
        switch (code) {
        case LARK_NEG: template_operate(t, lark_operate_negate); break;
        case LARK_NOT: template_not(t); break;
        case LARK_JUMP: lark_asm_jump(t->a, (uint32_t)t->op->arg); break;
        case LARK_UNLESS:
        case LARK_AND: template_test(t, false, (uint32_t)t->op->arg); break;
        case LARK_OR: template_test(t, true, (uint32_t)t->op->arg); break;
        case LARK_LIST: template_operate(t, lark_operate_list); break;
        case LARK_INDEX: template_index(t); break;
        case LARK_PUT: template_put(t); break;
        case LARK_CALL: template_operate(t, lark_operate_call); break;
        default: template_return(t);
        }
}

/* Record that the code made from now on is of this line. */
static void template_line(struct template *t, uint32_t line)
{
    struct lark_template *out = t->out;
    if (out->n_lines && out->lines[out->n_lines - 1].line == line)
        return;
    out->lines = lark_heap_grow(out->lines, &out->lines_capacity, out->n_lines + 1,
                                sizeof(jsprof_code_line));
    out->lines[out->n_lines++] = (jsprof_code_line){ .offset = t->a->n, .line = line };
}

bool lark_template_make(struct lark_template *out, struct lark_function *f)
{
    *out = (struct lark_template){ 0 };
    out->entries = lark_heap_resize(NULL, f->n_ops * sizeof(uint32_t));
    out->pcs = lark_heap_resize(NULL, f->n_ops * sizeof(jsprof_code_pc));
    struct template t = { .out = out, .a = &out->code, .f = f };
    for (uint32_t i = 0; i < f->n_ops; i++)
        lark_asm_label(t.a);
    t.leave = lark_asm_label(t.a);
    t.fail = lark_asm_label(t.a);
    template_line(&t, f->line);
    lark_asm_enter(t.a);
    for (uint32_t i = 0; i < f->n_ops; i++) {
        t.op = &f->ops[i];
        out->entries[i] = t.a->n;
        out->pcs[i] = (jsprof_code_pc){ .pc = t.op->pc, .offset = t.a->n };
        lark_asm_bind(t.a, i);
        template_line(&t, t.op->line);
        template_operation(&t);
    }
    lark_asm_bind(t.a, t.fail);
    lark_asm_imm(t.a, LARK_A, 0);
    lark_asm_bind(t.a, t.leave);
    lark_asm_leave(t.a);
    lark_asm_link(t.a);
    return true;
}

#else

bool lark_template_make(struct lark_template *out, struct lark_function *f)
{
    (void)f;
    *out = (struct lark_template){ 0 };
    return false;
}

#endif
