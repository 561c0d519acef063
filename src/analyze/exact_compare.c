/* analyze/exact_compare.c - a comparison of the exact calls of two captures.
 *
 * SPDX-License-Identifier: MIT
 */
#include "exact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A function of one capture, in the order of both. */
struct compare_one {
    const struct jsp_exact_function *f;
    bool is_done;
};

struct compare_side {
    const struct jsp_exact *from;
    struct compare_one *at; /* owned; sorted by name, file and line */
    uint32_t n;
};

struct compare_build {
    struct compare_side first, second;
    struct jsp_exact_pair *pairs;
    uint32_t n;
};

static int compare_text(struct jsp_read_text a, struct jsp_read_text b)
{
    uint32_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.at, b.at, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_place(const struct jsp_exact_function *a, const struct jsp_exact_function *b)
{
    int order = compare_text(a->name, b->name);
    return order ? order : compare_text(a->file, b->file);
}

static int compare_line(const struct jsp_exact_function *a, const struct jsp_exact_function *b)
{
    int order = compare_place(a, b);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_ones(const void *x, const void *y)
{
    const struct compare_one *a = x, *b = y;
    int order = compare_line(a->f, b->f);
    return order ? order : (a->f > b->f) - (a->f < b->f);
}

static int compare_side(struct compare_side *s, const struct jsp_exact *from)
{
    s->from = from;
    s->n = from->n_functions;
    s->at = calloc((size_t)s->n + 1, sizeof *s->at);
    if (!s->at)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->n; i++)
        s->at[i].f = &from->functions[i];
    if (s->n)
        qsort(s->at, s->n, sizeof *s->at, compare_ones);
    return 0;
}

static struct jsp_exact_cost compare_cost(const struct jsp_exact *c,
                                          const struct jsp_exact_cost *cost)
{
    struct jsp_exact_cost out = *cost;
    out.self = jsp_exact_ns(c, cost->self);
    out.total = jsp_exact_ns(c, cost->total);
    return out;
}

static void compare_pair(struct compare_build *b, const struct jsp_exact_function *f,
                         const struct jsp_exact_function *g)
{
    struct jsp_exact_pair p = { .function = g ? g : f };
    if (f)
        p.first = compare_cost(b->first.from, &f->cost);
    if (g)
        p.second = compare_cost(b->second.from, &g->cost);
    p.in_first = f && !jsp_exact_is_empty(&f->cost);
    p.in_second = g && !jsp_exact_is_empty(&g->cost);
    if (p.in_first || p.in_second)
        b->pairs[b->n++] = p;
}

/* Pair the functions that are equal in this order. */
static void compare_match(struct compare_build *b,
                          int (*order)(const struct jsp_exact_function *,
                                       const struct jsp_exact_function *))
{
    struct compare_one *f = b->first.at, *g = b->second.at;
    struct compare_one *f_end = f + b->first.n, *g_end = g + b->second.n;
    while (f < f_end && g < g_end) {
        int which = f->is_done ? -1 : g->is_done ? 1 : order(f->f, g->f);
        if (which == 0) {
            compare_pair(b, f->f, g->f);
            f->is_done = g->is_done = true;
        }
        f += which <= 0;
        g += which >= 0;
    }
}

/* -- Order ------------------------------------------------------------------ */

static uint64_t compare_key(const struct jsp_exact_cost *cost, enum jsp_exact_sort by)
{
    switch (by) {
    case JSP_EXACT_BY_TOTAL: return cost->total;
    case JSP_EXACT_BY_CALLS: return cost->calls;
    case JSP_EXACT_BY_EACH: return jsp_exact_each(cost);
    case JSP_EXACT_BY_BYTES: return cost->self_bytes;
    case JSP_EXACT_BY_SELF: return cost->self;
    default: return 0;
    }
}

static uint64_t compare_change(const struct jsp_exact_pair *p, enum jsp_exact_sort by)
{
    uint64_t a = compare_key(&p->first, by), b = compare_key(&p->second, by);
    return a > b ? a - b : b - a;
}

struct compare_key {
    uint64_t change, calls;
    struct jsp_exact_pair pair;
};

static int compare_keys(const void *x, const void *y)
{
    const struct compare_key *a = x, *b = y;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    if (a->calls != b->calls)
        return a->calls > b->calls ? -1 : 1;
    return strcmp(a->pair.function->shown, b->pair.function->shown);
}

static int compare_sort(struct compare_build *b, enum jsp_exact_sort by)
{
    struct compare_key *keys = calloc((size_t)b->n + 1, sizeof *keys);
    if (!keys)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->n; i++)
        keys[i] = (struct compare_key){ compare_change(&b->pairs[i], by),
                                        compare_change(&b->pairs[i], JSP_EXACT_BY_CALLS),
                                        b->pairs[i] };
    for (uint32_t i = 0; i < b->n && by == JSP_EXACT_BY_NAME; i++)
        keys[i].change = keys[i].calls = 0;
    if (b->n)
        qsort(keys, b->n, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < b->n; i++)
        b->pairs[i] = keys[i].pair;
    free(keys);
    return 0;
}

int jsp_exact_compare(struct jsp_exact_pair **out, uint32_t *n, const struct jsp_exact *first,
                      const struct jsp_exact *second, enum jsp_exact_sort by)
{
    struct compare_build b = { .n = 0 };
    b.pairs = calloc((size_t)first->n_functions + second->n_functions + 1, sizeof *b.pairs);
    int err = b.pairs ? compare_side(&b.first, first) : -ENOMEM;
    if (!err)
        err = compare_side(&b.second, second);
    if (!err) {
        compare_match(&b, compare_line);
        compare_match(&b, compare_place);
        for (uint32_t i = 0; i < b.first.n; i++)
            if (!b.first.at[i].is_done)
                compare_pair(&b, b.first.at[i].f, NULL);
        for (uint32_t i = 0; i < b.second.n; i++)
            if (!b.second.at[i].is_done)
                compare_pair(&b, NULL, b.second.at[i].f);
    }
    if (!err)
        err = compare_sort(&b, by);
    free(b.first.at);
    free(b.second.at);
    if (err) {
        free(b.pairs);
        return err;
    }
    *out = b.pairs;
    *n = b.n;
    return 0;
}
