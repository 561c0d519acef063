/* run.c - the interpreter's loop: one activation of it per call of a Lark function.
 *
 * SPDX-License-Identifier: MIT
 */
#include "run.h"

#include "jit.h"
#include "operate.h"
#include "profile.h"

/* Do the common cases of the binary operations; return false for any other. */
static inline bool run_binary(uint8_t code, struct lark_value *top)
{
    struct lark_value *a = top - 2;
    const struct lark_value *b = top - 1;
    if (a->type == LARK_INT && b->type == LARK_INT) {
        uint64_t x = (uint64_t)a->as.i, y = (uint64_t)b->as.i;
        switch (code) {
        case LARK_ADD: a->as.i = (int64_t)(x + y); return true;
        case LARK_SUB: a->as.i = (int64_t)(x - y); return true;
        case LARK_MUL: a->as.i = (int64_t)(x * y); return true;
        default: return false;
        }
    }
    if (a->type != LARK_DOUBLE || b->type != LARK_DOUBLE)
        return false;
    switch (code) {
    case LARK_ADD: a->as.d += b->as.d; return true;
    case LARK_SUB: a->as.d -= b->as.d; return true;
    case LARK_MUL: a->as.d *= b->as.d; return true;
    default: return false;
    }
}

static inline bool run_compare(uint8_t code, struct lark_value *top)
{
    struct lark_value *a = top - 2;
    const struct lark_value *b = top - 1;
    if (a->type != LARK_INT || b->type != LARK_INT)
        return false;
    int64_t x = a->as.i, y = b->as.i;
    switch (code) {
    case LARK_EQ: *a = lark_bool(x == y); return true;
    case LARK_NE: *a = lark_bool(x != y); return true;
    case LARK_LT: *a = lark_bool(x < y); return true;
    case LARK_LE: *a = lark_bool(x <= y); return true;
    case LARK_GT: *a = lark_bool(x > y); return true;
    default: *a = lark_bool(x >= y); return true;
    }
}

static inline bool run_index(struct lark_value *top)
{
    struct lark_value *a = top - 2;
    if (a->type != LARK_ARRAY || a[1].type != LARK_INT ||
        (uint64_t)a[1].as.i >= a->as.array->n)
        return false;
    *a = a->as.array->items[a[1].as.i];
    return true;
}

enum { RUN_FAILED = -2, RUN_RETURNED = -1 }; /* else: continue natively, at this operation */

/* Longer than a function should be: it has one case per opcode, and a function call for
 * each would cost the time that the loop saves. */
LARK_LOOP static int32_t run_loop(struct lark *l, struct lark_function *f,
                                  struct lark_value *slots,
                                  struct lark_profile_frame *frame)
{
    struct lark_value *top = slots + f->n_locals;
    for (const struct lark_op *op = f->ops;; op++) {
        lark_profile_at(frame, op->place);
        switch (op->code) {
        case LARK_CONST: *top++ = f->consts[op->arg]; break;
        case LARK_LOCAL: *top++ = slots[op->arg]; break;
        case LARK_STORE: slots[op->arg] = *--top; break;
        case LARK_GLOBAL: *top++ = l->globals[op->arg]; break;
        case LARK_ASSIGN: l->globals[op->arg] = *--top; break;
        case LARK_POP: top--; break;
        case LARK_ADD:
        case LARK_SUB:
        case LARK_MUL:
        case LARK_DIV:
        case LARK_MOD:
        case LARK_BITAND:
        case LARK_BITOR:
        case LARK_BITXOR:
        case LARK_SHL:
        case LARK_SHR:
            if (!run_binary(op->code, top) && !lark_operate_binary(l, op, top))
                return RUN_FAILED;
            top--;
            break;
        case LARK_EQ:
        case LARK_NE:
        case LARK_LT:
        case LARK_LE:
        case LARK_GT:
        case LARK_GE:
            if (!run_compare(op->code, top) && !lark_operate_compare(l, op, top))
                return RUN_FAILED;
            top--;
            break;
        case LARK_NEG:
            if (!lark_operate_negate(l, op, top))
                return RUN_FAILED;
            break;
        case LARK_NOT: top[-1] = lark_bool(!lark_is_true(&top[-1])); break;
        case LARK_JUMP:
            if (f->ops + op->arg <= op && lark_jit_ready(l, f))
                return op->arg;
            op = f->ops + op->arg - 1;
            break;
        case LARK_UNLESS:
            if (!lark_is_true(--top))
                op = f->ops + op->arg - 1;
            break;
        case LARK_AND:
        case LARK_OR:
            if (lark_is_true(&top[-1]) == (op->code == LARK_OR))
                op = f->ops + op->arg - 1;
            else
                top--;
            break;
        case LARK_LIST:
            lark_operate_list(l, op, top);
            top -= op->arg - 1;
            break;
        case LARK_INDEX:
            if (!run_index(top) && !lark_operate_index(l, op, top))
                return RUN_FAILED;
            top--;
            break;
        case LARK_PUT:
            if (!lark_operate_put(l, op, top))
                return RUN_FAILED;
            top -= 3;
            break;
        case LARK_CALL:
            if (!lark_operate_call(l, op, top))
                return RUN_FAILED;
            top -= op->arg;
            break;
        default: slots[-1] = top[-1]; return RUN_RETURNED;
        }
    }
}

/* Run until the function returns, fails, or is hot enough for native code. */
LARK_LOOP static int32_t run_interpreted(struct lark *l, struct lark_function *f,
                                         struct lark_value *slots,
                                         struct lark_profile_frame *frame)
{
    lark_profile_enter(frame, f->profile);
    int32_t end = run_loop(l, f, slots, frame);
    if (end >= 0)
        lark_profile_go_native(frame);
    else
        lark_profile_leave(frame);
    return end;
}

LARK_LOOP static bool run_native(struct lark *l, struct lark_function *f,
                                 struct lark_value *slots, uint32_t at,
                                 const struct lark_profile_frame *frame)
{
    bool ok = lark_jit_run(l, f, slots, at);
    lark_profile_leave_native(frame);
    return ok;
}

LARK_LOOP bool lark_run_function(struct lark *l, struct lark_function *f,
                                 struct lark_value *slots)
{
    for (uint32_t i = f->n_params; i < f->n_locals; i++)
        slots[i] = lark_nil();
    struct lark_profile_frame frame;
    int32_t at = 0;
    if (lark_jit_ready(l, f))
        lark_profile_enter_native(&frame, f->profile);
    else
        at = run_interpreted(l, f, slots, &frame);
    return at >= 0 ? run_native(l, f, slots, (uint32_t)at, &frame) : at == RUN_RETURNED;
}
