/* session/fold.c - see fold.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(JSP_FOLD_ROWS < UINT16_MAX, "a slot holds the number of a row");

struct jsp_fold *jsp_fold_open(void)
{
    return calloc(1, sizeof(struct jsp_fold));
}

void jsp_fold_close(struct jsp_fold *f)
{
    free(f);
}

static uint32_t fold_hash(const struct jsp_fold_row *r)
{
    uint64_t h = (uint64_t)(uint32_t)r->tid << 32 | r->node;
    h = (h ^ (uint64_t)r->state.state << 40 ^ r->state.call ^ r->labels << 8) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 40);
}

/* How long a thread has slept is no reason for another row. */
static bool fold_is_same(const struct jsp_fold_row *a, const struct jsp_fold_row *b)
{
    return a->node == b->node && a->tid == b->tid && a->state.state == b->state.state &&
           a->state.call == b->state.call && a->state.descriptor == b->state.descriptor &&
           a->state.name == b->state.name && a->labels == b->labels &&
           a->tally == b->tally;
}

/* Return the slot of this row, or the free one where it belongs. */
static uint32_t fold_slot(const struct jsp_fold *f, const struct jsp_fold_row *sample)
{
    enum { MASK = 2 * JSP_FOLD_ROWS - 1 };
    uint32_t at = fold_hash(sample) & MASK;
    while (f->slots[at] && !fold_is_same(&f->rows[f->slots[at] - 1], sample))
        at = (at + 1) & MASK;
    return at;
}

int jsp_fold_add(struct jsp_fold *f, const struct jsp_fold_row *sample, uint64_t time_ns,
                 bool *is_new)
{
    uint32_t at = fold_slot(f, sample);
    *is_new = !f->slots[at];
    if (*is_new && f->n == JSP_FOLD_ROWS)
        return -ENOSPC;
    if (*is_new) {
        f->rows[f->n] = *sample;
        f->slots[at] = (uint16_t)++f->n;
    } else {
        struct jsp_fold_row *row = &f->rows[f->slots[at] - 1];
        row->weight += sample->weight;
        row->cpu_ns += sample->cpu_ns;
        row->cut += sample->cut;
        row->state = sample->state;
    }
    f->last_ns = time_ns > f->last_ns ? time_ns : f->last_ns;
    return 0;
}

void jsp_fold_drop(struct jsp_fold *f, uint32_t n)
{
    f->n -= n;
    memset(f->slots, 0, sizeof f->slots);
    memmove(f->rows, f->rows + n, f->n * sizeof *f->rows);
    for (uint32_t i = 0; i < f->n; i++)
        f->slots[fold_slot(f, &f->rows[i])] = (uint16_t)(i + 1);
}

/* qsort */
static int fold_compare(const void *a, const void *b)
{
    const struct jsp_fold_row *x = a, *y = b;
    return x->tid != y->tid ? (x->tid > y->tid) - (x->tid < y->tid)
                            : (x->node > y->node) - (x->node < y->node);
}

void jsp_fold_sort(struct jsp_fold *f)
{
    qsort(f->rows, f->n, sizeof *f->rows, fold_compare);
    jsp_fold_drop(f, 0);
}
