/* calls/sum.c - sums over the tables of all threads; see calls.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "calls.h"

enum { SUM_PATIENT = 8 };

void jsp_calls_look(struct jsp_calls_session *s)
{
    for (uint32_t i = 0; i < s->n_members; i++) {
        s->members[i].h = jsp_calls_horizon(s->members[i].c);
        /* bounds the wait for many threads */
        s->members[i].h.naps /= 1 + i / SUM_PATIENT;
        s->members[i].h.naps += !s->members[i].h.naps;
    }
}

static bool sum_block_of(struct jsp_calls_member *m, uint32_t block,
                         struct jsp_calls_cell *cells)
{
    struct jsp_calls_cell one;
    if (!jsp_calls_is_touched(m->c, block))
        return false;
    for (uint32_t i = 0; i < JSP_CALLS_BLOCK; i++) {
        jsp_calls_read_function(m->c, block * JSP_CALLS_BLOCK + i, &m->h, &one);
        jsp_calls_cell_add(&cells[i], &one);
    }
    return true;
}

bool jsp_calls_sum_block(const struct jsp_calls_session *s, uint32_t block,
                         struct jsp_calls_cell *cells)
{
    struct jsp_calls_member gone = { .c = s->gone, .h = { .naps = 1 } };
    memset(cells, 0, JSP_CALLS_BLOCK * sizeof *cells);
    bool any = sum_block_of(&gone, block, cells);
    for (uint32_t i = 0; i < s->n_members; i++)
        any = sum_block_of(&s->members[i], block, cells) || any;
    return any;
}

static void sum_edges_of(struct jsp_calls_session *s, struct jsp_calls_member *m,
                         struct jsp_calls_cell *cells)
{
    uint32_t n = jsp_calls_n_edges(m->c);
    for (uint32_t i = 0; i < n; i++) {
        struct jsp_calls_cell one;
        const struct jsp_calls_edge *e = &m->c->edges[i];
        uint32_t at = i ? jsp_calls_edge(s->merged, e->caller, e->callee) : 0;
        jsp_calls_read_edge(m->c, i, &m->h, &one);
        jsp_calls_cell_add(&cells[at], &one);
    }
}

uint32_t jsp_calls_sum_edges(struct jsp_calls_session *s, struct jsp_calls_cell *cells)
{
    struct jsp_calls_member gone = { .c = s->gone, .h = { .naps = 1 } };
    memset(cells, 0, jsp_calls_n_edges(s->merged) * sizeof *cells);
    sum_edges_of(s, &gone, cells);
    for (uint32_t i = 0; i < s->n_members; i++)
        sum_edges_of(s, &s->members[i], cells);
    return jsp_calls_n_edges(s->merged);
}

uint64_t jsp_calls_cell_show(struct jsp_calls_cell *cell)
{
    uint64_t missing = cell->self < 0 ? 0 - (uint64_t)cell->self : 0;
    cell->self += (int64_t)missing;
    if (cell->total < cell->self)
        cell->total = cell->self;
    return missing;
}

static void sum_account_of(struct jsp_calls_account *a, struct jsp_calls_member *m)
{
    struct jsp_calls_cell gc = { 0 };
    jsp_calls_read_gc(m->c, &m->h, &gc);
    a->gc += gc.total > 0 ? (uint64_t)gc.total : 0;
    a->own += jsp_calls_read_own(m->c, &m->h);
    a->depth_lost += jsp_counted(&m->c->depth_lost);
    a->underflows += jsp_counted(&m->c->underflows);
    a->clock_back += jsp_counted(&m->c->clock_back);
    a->foreign += jsp_counted(&m->c->foreign);
}

struct jsp_calls_account jsp_calls_account(const struct jsp_calls_session *s)
{
    /* ORDER: relaxed. The caller holds the lock of the threads that store it. */
    uint32_t epoch = atomic_load_explicit(&s->shared->epoch, memory_order_relaxed);
    struct jsp_calls_account a = { .threads = s->n_members,
                                   .modes = s->shared->epochs[epoch % JSP_CALLS_EPOCHS].modes };
    struct jsp_calls_member gone = { .c = s->gone, .h = { .naps = 1 } };
    sum_account_of(&a, &gone);
    for (uint32_t i = 0; i < s->n_members; i++) {
        sum_account_of(&a, &s->members[i]);
        a.waiting += s->members[i].h.torn || jsp_calls_waits(s->members[i].c);
    }
    return a;
}
