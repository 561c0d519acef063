/* exact_order.c - exact calls as figures: nanoseconds, and in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "analyze/exact.h"

uint64_t jsp_exact_ns(const struct jsp_exact *c, uint64_t ticks)
{
    uint64_t per_second = c->commit[JSP_WIRE_COMMIT_TICKS_PER_SECOND];
    if (per_second == 0 || per_second == 1000000000u)
        return ticks;
    unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u / per_second;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

bool jsp_exact_is_empty(const struct jsp_exact_cost *cost)
{
    return !(cost->calls | cost->self | cost->total | cost->self_bytes | cost->total_bytes);
}

uint64_t jsp_exact_each(const struct jsp_exact_cost *cost)
{
    return cost->calls ? cost->total / cost->calls : 0;
}

/* What one row is sorted by: two figures, then two names. */
struct order_key {
    uint64_t first, second;
    const char *name, *other;
    uint32_t at;
};

static int order_compare(const void *x, const void *y)
{
    const struct order_key *a = x, *b = y;
    if (a->first != b->first)
        return a->first > b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second > b->second ? -1 : 1;
    int order = strcmp(a->name, b->name);
    if (!order)
        order = strcmp(a->other, b->other);
    return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

static void order_figures(struct order_key *key, const struct jsp_exact_cost *cost,
                          enum jsp_exact_sort by)
{
    switch (by) {
    case JSP_EXACT_BY_SELF: key->first = cost->self; break;
    case JSP_EXACT_BY_TOTAL: key->first = cost->total; break;
    case JSP_EXACT_BY_CALLS: key->first = cost->calls; break;
    case JSP_EXACT_BY_EACH: key->first = jsp_exact_each(cost); break;
    case JSP_EXACT_BY_BYTES: key->first = cost->self_bytes; break;
    default: return;
    }
    key->second = by == JSP_EXACT_BY_TOTAL ? cost->self : cost->total;
    if (!key->second)
        key->second = cost->calls;
}

static uint32_t *order_finish(struct order_key *keys, uint32_t n)
{
    uint32_t *out = keys ? malloc(((size_t)n + 1) * sizeof *out) : NULL;
    if (keys && n)
        qsort(keys, n, sizeof *keys, order_compare);
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = keys[i].at;
    free(keys);
    return out;
}

uint32_t *jsp_exact_order(const struct jsp_exact *c, enum jsp_exact_sort by, uint32_t *n)
{
    struct order_key *keys = calloc((size_t)c->n_functions + 1, sizeof *keys);
    *n = 0;
    for (uint32_t i = 0; keys && i < c->n_functions; i++) {
        if (jsp_exact_is_empty(&c->functions[i].cost))
            continue;
        keys[*n] = (struct order_key){ .name = c->functions[i].shown, .other = "", .at = i };
        order_figures(&keys[(*n)++], &c->functions[i].cost, by);
    }
    return order_finish(keys, *n);
}

uint32_t *jsp_exact_order_edges(const struct jsp_exact *c, enum jsp_exact_sort by,
                                uint32_t *n)
{
    struct order_key *keys = calloc((size_t)c->n_edges + 1, sizeof *keys);
    *n = 0;
    for (uint32_t i = 0; keys && i < c->n_edges; i++) {
        const struct jsp_exact_edge *e = &c->edges[i];
        if (jsp_exact_is_empty(&e->cost))
            continue;
        keys[*n] = (struct order_key){ .name = c->functions[e->caller].shown,
                                       .other = c->functions[e->callee].shown, .at = i };
        order_figures(&keys[(*n)++], &e->cost, by);
    }
    return order_finish(keys, *n);
}
