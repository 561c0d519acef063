/* template.h - from a function's operations to native code, one template each.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_TEMPLATE_H
#define LARK_TEMPLATE_H

#include "asm.h"
#include "lark.h"

struct lark_template {
    struct lark_asm code;
    jsprof_code_line *lines; /* owned */
    uint32_t n_lines, lines_capacity;
    uint32_t *entries;   /* owned: where each operation begins */
    jsprof_code_pc *pcs; /* owned: the same, for the profiler */
};

/* Return false if there are no templates for this machine. Free the result in either
 * case. */
bool lark_template_make(struct lark_template *t, struct lark_function *f);
void lark_template_free(struct lark_template *t);

#endif
