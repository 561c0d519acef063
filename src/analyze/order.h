/* analyze/order.h - the runs of two captures in the order of their begin, and the first place
 * where the orders differ.
 *
 * A run is the same in both if its task is, and if it is the task's run of the same number. A
 * task is the same if its maker is, if kind and name are equal, and if its maker made as many such
 * tasks before. So neither times nor numbers of tasks matter. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_ORDER_H
#define JSP_ANALYZE_ORDER_H

#include "tasks.h"

struct jsp_order_side {
    const struct jsp_tasks *tasks; /* borrowed */
    uint32_t *runs;   /* in the order of their begin; owned */
    uint64_t *keys;   /* by runs[] of the tasks: equal ones are the same run; owned */
    uint32_t at;      /* in `runs`, where the orders differ: n_runs is the end */
    uint32_t other;   /* in `runs`, where the other side's run at `at` is; n_runs: nowhere */
};

struct jsp_order {
    struct jsp_order_side sides[2];
    bool is_same;
};

/* Compare the runs. Return 0 or -ENOMEM. Free it in any case. */
int jsp_order_compare(struct jsp_order *o, const struct jsp_tasks *a, const struct jsp_tasks *b);

/* Free both sides. */
void jsp_order_free(struct jsp_order *o);

#endif
