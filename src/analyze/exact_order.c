/* analyze/exact_order.c - exact calls in nanoseconds and in order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "exact.h"

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

/* The sort key of one row: two figures, then two names. */
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

/* A list that keeps the first `most` keys, in order; 0: all. If `most` is small, a key
 * after the last of them is dropped at once, so most texts are never compared. */
struct order {
    struct order_key *keys; /* owned; NULL: no memory */
    uint32_t n, most, room, all;
    bool is_cut;            /* keys[most - 1] is the last key that may still be shown */
};

static struct order order_begin(uint32_t n, uint32_t most)
{
    struct order o = { .most = most && most < n / 2 ? most : n };
    o.room = o.most < n ? o.most * 2 : n;
    o.keys = calloc((size_t)o.room + 1, sizeof *o.keys);
    return o;
}

static void order_sort(struct order *o)
{
    if (o->n)
        qsort(o->keys, o->n, sizeof *o->keys, order_compare);
    o->is_cut = o->most && o->n >= o->most;
    o->n = o->is_cut ? o->most : o->n;
}

static void order_add(struct order *o, const struct order_key *key)
{
    o->all++;
    if (o->is_cut && order_compare(key, &o->keys[o->most - 1]) > 0)
        return;
    o->keys[o->n++] = *key;
    if (o->n == o->room)
        order_sort(o);
}

static uint32_t *order_finish(struct order *o, uint32_t *n)
{
    uint32_t *out = o->keys ? malloc(((size_t)o->room + 1) * sizeof *out) : NULL;
    if (o->keys)
        order_sort(o);
    for (uint32_t i = 0; out && i < o->n; i++)
        out[i] = o->keys[i].at;
    *n = out ? o->all : 0;
    free(o->keys);
    return out;
}

uint32_t *jsp_exact_order(const struct jsp_exact *c, enum jsp_exact_sort by, uint32_t most,
                          uint32_t *n)
{
    struct order o = order_begin(c->n_functions, most);
    for (uint32_t i = 0; o.keys && i < c->n_functions; i++) {
        if (jsp_exact_is_empty(&c->functions[i].cost))
            continue;
        struct order_key key = { .name = c->functions[i].shown, .other = "", .at = i };
        order_figures(&key, &c->functions[i].cost, by);
        order_add(&o, &key);
    }
    return order_finish(&o, n);
}

uint32_t *jsp_exact_order_edges(const struct jsp_exact *c, enum jsp_exact_sort by,
                                uint32_t most, uint32_t *n)
{
    struct order o = order_begin(c->n_edges, most);
    for (uint32_t i = 0; o.keys && i < c->n_edges; i++) {
        const struct jsp_exact_edge *e = &c->edges[i];
        if (jsp_exact_is_empty(&e->cost))
            continue;
        struct order_key key = { .name = c->functions[e->caller].shown,
                                 .other = c->functions[e->callee].shown, .at = i };
        order_figures(&key, &e->cost, by);
        order_add(&o, &key);
    }
    return order_finish(&o, n);
}
