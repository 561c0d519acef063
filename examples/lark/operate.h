/* operate.h - the operations in full: every type, every error.
 *
 * The interpreter's loop does the common cases by itself and comes here for the rest.
 * All take the operation and `top`, the end of the operands before it; what the
 * operation leaves is written where its first operand was. False: an error was raised.
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
