/* sigsafe/unwind_step.c - see unwind_step.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "unwind_step.h"

#include "frame.h"

enum {
    STEP_FAR_FRAME = 1 << 24,       /* a frame pointer further up than this is not one */
    /* unknown code this near counts as code of the same host */
    STEP_NEAR_CODE = 128 << 20,
};

/* Go to the caller, whose registers are known, if it is further up. */
static int step_to(struct jsp_unwind_walk *w, const struct jsp_regs_core *to)
{
    w->cfa = to->sp;
    if (to->sp < w->at.sp + !w->is_exact)
        return JSP_STOP_STACK;
    w->at = *to;
    w->at.pc = jsp_regs_strip(to->pc);
    w->regs = NULL;
    w->is_exact = false;
    return w->at.pc ? JSP_STEP_ON : JSP_STOP_END;
}

/* -- Signal trampolines ------------------------------------------------------- */

static bool step_at_trampoline(struct jsp_unwind_walk *w)
{
    uint8_t code[JSP_TRAMPOLINE_BYTES];
    return jsp_memread_bytes(&w->u->mem, w->at.pc, code, sizeof code) &&
           jsp_regs_is_trampoline(code);
}

/* Return true at a trampoline that has no rows. The check is a system call, which costs
 * more than ten frames, so the cache keeps a negative result beside the rows' rule. */
static bool step_at_bare_trampoline(struct jsp_unwind_walk *w, uint32_t how)
{
    uintptr_t pc = w->at.pc - !w->is_exact;
    struct jsp_unwind_cached *slot = jsp_unwind_slot(w->u, pc);
    if (how & JSP_UNWIND_LOOKED)
        return false;
    if (step_at_trampoline(w))
        return true;
    if (slot->pc == pc)
        slot->how |= JSP_UNWIND_LOOKED;
    return false;
}

/* Go on with the interrupted code. It may be on another stack, further up or down; so the
 * number of crossings bounds the walk here. */
static int step_cross(struct jsp_unwind_walk *w)
{
    struct jsp_unwinder *u = w->u;
    uintptr_t from = w->at.sp + JSP_TRAMPOLINE_REGS;
    if (!w->crossings)
        return JSP_STOP_STACK;
    w->crossings--;
    u->n_crossed++;
    if (!jsp_memread_bytes(&u->mem, from, &u->crossed, sizeof u->crossed))
        return JSP_STOP_UNREADABLE;
    w->regs = &u->crossed;
    w->at = jsp_regs_core(w->regs);
    w->is_exact = true;
    w->cfa = w->at.sp;
    jsp_memread_begin(&u->mem, w->at.sp);
    return JSP_STEP_ON;
}

/* -- Full rules --------------------------------------------------------------- */

struct step_rule {
    struct jsp_unwind_env env;
    const struct jsp_unwind_object *object;
    uint64_t cfa;
};

static bool step_expr(const struct step_rule *r, const struct jsp_unwind_cell *cell,
                      uint64_t *value)
{
    if (!cell->n || cell->value < 0 || (uint32_t)cell->value + cell->n > r->object->n_exprs)
        return false;
    return jsp_unwind_expr(&r->env, r->object->exprs + cell->value, cell->n, r->cfa, value);
}

/* Compute one register of the caller. *value holds this frame's register. */
static int step_cell(const struct step_rule *r, const struct jsp_unwind_cell *cell,
                     uintptr_t *value)
{
    uint64_t v = *value, base = 0;
    bool known = true;
    switch ((enum jsp_cell)cell->is) {
    case JSP_CELL_SAME:
    case JSP_CELL_UNDEFINED: break; /* UNDEFINED: no correct caller needs that register */
    case JSP_CELL_IS:
    case JSP_CELL_AT: v = r->cfa + (uint64_t)(int64_t)cell->value; break;
    case JSP_CELL_REG:
        known = jsp_unwind_reg(&r->env, cell->reg, &base);
        v = base + (uint64_t)(int64_t)cell->value;
        break;
    case JSP_CELL_IS_EXPR:
    case JSP_CELL_AT_EXPR: known = step_expr(r, cell, &v); break;
    default: known = false;
    }
    if (!known)
        return JSP_STOP_RULE;
    if ((cell->is == JSP_CELL_AT || cell->is == JSP_CELL_AT_EXPR) &&
        !jsp_memread_word(r->env.mem, v, &v))
        return JSP_STOP_UNREADABLE;
    *value = v;
    return JSP_STEP_ON;
}

/* Return true if the code was interrupted when it had nothing left to restore. */
static bool step_is_leaving(struct jsp_unwind_walk *w, const struct jsp_unwind_rule *rule)
{
    uint8_t code[JSP_LEAVING_BYTES];
    return w->is_exact && rule->fp.is == JSP_CELL_AT_EXPR &&
           jsp_memread_bytes(&w->u->mem, w->at.pc, code, sizeof code) &&
           jsp_regs_is_leaving(code);
}

/* Compute the registers that calls preserve. */
static int step_preserved(struct jsp_unwind_walk *w, const struct step_rule *r,
                          const struct jsp_unwind_rule *rule, struct jsp_regs_core *to)
{
    if (step_is_leaving(w, rule))
        return JSP_STEP_ON;
    int stop = step_cell(r, &rule->fp, &to->fp);
    return stop == JSP_STEP_ON ? step_cell(r, &rule->extra, &to->extra) : stop;
}

static int step_by_rule(struct jsp_unwind_walk *w, uint32_t index)
{
    struct step_rule r = { { w->at, w->regs, &w->u->mem }, NULL, 0 };
    r.object = jsp_unwind_map_find(w->map, w->at.pc - !w->is_exact);
    if (!r.object || jsp_unwind_map_unread(w->map, r.object))
        r.object = &w->u->live.object;
    if (index >= r.object->n_rules)
        return JSP_STOP_NO_TABLE;
    const struct jsp_unwind_rule *rule = &r.object->rules[index];
    if (rule->is_signal && step_at_trampoline(w))
        return step_cross(w);

    struct jsp_regs_core to = w->at;
    uintptr_t cfa = 0;
    int stop = step_cell(&r, &rule->cfa, &cfa);
    if (stop != JSP_STEP_ON)
        return stop;
    r.cfa = cfa;
    if (rule->ra.is == JSP_CELL_SAME && !(JSP_RA_IN_EXTRA && w->is_exact))
        return JSP_STOP_RULE; /* a call has overwritten the link register */
    to.pc = JSP_RA_IN_EXTRA ? w->at.extra : 0;
    to.sp = cfa;
    if ((stop = step_cell(&r, &rule->ra, &to.pc)) != JSP_STEP_ON ||
        (stop = step_cell(&r, &rule->sp, &to.sp)) != JSP_STEP_ON ||
        (stop = step_preserved(w, &r, rule, &to)) != JSP_STEP_ON)
        return stop;
    stop = step_to(w, &to);
    w->is_exact = rule->is_signal != 0;
    return stop;
}

/* -- Code without rows -------------------------------------------------------- */

static bool step_is_loaded(const struct jsp_unwind_walk *w, uintptr_t pc)
{
    return jsp_unwind_map_find(w->map, pc) || jsp_live_is_code(&w->u->live, pc);
}

static bool step_is_code(const struct jsp_unwind_walk *w, uintptr_t pc)
{
    jsprof_code_row row;
    if (step_is_loaded(w, pc - 1))
        return true;
    if (w->u->jit && jsp_jitrows_find(w->u->jit, pc - 1, &row) != JSP_JITROWS_NONE)
        return true;
    /* A call from unknown code to nearby unknown code: a host generated it without
     * registering it. */
    return !step_is_loaded(w, w->at.pc) && pc - w->at.pc + STEP_NEAR_CODE <
           2u * (uintptr_t)STEP_NEAR_CODE;
}

static int step_by_pointer(struct jsp_unwind_walk *w)
{
    struct jsp_regs_core to = w->at;
    uintptr_t fp = w->at.fp;
    uint64_t up, ra;
    if (!fp)
        return JSP_STOP_END; /* both ABIs let the chain end with 0 */
    if (fp & 7 || fp < w->at.sp || fp - w->at.sp > STEP_FAR_FRAME)
        return JSP_STOP_NO_TABLE;
    if (!jsp_memread_word(&w->u->mem, fp, &up) || !jsp_memread_word(&w->u->mem, fp + 8, &ra))
        return JSP_STOP_UNREADABLE;
    to.pc = jsp_regs_strip(ra);
    to.fp = up;
    if (to.pc && !step_is_code(w, to.pc))
        return JSP_STOP_NO_TABLE;
    to.sp = fp + 16;
    return step_to(w, &to);
}

/* Leave a frame that is not complete yet, or no longer. Return false if the frame pointer
 * is to be used. */
static bool step_by_instructions(struct jsp_unwind_walk *w, int *stop)
{
    struct jsp_frame_code code = { 0, 0 };
    struct jsp_regs_core to;
    if (!w->is_exact)
        return false;
    if (w->u->jit)
        jsp_jitrows_bounds(w->u->jit, w->at.pc, &code);
    if (!jsp_frame_leave(&w->u->mem, &code, &w->at, &to) ||
        !step_is_code(w, jsp_regs_strip(to.pc)))
        return false;
    *stop = step_to(w, &to);
    return true;
}

static int step_by_host_row(struct jsp_unwind_walk *w, const jsprof_code_row *row)
{
    struct jsp_regs_core to = w->at;
    uintptr_t base = row->from_fp ? w->at.fp : w->at.sp;
    uintptr_t cfa = base + (uintptr_t)(intptr_t)row->cfa;
    uint64_t word;
    if (!row->ra_at && !(JSP_RA_IN_EXTRA && w->is_exact))
        return JSP_STOP_RULE;
    to.pc = to.extra;
    if (row->ra_at) {
        if (!jsp_memread_word(&w->u->mem, cfa + (uintptr_t)(intptr_t)row->ra_at, &word))
            return JSP_STOP_UNREADABLE;
        to.pc = word;
        if (JSP_RA_IN_EXTRA)
            to.extra = word;
    }
    if (row->fp_at) {
        if (!jsp_memread_word(&w->u->mem, cfa + (uintptr_t)(intptr_t)row->fp_at, &word))
            return JSP_STOP_UNREADABLE;
        to.fp = word;
    }
    to.sp = cfa;
    return step_to(w, &to);
}

/* Return the next caller that the host's walker reported for this code, or NULL. The walk
 * continues there. */
static const jsprof_frame *step_caller(const struct jsp_unwind_walk *w)
{
    const struct jsp_unwinder *u = w->u;
    for (uint32_t i = 0; i < u->n_callers; i++)
        if (u->callers[i].sp > w->at.sp)
            return &u->callers[i];
    return NULL;
}

/* Continue at a caller that the host reported. While the rows of a loaded object are not made
 * yet, a record that was not found proves nothing: stop, because C frames may lie between. */
static int step_by_caller(struct jsp_unwind_walk *w, const jsprof_frame *caller)
{
    struct jsp_regs_core to = { 0 }; /* its other registers are unknown */
    uintptr_t pc = w->at.pc - !w->is_exact;
    const struct jsp_unwind_object *o = jsp_unwind_map_find(w->map, pc);
    w->is_reported = !o && !jsp_live_is_code(&w->u->live, pc);
    if (o ? jsp_unwind_map_unread(w->map, o) != NULL : !w->is_reported)
        return JSP_STOP_NO_TABLE;
    to.pc = caller->pc;
    to.sp = caller->sp;
    to.fp = (uintptr_t)caller->detail;
    return step_to(w, &to);
}

static int step_without_rows(struct jsp_unwind_walk *w, uint32_t how)
{
    jsprof_code_row row;
    enum jsp_jitrows_answer is = JSP_JITROWS_NONE;
    if (w->u->jit)
        is = jsp_jitrows_find(w->u->jit, w->at.pc - !w->is_exact, &row);
    if (is == JSP_JITROWS_ROW)
        return step_by_host_row(w, &row);
    if (is == JSP_JITROWS_NONE && step_at_bare_trampoline(w, how))
        return step_cross(w);
    const jsprof_frame *caller = is == JSP_JITROWS_NONE ? step_caller(w) : NULL;
    if (caller)
        return step_by_caller(w, caller);
    int stop;
    return step_by_instructions(w, &stop) ? stop : step_by_pointer(w);
}

int jsp_unwind_step(struct jsp_unwind_walk *w, uint32_t how)
{
    w->is_reported = false;
    switch (jsp_how_kind(how)) {
    case JSP_HOW_END: return JSP_STOP_END;
    case JSP_HOW_RULE: return step_by_rule(w, jsp_how_rule(how));
    default: return step_without_rows(w, how);
    }
}
