/* analyze/annotate_blocks.c - a listing's basic blocks, and its operations by name.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "annotate.h"

/* Mark where blocks begin: at the first row, at targets, and after rows that jump or
 * end. */
static void blocks_leaders(const struct jsp_bytecode *code, bool *leads)
{
    for (uint32_t i = 0; i < code->n; i++) {
        const struct jsp_bytecode_row *row = &code->rows[i];
        leads[0] = true;
        if (row->ends || row->n_targets)
            leads[i + 1] = true;
        for (uint32_t t = 0; t < row->n_targets; t++)
            leads[jsp_bytecode_at(code, code->targets[row->first_target + t])] = true;
    }
}

int jsp_annotate_blocks(const struct jsp_annotate *a, struct jsp_annotate_block **out,
                        uint32_t *n)
{
    bool *leads = calloc((size_t)a->code.n + 1, sizeof *leads);
    struct jsp_annotate_block *blocks = calloc((size_t)a->code.n + 1, sizeof *blocks);
    *n = 0;
    if (!leads || !blocks) {
        free(leads);
        free(blocks);
        return -ENOMEM;
    }
    blocks_leaders(&a->code, leads);
    for (uint32_t i = 0; i < a->code.n; i++) {
        if (leads[i])
            blocks[(*n)++].first = i;
        struct jsp_annotate_block *block = &blocks[*n - 1];
        block->n++;
        block->self += a->rows[i].self;
        if (a->rows[i].total > block->total)
            block->total = a->rows[i].total;
    }
    free(leads);
    *out = blocks;
    return 0;
}

static struct jsp_read_text blocks_word(struct jsp_read_text text)
{
    uint32_t n = 0;
    while (n < text.len && text.at[n] != ' ')
        n++;
    return (struct jsp_read_text){ text.at, n };
}

static int blocks_by_name(const void *x, const void *y)
{
    const struct jsp_annotate_opcode *a = x, *b = y;
    uint32_t least = a->name.len < b->name.len ? a->name.len : b->name.len;
    int order = memcmp(a->name.at, b->name.at, least);
    return order ? order : a->name.len < b->name.len ? -1 : a->name.len > b->name.len;
}

static int blocks_by_self(const void *x, const void *y)
{
    const struct jsp_annotate_opcode *a = x, *b = y;
    return a->self != b->self ? (a->self > b->self ? -1 : 1) : blocks_by_name(x, y);
}

int jsp_annotate_opcodes(const struct jsp_annotate *a, struct jsp_annotate_opcode **out,
                         uint32_t *n)
{
    struct jsp_annotate_opcode *all = calloc((size_t)a->code.n + 1, sizeof *all);
    *n = 0;
    if (!all)
        return -ENOMEM;
    for (uint32_t i = 0; i < a->code.n; i++)
        all[i] = (struct jsp_annotate_opcode){ blocks_word(a->code.rows[i].text), 1,
                                               a->rows[i].self };
    if (a->code.n)
        qsort(all, a->code.n, sizeof *all, blocks_by_name);
    for (uint32_t i = 0; i < a->code.n; i++) {
        if (*n && blocks_by_name(&all[*n - 1], &all[i]) == 0) {
            all[*n - 1].n_rows++;
            all[*n - 1].self += all[i].self;
        } else {
            all[(*n)++] = all[i];
        }
    }
    if (*n)
        qsort(all, *n, sizeof *all, blocks_by_self);
    *out = all;
    return 0;
}
