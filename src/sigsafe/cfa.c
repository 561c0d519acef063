/* sigsafe/cfa.c - see cfa.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cfa.h"
#include "regs.h"

enum { /* the opcodes DW_CFA_* */
    CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xC0,
    CFA_NOP = 0x00, CFA_SET_LOC, CFA_ADVANCE1, CFA_ADVANCE2, CFA_ADVANCE4,
    CFA_OFFSET_EXTENDED, CFA_RESTORE_EXTENDED, CFA_UNDEFINED, CFA_SAME_VALUE, CFA_REGISTER,
    CFA_REMEMBER, CFA_RECALL, CFA_DEF_CFA, CFA_DEF_CFA_REGISTER, CFA_DEF_CFA_OFFSET,
    CFA_DEF_CFA_EXPRESSION, CFA_EXPRESSION, CFA_OFFSET_EXTENDED_SF, CFA_DEF_CFA_SF,
    CFA_DEF_CFA_OFFSET_SF, CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF, CFA_VAL_EXPRESSION,
    CFA_NEGATE_RA_STATE = 0x2D, CFA_ARGS_SIZE = 0x2E, CFA_NEGATIVE_OFFSET = 0x2F,
};

/* One run of a program. */
struct cfa_run {
    struct jsp_cfa *cfa;
    const struct jsp_ehframe_fde *fde;
    struct jsp_cursor c;
    uint64_t at;
    jsp_cfa_row_sigsafe_fn row_sigsafe; /* NULL: the CIE's program, which has no rows */
    void *arg;
    bool bad;
};

/* Return the cell of a register, or NULL if the walk does not follow that register. */
static inline struct jsp_unwind_cell *cfa_cell(const struct cfa_run *r,
                                               struct jsp_cfa_state *s, uint64_t reg)
{
    if (reg == JSP_REG_FP)
        return &s->fp;
    if (reg == JSP_REG_EXTRA)
        return &s->extra;
    if (reg == JSP_REG_SP)
        return &s->sp;
    return reg == r->fde->cie->ra_reg ? &s->ra : NULL;
}

static inline void cfa_put(struct cfa_run *r, uint64_t reg, struct jsp_unwind_cell cell)
{
    struct jsp_unwind_cell *at = cfa_cell(r, &r->cfa->now, reg);
    if (!at)
        return;
    *at = cell;
    r->cfa->is_changed = true;
}

static void cfa_put_value(struct cfa_run *r, uint64_t reg, enum jsp_cell is, int64_t value)
{
    if (cfa_cell(r, &r->cfa->now, reg) && (int32_t)value != value)
        r->bad = true;
    else
        cfa_put(r, reg, (struct jsp_unwind_cell){ (uint8_t)is, 0, 0, (int32_t)value });
}

/* Multiply a factored offset by the CIE's alignment; an overflow sets `bad`. */
static int64_t cfa_factored(struct cfa_run *r, int64_t value)
{
    int64_t product = 0;
    if (__builtin_mul_overflow(value, r->fde->cie->data_align, &product))
        r->bad = true;
    return product;
}

/* Read an expression: a length, then its bytes, which stay where they are. */
static struct jsp_unwind_cell cfa_expr(struct cfa_run *r, enum jsp_cell is)
{
    uint64_t n = jsp_cursor_uleb(&r->c);
    ptrdiff_t offset = r->c.at - r->cfa->section->bytes;
    jsp_cursor_skip(&r->c, n);
    if (n > UINT16_MAX || offset > INT32_MAX)
        r->bad = true;
    return (struct jsp_unwind_cell){ (uint8_t)is, 0, (uint16_t)n, (int32_t)offset };
}

static void cfa_restore(struct cfa_run *r, uint64_t reg)
{
    struct jsp_unwind_cell *initial = cfa_cell(r, &r->cfa->initial, reg);
    if (initial)
        cfa_put(r, reg, *initial);
}

static inline void cfa_define(struct cfa_run *r, uint64_t reg, int64_t offset)
{
    if (reg >= JSP_N_REGS || (int32_t)offset != offset)
        r->bad = true;
    r->cfa->now.cfa_offset = (int32_t)offset;
    r->cfa->now.cfa = (struct jsp_unwind_cell){ JSP_CELL_REG, (uint8_t)reg, 0,
                                                (int32_t)offset };
    r->cfa->is_changed = true;
}

static inline void cfa_redefine(struct cfa_run *r, int64_t offset)
{
    if (r->cfa->now.cfa.is != JSP_CELL_REG)
        r->bad = true;
    cfa_define(r, r->cfa->now.cfa.reg, offset);
}

/* Not inlined: otherwise rooms.sh would find the pointer call at a line that does not
 * name it. */
static __attribute__((noinline)) void cfa_report(struct cfa_run *r)
{
    if (!r->cfa->is_changed)
        return;
    r->cfa->is_changed = false;
    if (r->row_sigsafe && !r->row_sigsafe(r->arg, r->fde, r->at, &r->cfa->now))
        r->bad = true;
}

static inline void cfa_advance(struct cfa_run *r, uint64_t delta)
{
    if (!r->row_sigsafe || __builtin_mul_overflow(delta, r->fde->cie->code_align, &delta) ||
        delta > r->fde->length) {
        r->bad = true;
        return;
    }
    if (delta)
        cfa_report(r);
    r->at += delta;
}

static void cfa_remember(struct cfa_run *r)
{
    struct jsp_cfa *cfa = r->cfa;
    if (cfa->depth < JSP_CFA_NESTED)
        cfa->remembered[cfa->depth++] = cfa->now;
    else
        r->bad = true;
}

static void cfa_recall(struct cfa_run *r)
{
    struct jsp_cfa *cfa = r->cfa;
    if (cfa->depth)
        cfa->now = cfa->remembered[--cfa->depth];
    else
        r->bad = true;
    cfa->is_changed = true;
}

/* Run an instruction about one register. Return false if op is none of these. */
static bool cfa_register(struct cfa_run *r, uint8_t op)
{
    struct jsp_cursor *c = &r->c;
    bool is_one = (op >= CFA_OFFSET_EXTENDED && op <= CFA_REGISTER) || op == CFA_EXPRESSION ||
                  op == CFA_OFFSET_EXTENDED_SF || (op >= CFA_VAL_OFFSET &&
                  op <= CFA_VAL_EXPRESSION) || op == CFA_NEGATIVE_OFFSET;
    if (!is_one)
        return false;
    uint64_t reg = jsp_cursor_uleb(c), other;
    int64_t n = 0;
    switch (op) {
    case CFA_OFFSET_EXTENDED:
    case CFA_VAL_OFFSET: n = cfa_factored(r, (int64_t)jsp_cursor_uleb(c)); break;
    case CFA_OFFSET_EXTENDED_SF:
    case CFA_VAL_OFFSET_SF: n = cfa_factored(r, jsp_cursor_sleb(c)); break;
    case CFA_NEGATIVE_OFFSET: n = cfa_factored(r, (int64_t)(0 - jsp_cursor_uleb(c))); break;
    }
    switch (op) {
    case CFA_RESTORE_EXTENDED: cfa_restore(r, reg); break;
    case CFA_UNDEFINED: cfa_put_value(r, reg, JSP_CELL_UNDEFINED, 0); break;
    case CFA_SAME_VALUE: cfa_put_value(r, reg, JSP_CELL_SAME, 0); break;
    case CFA_REGISTER:
        other = jsp_cursor_uleb(c);
        if (other >= JSP_N_REGS)
            r->bad = r->bad || cfa_cell(r, &r->cfa->now, reg);
        else
            cfa_put(r, reg, (struct jsp_unwind_cell){ JSP_CELL_REG, (uint8_t)other, 0, 0 });
        break;
    case CFA_EXPRESSION: cfa_put(r, reg, cfa_expr(r, JSP_CELL_AT_EXPR)); break;
    case CFA_VAL_EXPRESSION: cfa_put(r, reg, cfa_expr(r, JSP_CELL_IS_EXPR)); break;
    case CFA_VAL_OFFSET:
    case CFA_VAL_OFFSET_SF: cfa_put_value(r, reg, JSP_CELL_IS, n); break;
    default: cfa_put_value(r, reg, JSP_CELL_AT, n);
    }
    return true;
}

static void cfa_extended(struct cfa_run *r, uint8_t op)
{
    struct jsp_cursor *c = &r->c;
    uint64_t reg;
    if (cfa_register(r, op))
        return;
    switch (op) {
    case CFA_NEGATE_RA_STATE: break; /* signatures are stripped in any state */
    case CFA_ADVANCE1: cfa_advance(r, jsp_cursor_u8(c)); break;
    case CFA_ADVANCE2: cfa_advance(r, jsp_cursor_bytes(c, 2)); break;
    case CFA_ADVANCE4: cfa_advance(r, jsp_cursor_bytes(c, 4)); break;
    case CFA_REMEMBER: cfa_remember(r); break;
    case CFA_RECALL: cfa_recall(r); break;
    case CFA_DEF_CFA:
        reg = jsp_cursor_uleb(c);
        cfa_define(r, reg, (int64_t)jsp_cursor_uleb(c));
        break;
    case CFA_DEF_CFA_SF:
        reg = jsp_cursor_uleb(c);
        cfa_define(r, reg, cfa_factored(r, jsp_cursor_sleb(c)));
        break;
    case CFA_DEF_CFA_REGISTER:
        reg = jsp_cursor_uleb(c);
        cfa_define(r, reg, r->cfa->now.cfa_offset);
        break;
    case CFA_DEF_CFA_OFFSET_SF: cfa_redefine(r, cfa_factored(r, jsp_cursor_sleb(c))); break;
    case CFA_DEF_CFA_EXPRESSION:
        r->cfa->now.cfa = cfa_expr(r, JSP_CELL_IS_EXPR);
        r->cfa->is_changed = true;
        break;
    case CFA_ARGS_SIZE: jsp_cursor_uleb(c); break;
    default: r->bad = true; /* also DW_CFA_set_loc, which none of our toolchains writes */
    }
}

static bool cfa_program(struct cfa_run *r)
{
    while (r->c.at < r->c.end && !r->bad) {
        uint8_t op = *r->c.at++, low = op & 0x3F;
        uint64_t n;
        switch (op & 0xC0) {
        case CFA_ADVANCE: cfa_advance(r, low); break;
        case CFA_OFFSET:
            n = jsp_cursor_uleb(&r->c);
            if (cfa_cell(r, &r->cfa->now, low)) /* most registers are not followed */
                cfa_put_value(r, low, JSP_CELL_AT, cfa_factored(r, (int64_t)n));
            break;
        case CFA_RESTORE: cfa_restore(r, low); break;
        default:
            if (op == CFA_DEF_CFA_OFFSET) /* every second instruction is this one */
                cfa_redefine(r, (int64_t)jsp_cursor_uleb(&r->c));
            else if (op != CFA_NOP)
                cfa_extended(r, op);
        }
    }
    return !r->bad && !r->c.bad;
}

bool jsp_cfa_run(struct jsp_cfa *cfa, const struct jsp_ehframe_fde *fde,
                 jsp_cfa_row_sigsafe_fn row_sigsafe, void *arg)
{
    struct cfa_run r = { cfa, fde, fde->cie->program, fde->start, NULL, arg, false };
    cfa->depth = 0;
    if (cfa->initial_of != fde->cie->offset + 1) {
        cfa->initial_of = 0;
        /* no CFA defined, all registers unchanged */
        cfa->now = (struct jsp_cfa_state){ 0 };
        if (!cfa_program(&r))
            return false;
        cfa->initial = cfa->now;
        cfa->initial_of = fde->cie->offset + 1;
        cfa->depth = 0;
    }
    cfa->now = cfa->initial;
    cfa->is_changed = true;
    r.c = fde->program;
    r.row_sigsafe = row_sigsafe;
    if (!cfa_program(&r))
        return false;
    cfa_report(&r);
    return !r.bad;
}

/* -- The encoding of a state in 32 bits --------------------------------------- */

/* Store the slot below the CFA in which a register was saved, or 0 if it was not saved.
 * Return false if the cell is of another kind. */
static inline bool cfa_slot(const struct jsp_unwind_cell *cell, uint32_t *slot)
{
    *slot = (0u - (uint32_t)cell->value) / 8;
    if (cell->is == JSP_CELL_SAME)
        return true;
    return cell->is == JSP_CELL_AT && cell->value < 0 && !(cell->value & 7) &&
           *slot < 1u << JSP_HOW_SLOT_BITS;
}

bool jsp_cfa_plain(const struct jsp_cfa_state *s, uint32_t *how)
{
    uint32_t fp, extra;
    bool is_sp = s->cfa.reg == JSP_REG_SP, is_fp = s->cfa.reg == JSP_REG_FP;
    uint32_t words = (uint32_t)s->cfa.value / 8;
    if (s->cfa.is != JSP_CELL_REG || !(is_sp || is_fp) || s->cfa.value & 7 ||
        s->cfa.value < 0 || s->sp.is != JSP_CELL_SAME || words >= 1u << JSP_HOW_CFA_BITS)
        return false;
    if (!JSP_RA_IN_EXTRA && (s->ra.is != JSP_CELL_AT || s->ra.value != -8))
        return false;
    if (!cfa_slot(&s->fp, &fp) || !cfa_slot(&s->extra, &extra))
        return false;
    *how = (is_sp ? (uint32_t)JSP_HOW_SP : (uint32_t)JSP_HOW_FP) | words << JSP_HOW_KIND_BITS |
           fp << JSP_HOW_FP_SHIFT | extra << JSP_HOW_EXTRA_SHIFT;
    return true;
}

bool jsp_cfa_rule(const struct jsp_ehframe_cie *cie, const struct jsp_cfa_state *s,
                  struct jsp_unwind_rule *rule)
{
    *rule = (struct jsp_unwind_rule){ s->cfa, s->ra, s->sp, s->fp, s->extra, cie->is_signal };
    if (JSP_RA_IN_EXTRA && cie->ra_reg == JSP_REG_RA)
        rule->ra = rule->extra;
    return rule->ra.is != JSP_CELL_UNDEFINED || cie->is_signal;
}
