/* code.c - building functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "code.h"

#include "heap.h"
#include "lark.h"
#include "profile.h"

#include <stdlib.h>
#include <string.h>

struct lark_function *lark_function_new(struct lark *l, const char *name, uint32_t line)
{
    struct lark_function *f = lark_heap_resize(NULL, sizeof(*f));
    *f = (struct lark_function){ .line = line };
    f->name = lark_heap_resize(NULL, strlen(name) + 1);
    strcpy(f->name, name);
    f->profile = lark_profile_name(name, l->path, line);
    l->functions = lark_heap_grow(l->functions, &l->functions_capacity,
                                  l->n_functions + 1, sizeof(struct lark_function *));
    l->functions[l->n_functions++] = f;
    return f;
}

void lark_function_free(struct lark_function *f)
{
    lark_profile_forget(f->profile);
    free(f->name);
    free(f->ops);
    free(f->consts);
    free(f);
}

uint32_t lark_function_emit(struct lark_function *f, struct lark_op op, int effect)
{
    f->ops =
        lark_heap_grow(f->ops, &f->ops_capacity, f->n_ops + 1, sizeof(struct lark_op));
    f->ops[f->n_ops] = op;
    f->ops[f->n_ops].pc = f->n_ops + 1;
    uint32_t after = (uint32_t)((int)op.depth + effect);
    if (after > f->n_operands)
        f->n_operands = after;
    return f->n_ops++;
}

static bool code_same(const struct lark_value *a, const struct lark_value *b)
{
    return a->type == b->type && (a->as.i == b->as.i ||
                                  (a->type == LARK_STRING && lark_equal(a, b)));
}

uint32_t lark_function_const(struct lark_function *f, struct lark_value v)
{
    for (uint32_t i = 0; i < f->n_consts; i++)
        if (code_same(&f->consts[i], &v))
            return i;
    f->consts = lark_heap_grow(f->consts, &f->consts_capacity, f->n_consts + 1,
                               sizeof(struct lark_value));
    f->consts[f->n_consts] = v;
    return f->n_consts++;
}
