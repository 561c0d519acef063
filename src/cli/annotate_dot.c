/* cli/annotate_dot.c - a function's listing as a control-flow graph.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"

static double dot_share(const struct cli_annotate *a, uint64_t value)
{
    return a->inside.self ? (double)value / (double)a->inside.self : 0;
}

/* Print a text inside double quotes, with escapes for what could harm a terminal. */
static void dot_text(const struct cli_annotate *a, struct cli_span text)
{
    char *clean = cli_clean(&a->capture.style, text);
    cli_incomplete(!clean);
    for (const char *c = clean; c && *c; c++) {
        if (*c == '"' || *c == '\\')
            putchar('\\');
        putchar(*c);
    }
    free(clean);
}

/* Colour a block from white to a red on which black text stays readable. */
static void dot_block(const struct cli_annotate *a, const jsprof_read_block *block,
                      uint32_t number)
{
    double share = dot_share(a, block->self);
    char percent[CLI_NUMBER];
    printf("  b%" PRIu32 " [fillcolor=\"0.000 %.3f 1.000\", label=\"%s\\l", number,
           0.75 * share, cli_percent(percent, share));
    for (uint32_t i = block->first; i < block->first + block->n; i++) {
        const jsprof_read_row *row = &a->rows[i];
        printf("%" PRIu64 "  ", row->pc);
        dot_text(a, cli_span(row->text));
        if (row->self)
            printf("  %s", cli_percent(percent, dot_share(a, row->self)));
        fputs("\\l", stdout);
    }
    puts("\"];");
}

/* Return the block that begins with this row, or n. */
static uint32_t dot_of_row(const jsprof_read_block *blocks, uint32_t n, uint32_t row)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (blocks[mid].first < row)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n && blocks[low].first == row ? low : n;
}

/* Return the row that begins at this pc, or a->n_rows. */
static uint32_t dot_row_at(const struct cli_annotate *a, uint64_t pc)
{
    uint64_t i = 0;
    while (i < a->n_rows && a->rows[i].pc != pc)
        i++;
    return (uint32_t)i;
}

static void dot_edges(const struct cli_annotate *a, const jsprof_read_block *blocks,
                      uint32_t n, uint32_t from)
{
    const jsprof_read_row *last = &a->rows[blocks[from].first + blocks[from].n - 1];
    if (!last->ends && from + 1 < n)
        printf("  b%" PRIu32 " -> b%" PRIu32 ";\n", from, from + 1);
    for (uint32_t t = 0; t < last->n_targets; t++) {
        uint32_t row = dot_row_at(a, last->targets[t]);
        uint32_t to = row < a->n_rows ? dot_of_row(blocks, n, row) : n;
        if (to < n)
            printf("  b%" PRIu32 " -> b%" PRIu32 " [style=dashed];\n", from, to);
    }
}

void cli_annotate_dot(const struct cli_annotate *a)
{
    jsprof_read_block *blocks;
    int64_t found = jsprof_read_listing_blocks(a->listing, 0, NULL, 0);
    uint32_t n = (uint32_t)found;
    char percent[CLI_NUMBER];
    double all = a->inside.value ? (double)a->inside.value : 1;
    blocks = calloc((size_t)n + 1, sizeof *blocks);
    if (blocks) {
        blocks->size = sizeof *blocks;
        found = jsprof_read_listing_blocks(a->listing, 0, blocks, n);
    }
    if (cli_incomplete(!blocks || found < 0)) {
        free(blocks);
        return;
    }
    fputs("digraph listing {\n  labelloc=t;\n  label=\"", stdout);
    dot_text(a, cli_span(a->function.name));
    printf("\\nself %s of all\";\n", cli_percent(percent, (double)a->inside.self / all));
    puts("  node [shape=box, style=filled, fontname=\"monospace\"];");
    for (uint32_t i = 0; i < n; i++)
        dot_block(a, &blocks[i], i);
    for (uint32_t i = 0; i < n; i++)
        dot_edges(a, blocks, n, i);
    puts("}");
    free(blocks);
}
