/* asm.c - bytes, labels and jumps, for every machine.
 *
 * SPDX-License-Identifier: MIT
 */
#include "asm.h"

#include "heap.h"

#include <stdlib.h>
#include <string.h>

uint32_t lark_asm_label(struct lark_asm *a)
{
    a->labels = lark_heap_grow(a->labels, &a->labels_capacity, a->n_labels + 1,
                               sizeof(int32_t));
    a->labels[a->n_labels] = LARK_NO_PLACE;
    return a->n_labels++;
}

void lark_asm_bind(struct lark_asm *a, uint32_t label)
{
    a->labels[label] = (int32_t)a->n;
}

void lark_asm_bytes(struct lark_asm *a, const void *bytes, size_t n)
{
    a->bytes = lark_heap_grow(a->bytes, &a->capacity, a->n + (uint32_t)n, 1);
    memcpy(a->bytes + a->n, bytes, n);
    a->n += (uint32_t)n;
}

void lark_asm_u32(struct lark_asm *a, uint32_t word)
{
    lark_asm_bytes(a, &word, sizeof(word));
}

void lark_asm_fix(struct lark_asm *a, uint32_t at, uint32_t label)
{
    a->fixes = lark_heap_grow(a->fixes, &a->fixes_capacity, a->n_fixes + 1,
                              sizeof(struct lark_fix));
    a->fixes[a->n_fixes++] = (struct lark_fix){ at, label };
}

void lark_asm_row(struct lark_asm *a, jsprof_code_row row)
{
    row.offset = a->n;
    a->rows[a->n_rows++] = row;
}

void lark_asm_link(struct lark_asm *a)
{
    for (uint32_t i = 0; i < a->n_fixes; i++)
        lark_asm_patch(a->bytes, a->fixes[i].at, (uint32_t)a->labels[a->fixes[i].label]);
}

void lark_asm_free(struct lark_asm *a)
{
    free(a->bytes);
    free(a->labels);
    free(a->fixes);
}
