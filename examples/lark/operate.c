/* operate.c - the operations in full: every type, every error.
 *
 * SPDX-License-Identifier: MIT
 */
#include "operate.h"

#include "heap.h"

#include <math.h>
#include <string.h>

static const char *operate_sign(uint8_t code)
{
    static const char *const signs[] = {
        [LARK_ADD] = "+",    [LARK_SUB] = "-",   [LARK_MUL] = "*",    [LARK_DIV] = "/",
        [LARK_MOD] = "%",    [LARK_BITAND] = "&", [LARK_BITOR] = "|", [LARK_BITXOR] = "^",
        [LARK_SHL] = "<<",   [LARK_SHR] = ">>",  [LARK_LT] = "<",     [LARK_LE] = "<=",
        [LARK_GT] = ">",     [LARK_GE] = ">=",
    };
    return signs[code];
}

static bool operate_bad_types(struct lark *l, const struct lark_op *op,
                              const struct lark_value *a)
{
    return lark_raise(l, "no '%s' of %s and %s", operate_sign(op->code),
                      lark_type_name(&a[0]), lark_type_name(&a[1]));
}

/* Integers have 64 bits and wrap around. */
static int64_t operate_wrap(uint64_t bits)
{
    return (int64_t)bits;
}

/* Dividing INT64_MIN by -1 wraps around; the machine would trap. */
static int64_t operate_divide(uint8_t code, int64_t a, int64_t b)
{
    if (b == -1)
        return code == LARK_DIV ? operate_wrap(0 - (uint64_t)a) : 0;
    return code == LARK_DIV ? a / b : a % b;
}

static int64_t operate_ints(uint8_t code, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (code) {
    case LARK_ADD: return operate_wrap(x + y);
    case LARK_SUB: return operate_wrap(x - y);
    case LARK_MUL: return operate_wrap(x * y);
    case LARK_BITAND: return operate_wrap(x & y);
    case LARK_BITOR: return operate_wrap(x | y);
    case LARK_BITXOR: return operate_wrap(x ^ y);
    case LARK_SHL: return operate_wrap(x << (y & 63));
    case LARK_SHR: return a >> (y & 63);
    default: return operate_divide(code, a, b);
    }
}

static double operate_doubles(uint8_t code, double a, double b)
{
    switch (code) {
    case LARK_ADD: return a + b;
    case LARK_SUB: return a - b;
    case LARK_MUL: return a * b;
    case LARK_DIV: return a / b;
    default: return fmod(a, b);
    }
}

static void operate_join(struct lark *l, struct lark_value *a)
{
    const struct lark_string *left = a[0].as.string, *right = a[1].as.string;
    struct lark_string *s =
        lark_heap_string(l, (size_t)left->n_bytes + (size_t)right->n_bytes);
    memcpy(s->bytes, left->bytes, left->n_bytes);
    memcpy(s->bytes + left->n_bytes, right->bytes, right->n_bytes);
    a[0] = lark_string_value(s);
}

bool lark_operate_binary(struct lark *l, const struct lark_op *op, struct lark_value *top)
{
    struct lark_value *a = top - 2;
    l->line = op->line;
    l->top = top;
    if (a[0].type == LARK_INT && a[1].type == LARK_INT) {
        if ((op->code == LARK_DIV || op->code == LARK_MOD) && a[1].as.i == 0)
            return lark_raise(l, "division by zero");
        a[0] = lark_int(operate_ints(op->code, a[0].as.i, a[1].as.i));
        return true;
    }
    if (lark_is_number(&a[0]) && lark_is_number(&a[1]) && op->code <= LARK_MOD) {
        a[0] = lark_double(
            operate_doubles(op->code, lark_to_double(&a[0]), lark_to_double(&a[1])));
        return true;
    }
    if (op->code != LARK_ADD || a[0].type != LARK_STRING || a[1].type != LARK_STRING)
        return operate_bad_types(l, op, a);
    operate_join(l, a);
    return true;
}

static bool operate_in_order(uint8_t code, int order)
{
    switch (code) {
    case LARK_LT: return order == -1;
    case LARK_LE: return order == -1 || order == 0;
    case LARK_GT: return order == 1;
    default: return order == 1 || order == 0;
    }
}

bool lark_operate_compare(struct lark *l, const struct lark_op *op,
                          struct lark_value *top)
{
    struct lark_value *a = top - 2;
    l->line = op->line;
    if (op->code == LARK_EQ || op->code == LARK_NE) {
        a[0] = lark_bool(lark_equal(&a[0], &a[1]) == (op->code == LARK_EQ));
        return true;
    }
    bool numbers = lark_is_number(&a[0]) && lark_is_number(&a[1]);
    if (!numbers && (a[0].type != LARK_STRING || a[1].type != LARK_STRING))
        return operate_bad_types(l, op, a);
    a[0] = lark_bool(operate_in_order(op->code, lark_compare(&a[0], &a[1])));
    return true;
}

bool lark_operate_negate(struct lark *l, const struct lark_op *op, struct lark_value *top)
{
    struct lark_value *a = top - 1;
    l->line = op->line;
    if (a->type == LARK_INT)
        a->as.i = operate_wrap(0 - (uint64_t)a->as.i);
    else if (a->type == LARK_DOUBLE)
        a->as.d = -a->as.d;
    else
        return lark_raise(l, "no '-' of %s", lark_type_name(a));
    return true;
}

bool lark_operate_list(struct lark *l, const struct lark_op *op, struct lark_value *top)
{
    uint32_t n = (uint32_t)op->arg;
    struct lark_value *items = top - n;
    l->line = op->line;
    l->top = top;
    struct lark_array *array = lark_heap_array(l, n);
    memcpy(array->items, items, n * sizeof(struct lark_value));
    *items = lark_array_value(array);
    return true;
}

static bool operate_check_index(struct lark *l, const struct lark_value *at, uint32_t n)
{
    if (at->type != LARK_INT)
        return lark_raise(l, "an index is an int, not %s", lark_type_name(at));
    if (at->as.i >= 0 && at->as.i < n)
        return true;
    return lark_raise(l, "index %lld is outside of 0..%lld", (long long)at->as.i,
                      (long long)n - 1);
}

bool lark_operate_index(struct lark *l, const struct lark_op *op, struct lark_value *top)
{
    struct lark_value *a = top - 2;
    l->line = op->line;
    l->top = top;
    if (a->type == LARK_ARRAY) {
        if (!operate_check_index(l, &a[1], a->as.array->n))
            return false;
        a[0] = a->as.array->items[a[1].as.i];
        return true;
    }
    if (a->type != LARK_STRING)
        return lark_raise(l, "no index into %s", lark_type_name(a));
    if (!operate_check_index(l, &a[1], a->as.string->n_bytes))
        return false;
    uint8_t byte = (uint8_t)a->as.string->bytes[a[1].as.i];
    a[0] = lark_string_value(lark_heap_letter(l, byte));
    return true;
}

bool lark_operate_put(struct lark *l, const struct lark_op *op, struct lark_value *top)
{
    struct lark_value *a = top - 3;
    l->line = op->line;
    if (a->type != LARK_ARRAY)
        return lark_raise(l, "no item of %s can be set", lark_type_name(a));
    if (!operate_check_index(l, &a[1], a->as.array->n))
        return false;
    a->as.array->items[a[1].as.i] = a[2];
    return true;
}

/* If the call fails, l->line becomes its line, for the trace. */
LARK_LOOP bool lark_operate_call(struct lark *l, const struct lark_op *op,
                                 struct lark_value *top)
{
    l->line = op->line;
    l->top = top;
    bool ok = lark_call(l, top - op->arg - 1, (uint32_t)op->arg);
    l->line = op->line;
    return ok;
}
