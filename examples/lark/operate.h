/* operate.h - the operations in full: every type, every error.
 *
 * The interpreter's loop handles the common cases itself and calls these for the rest.
 * All take the operation and `top`, the end of the operands before it. They write the
 * result where the first operand was. They return false after an error was raised.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_OPERATE_H
#define LARK_OPERATE_H

#include "lark.h"

typedef bool (*lark_operate_fn)(struct lark *l, const struct lark_op *op,
                                struct lark_value *top);

/* LARK_ADD .. LARK_SHR */
bool lark_operate_binary(struct lark *l, const struct lark_op *op,
                         struct lark_value *top);

/* LARK_EQ .. LARK_GE */
bool lark_operate_compare(struct lark *l, const struct lark_op *op,
                          struct lark_value *top);

bool lark_operate_negate(struct lark *l, const struct lark_op *op,
                         struct lark_value *top);
bool lark_operate_list(struct lark *l, const struct lark_op *op, struct lark_value *top);
bool lark_operate_index(struct lark *l, const struct lark_op *op, struct lark_value *top);
bool lark_operate_put(struct lark *l, const struct lark_op *op, struct lark_value *top);
bool lark_operate_call(struct lark *l, const struct lark_op *op, struct lark_value *top);

#endif
