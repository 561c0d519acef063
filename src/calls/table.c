/* calls/table.c - see table.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table.h"

#include <stdlib.h>
#include <sys/mman.h>

/* The parts after struct jsp_calls in its mapping, in bytes from the start. */
struct table_layout {
    size_t touched, counts, rows, entries, edges, edge_slots, asides, aside_slots, end;
};

/* Put each part on pages of its own. */
static size_t table_part(size_t *at, size_t bytes)
{
    enum { PAGE = 4096 };
    size_t begin = (*at + PAGE - 1) & ~(size_t)(PAGE - 1);
    *at = begin + bytes;
    return begin;
}

static struct table_layout table_lay_out(void)
{
    struct table_layout l;
    size_t at = sizeof(struct jsp_calls);
    l.touched = table_part(&at, JSP_CALLS_BLOCKS);
    l.counts = table_part(&at, JSP_FUNCTION_IDS * sizeof(uint64_t));
    l.rows = table_part(&at, JSP_FUNCTION_IDS * sizeof(struct jsp_calls_row));
    l.entries = table_part(&at, JSP_CALLS_OPEN * sizeof(struct jsp_calls_entry));
    l.edges = table_part(&at, JSP_CALLS_EDGES * sizeof(struct jsp_calls_edge));
    l.edge_slots = table_part(&at, JSP_CALLS_EDGE_SLOTS * sizeof(uint32_t));
    l.asides = table_part(&at, JSP_CALLS_ASIDE * sizeof(struct jsp_calls_aside));
    l.aside_slots = table_part(&at, JSP_CALLS_ASIDE * sizeof(uint32_t));
    l.end = at;
    return l;
}

struct jsp_calls_shared *jsp_calls_shared_new(const struct jsp_calls_clock *clock)
{
    struct jsp_calls_shared *shared = calloc(1, sizeof *shared);
    if (!shared)
        return NULL;
    shared->clock = *clock;
    /* ORDER: relaxed. No other thread has it yet. */
    atomic_store_explicit(&shared->holders, 1, memory_order_relaxed);
    return shared;
}

void jsp_calls_shared_drop(struct jsp_calls_shared *shared)
{
    /* ORDER: acq_rel. The last holder frees it after all others have finished. */
    if (shared && atomic_fetch_sub_explicit(&shared->holders, 1, memory_order_acq_rel) == 1)
        free(shared);
}

int jsp_calls_create(struct jsp_calls **out, struct jsp_calls_shared *shared,
                     const void *owner)
{
    struct table_layout l = table_lay_out();
    char *base = mmap(NULL, l.end, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return -errno;
    madvise(base, l.end, MADV_NOHUGEPAGE); /* so that a touch takes a page, not 2 MiB */
    struct jsp_calls *c = (void *)base;
    c->touched = (void *)(base + l.touched);
    c->counts = (void *)(base + l.counts);
    c->bytes = l.end;
    c->shared = shared;
    /* ORDER: relaxed. The caller is a holder, so it does not go away. */
    atomic_fetch_add_explicit(&shared->holders, 1, memory_order_relaxed);
    /* ORDER: relaxed, as below. */
    atomic_store_explicit(&c->owner, owner, memory_order_relaxed);
    c->rows = (void *)(base + l.rows);
    c->entries = (void *)(base + l.entries);
    c->edges = (void *)(base + l.edges);
    c->edge_slots = (void *)(base + l.edge_slots);
    c->asides = (void *)(base + l.asides);
    c->aside_slots = (void *)(base + l.aside_slots);
    jsp_calls_touch(c, JSP_FUNCTION_OUTSIDE);
    struct jsp_calls_entry *floor = &c->levels[0].floor;
    /* ORDER: relaxed. The caller's lock publishes them. */
    atomic_store_explicit(&floor->row, &c->rows[JSP_FUNCTION_OUTSIDE], memory_order_relaxed);
    atomic_store_explicit(&c->top, floor, memory_order_relaxed); /* ORDER: relaxed, same */
    atomic_store_explicit(&c->n_edges, 1, memory_order_relaxed); /* ORDER: relaxed, same */
    *out = c;
    return 0;
}

void jsp_calls_destroy(struct jsp_calls *c)
{
    if (!c)
        return;
    jsp_calls_shared_drop(c->shared);
    munmap(c, c->bytes);
}

uint32_t jsp_calls_edge(struct jsp_calls *c, uint32_t caller, uint32_t callee)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t at = (uint32_t)(key * 0x9E3779B97F4A7C15u >> 46); /* 18 bits */
    _Static_assert(JSP_CALLS_EDGE_SLOTS == 1 << 18, "the shift above");
    for (;; at = (at + 1) % JSP_CALLS_EDGE_SLOTS) { /* half of the slots stay free */
        uint32_t i = c->edge_slots[at];
        if (i && c->edges[i].caller == caller && c->edges[i].callee == callee)
            return i;
        if (!i)
            break;
    }
    /* ORDER: relaxed. Only the owner stores it. */
    uint32_t n = atomic_load_explicit(&c->n_edges, memory_order_relaxed);
    if (n == JSP_CALLS_EDGES)
        return 0;
    c->edge_slots[at] = n;
    c->edges[n].caller = caller;
    c->edges[n].callee = callee;
    /* E1. ORDER: release, pairs with the readers': the edge is complete. */
    atomic_store_explicit(&c->n_edges, n + 1, memory_order_release);
    return n;
}
