/* image/table.c - see table.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sigsafe/cfa.h"
#include "base/block.h"
#include "base/pool.h"

enum {
    TABLE_PADDING = 16,
    TABLE_ROWS_A_PAGE = 16,
    TABLE_PAGE_SHIFT = 4,
    TABLE_MOST_SHIFT = 31,     /* of a 32-bit number */
    TABLE_BYTES_A_ROW = 5,     /* of the section: an estimate, never a bound */
    TABLE_BYTES_A_PIECE = 48,
    TABLE_HUGE = 2 << 20,
};

/* The rows of one function. */
struct jsp_table_piece {
    uint32_t start, end; /* relative to the object's start */
    uint32_t first, n;   /* rows */
};

/* A table that is being built; its rows are in the order of the section. */
struct table_work {
    const struct jsp_ehframe_section *section;
    uint64_t start, end;
    struct jsp_unwind_row *rows;  /* owned */
    struct jsp_table_piece *pieces; /* owned; one for each FDE read */
    uint32_t n_rows, room_rows, n_pieces, room_pieces;
    struct jsp_pool rules, exprs;
    uint64_t n_states;
    int err;                      /* an error other than a bad FDE: give up */
    const _Atomic bool *unwanted;
};

/* -- Order ------------------------------------------------------------------ */

/* Linkers leave nearly all pieces in order, but a large object has a hundred thousand. A
 * list in order costs one pass; any other costs three passes of a radix sort. */

enum { SORT_BITS = 11, SORT_PASSES = 3, SORT_BUCKETS = 1 << SORT_BITS };

struct table_digit {
    uint32_t shift;
    /* SORT_BUCKETS counters, on the heap because callers have little stack */
    uint32_t *at;
};

static void table_sort_pass(const struct jsp_table_piece *from, struct jsp_table_piece *to,
                      uint32_t n, struct table_digit digit)
{
    uint32_t *at = digit.at, shift = digit.shift, sum = 0;
    memset(at, 0, SORT_BUCKETS * sizeof *at);
    for (uint32_t i = 0; i < n; i++)
        at[from[i].start >> shift & (SORT_BUCKETS - 1)]++;
    for (uint32_t b = 0; b < SORT_BUCKETS; b++) {
        uint32_t here = at[b];
        at[b] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < n; i++)
        to[at[from[i].start >> shift & (SORT_BUCKETS - 1)]++] = from[i];
}

/* Sort by start; equal ones keep their order. Return 0, or -ENOMEM: nothing has changed. */
static int table_sort(struct jsp_table_piece *pieces, uint32_t n)
{
    uint32_t in_order = 1;
    while (in_order < n && pieces[in_order - 1].start <= pieces[in_order].start)
        in_order++;
    if (in_order >= n)
        return 0;
    enum { BUCKETS = SORT_BUCKETS * sizeof(uint32_t) };
    struct jsp_table_piece *other = jsp_block_grow(NULL, n * sizeof *other + BUCKETS);
    struct jsp_table_piece *from = pieces, *to = other;
    if (!other)
        return -ENOMEM;
    for (uint32_t pass = 0; pass < SORT_PASSES; pass++) {
        table_sort_pass(from, to, n, (struct table_digit){ pass * SORT_BITS, (void *)(other + n) });
        struct jsp_table_piece *swap = from;
        from = to;
        to = swap;
    }
    /* after an odd number of passes the result is in `other` */
    memcpy(pieces, other, n * sizeof *pieces);
    jsp_block_free(other);
    return 0;
}

/* -- Memory ----------------------------------------------------------------- */

/* Ask for huge pages inside the array. Large arrays are filled once, from the front, and
 * a page fault for every 4 KiB was a third of a build. Only whole huge pages inside the
 * array are asked for, so none costs memory. */
static void table_fault_less(void *array, size_t bytes)
{
    uintptr_t huge = TABLE_HUGE, low = ((uintptr_t)array + huge - 1) & ~(huge - 1);
    uintptr_t high = ((uintptr_t)array + bytes) & ~(huge - 1);
    if (low < high)
        madvise((void *)low, high - low, MADV_HUGEPAGE); /* a failure changes nothing */
}

/* Make room for one more item of `size` bytes; a new array gets room for `guess`
 * items. */
static int table_grow(void **array, uint32_t n, uint32_t *room, size_t size, size_t guess)
{
    if (n < *room)
        return 0;
    size_t more = *room ? (size_t)*room * 2 : guess + 64;
    void *bigger = more <= UINT32_MAX ? jsp_block_grow(*array, more * size) : NULL;
    if (!bigger)
        return -ENOMEM;
    table_fault_less(bigger, more * size);
    *array = bigger;
    *room = (uint32_t)more;
    return 0;
}

/* -- The row of a state ------------------------------------------------------- */

/* Copy the cell's expression into the table. Return false without memory. */
static bool table_keep_expr(struct table_work *w, struct jsp_unwind_cell *cell)
{
    if (cell->is != JSP_CELL_AT_EXPR && cell->is != JSP_CELL_IS_EXPR)
        return true;
    int64_t at = 0;
    if (cell->n)
        at = jsp_pool_add(&w->exprs, w->section->bytes + cell->value, cell->n);
    if (at < 0)
        w->err = (int)at;
    cell->value = (int32_t)at;
    return at >= 0;
}

static uint32_t table_rule(struct table_work *w, const struct jsp_ehframe_cie *cie,
                           const struct jsp_cfa_state *s)
{
    struct jsp_unwind_rule rule;
    if (!jsp_cfa_rule(cie, s, &rule))
        return JSP_HOW_END;
    if (!table_keep_expr(w, &rule.cfa) || !table_keep_expr(w, &rule.ra) ||
        !table_keep_expr(w, &rule.sp) || !table_keep_expr(w, &rule.fp) ||
        !table_keep_expr(w, &rule.extra))
        return JSP_HOW_NONE;
    int64_t at = jsp_pool_add(&w->rules, &rule, sizeof rule);
    if (at < 0) {
        w->err = (int)at;
        return JSP_HOW_NONE;
    }
    return JSP_HOW_RULE | (uint32_t)((size_t)at / sizeof rule) << JSP_HOW_KIND_BITS;
}

static bool table_row(void *arg, const struct jsp_ehframe_fde *fde, uint64_t at,
                      const struct jsp_cfa_state *s)
{
    struct table_work *w = arg;
    struct jsp_table_piece *piece = &w->pieces[w->n_pieces];
    uint32_t how;
    w->n_states++;
    if (at - fde->start >= fde->length)
        return true; /* a state after the end of the function */
    if (fde->cie->is_signal || !jsp_cfa_plain(s, &how))
        how = table_rule(w, fde->cie, s);
    if (piece->n && w->rows[w->n_rows - 1].how == how)
        return true;
    if (!w->err)
        w->err = table_grow((void **)&w->rows, w->n_rows, &w->room_rows, sizeof *w->rows,
                            w->section->n / TABLE_BYTES_A_ROW);
    if (w->err)
        return false;
    w->rows[w->n_rows++] = (struct jsp_unwind_row){ (uint32_t)(at - w->start), how };
    piece->n++;
    return true;
}

/* -- All functions ------------------------------------------------------------ */

static bool table_add(struct table_work *w, struct jsp_cfa *cfa,
                      const struct jsp_ehframe_fde *fde)
{
    uint32_t n_rows = w->n_rows;
    if (fde->start < w->start || fde->start + fde->length > w->end)
        return false;
    w->err = table_grow((void **)&w->pieces, w->n_pieces, &w->room_pieces,
                        sizeof *w->pieces, w->section->n / TABLE_BYTES_A_PIECE);
    if (w->err)
        return false;
    struct jsp_table_piece *piece = &w->pieces[w->n_pieces];
    piece->start = (uint32_t)(fde->start - w->start);
    piece->end = (uint32_t)(fde->start + fde->length - w->start);
    piece->first = n_rows;
    piece->n = 0;
    if (!jsp_cfa_run(cfa, fde, table_row, w)) {
        w->n_rows = n_rows;
        return false;
    }
    w->n_pieces++;
    return true;
}

static bool table_is_unwanted(const struct table_work *w)
{
    /* ORDER: relaxed. It only saves work. */
    return atomic_load_explicit(w->unwanted, memory_order_relaxed);
}

static int table_read(struct table_work *w, struct jsp_table *table)
{
    struct jsp_ehframe *e = jsp_block_grow(NULL, sizeof *e);
    struct jsp_cfa *cfa = jsp_block_zeros(1, sizeof *cfa);
    struct jsp_ehframe_fde fde;
    w->err = e && cfa ? 0 : -ENOMEM;
    if (!w->err) {
        cfa->section = w->section;
        jsp_ehframe_begin(e, w->section);
        while (!w->err && jsp_ehframe_next(e, &fde)) {
            table->n_fdes++;
            table->n_refused += !table_add(w, cfa, &fde);
            if (table_is_unwanted(w) && !w->err)
                w->err = -ECANCELED;
        }
        table->n_refused += e->n_refused;
        table->n_states = w->n_states;
    }
    jsp_block_free(cfa);
    jsp_block_free(e);
    return w->err;
}

/* Write the pieces' rows in order of address to `rows`, which has room for all of them
 * and one more for each piece. Return their number. */
static uint32_t table_join(const struct table_work *w, struct jsp_unwind_row *rows)
{
    uint32_t n = 0, how = JSP_HOW_NONE;
    for (uint32_t i = 0; i < w->n_pieces; i++) {
        const struct jsp_table_piece *p = &w->pieces[i];
        uint32_t next = i + 1 < w->n_pieces ? p[1].start : UINT32_MAX;
        for (uint32_t k = p->first; k < p->first + p->n && w->rows[k].start < next; k++) {
            if (w->rows[k].how != how)
                rows[n++] = w->rows[k];
            how = w->rows[k].how;
        }
        if (p->end < next && next - p->end >= TABLE_PADDING && how != JSP_HOW_NONE) {
            rows[n++] = (struct jsp_unwind_row){ p->end, JSP_HOW_NONE };
            how = JSP_HOW_NONE;
        }
    }
    return n;
}

static int table_finish(struct table_work *w, struct jsp_unwind_object *o)
{
    uint32_t span = (uint32_t)(w->end - w->start), shift = TABLE_PAGE_SHIFT;
    size_t most = (size_t)w->n_rows + w->n_pieces + 1;
    int err = table_sort(w->pieces, w->n_pieces);
    struct jsp_unwind_row *rows = err ? NULL : jsp_block_grow(NULL, most * sizeof *rows);
    if (!rows)
        return err ? err : -ENOMEM;
    table_fault_less(rows, most * sizeof *rows);
    o->n_rows = table_join(w, rows);
    struct jsp_unwind_row *fit = jsp_block_grow(rows, (o->n_rows + 1) * sizeof *rows);
    o->rows = fit ? fit : rows;
    while (shift < TABLE_MOST_SHIFT && span >> shift > o->n_rows / TABLE_ROWS_A_PAGE)
        shift++;
    o->page_shift = shift;
    uint32_t n_pages = (span >> shift) + 1;
    uint32_t *pages = jsp_block_grow(NULL, (n_pages + 1) * sizeof *pages);
    if (!pages) {
        jsp_block_free((void *)(uintptr_t)o->rows);
        return -ENOMEM;
    }
    for (uint32_t page = 0, row = 0; page <= n_pages; page++) {
        uint64_t first = (uint64_t)page << shift;
        while (row < o->n_rows && o->rows[row].start < first)
            row++;
        pages[page] = row;
    }
    o->pages = pages;
    return 0;
}

int jsp_table_build(struct jsp_table *table, const struct jsp_ehframe_section *section,
                    uint64_t start, uint64_t end)
{
    static const _Atomic bool never;
    return jsp_table_build_unless(&never, table, section, start, end);
}

int jsp_table_build_unless(const _Atomic bool *unwanted, struct jsp_table *table,
                           const struct jsp_ehframe_section *section, uint64_t start,
                           uint64_t end)
{
    struct table_work w = { .section = section, .start = start, .end = end,
                            .unwanted = unwanted };
    struct jsp_table made = { .object = { .start = start, .end = end } };
    if (end < start || end - start >= UINT32_MAX)
        return -EFBIG;
    int err = table_read(&w, &made);
    if (!err)
        err = table_finish(&w, &made.object);
    jsp_block_free(w.rows);
    jsp_block_free(w.pieces);
    jsp_block_free(w.rules.slots);
    jsp_block_free(w.exprs.slots);
    if (err) {
        jsp_block_free(w.rules.bytes);
        jsp_block_free(w.exprs.bytes);
        return err;
    }
    made.object.rules = (const void *)w.rules.bytes;
    made.object.n_rules = w.rules.n_bytes / (uint32_t)sizeof *made.object.rules;
    made.object.exprs = w.exprs.bytes;
    made.object.n_exprs = w.exprs.n_bytes;
    *table = made;
    return 0;
}

void jsp_table_free(struct jsp_table *table)
{
    struct jsp_unwind_object *o = &table->object;
    jsp_block_free((void *)(uintptr_t)o->rows);
    jsp_block_free((void *)(uintptr_t)o->pages);
    jsp_block_free((void *)(uintptr_t)o->rules);
    jsp_block_free((void *)(uintptr_t)o->exprs);
    *table = (struct jsp_table){ 0 };
}
