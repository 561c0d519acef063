/* exact_compare.c - exact calls of two captures, function beside function.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/exact_compare.h"

#include <errno.h>
#include <stdlib.h>

struct compare_build {
    const struct jsp_exact *first, *second;
    struct jsp_exact_pair *pairs;
    uint32_t n;
    bool *taken; /* functions of the second */
    struct jsp_hash of_second;
};

static bool compare_text(struct jsp_read_text a, struct jsp_read_text b)
{
    return a.len == b.len && (!a.len || memcmp(a.at, b.at, a.len) == 0);
}

static uint32_t compare_hash(const struct jsp_hash *t, const struct jsp_exact_function *f)
{
    uint64_t h = jsp_hash_bytes(t->seed, f->name.len ? f->name.at : "", f->name.len);
    return (uint32_t)(jsp_hash_bytes(h, f->file.len ? f->file.at : "", f->file.len) >> 16);
}

static struct jsp_exact_cost compare_cost(const struct jsp_exact *c,
                                          const struct jsp_exact_cost *cost)
{
    struct jsp_exact_cost out = *cost;
    out.self = jsp_exact_ns(c, cost->self);
    out.total = jsp_exact_ns(c, cost->total);
    return out;
}

/* Among those of the same name and file, the lowest line that is left. */
static uint32_t compare_find(const struct compare_build *b, const struct jsp_exact_function *f,
                             bool by_line)
{
    uint32_t hash = compare_hash(&b->of_second, f), probe = hash, at, best = 0;
    while ((at = jsp_hash_next(&b->of_second, hash, &probe)) != 0) {
        const struct jsp_exact_function *g = &b->second->functions[at - 1];
        if (b->taken[at - 1] || !compare_text(f->name, g->name) ||
            !compare_text(f->file, g->file) || (by_line && f->line != g->line))
            continue;
        if (!best || g->line < b->second->functions[best - 1].line)
            best = at;
    }
    return best;
}

static void compare_pair(struct compare_build *b, const struct jsp_exact_function *f,
                         const struct jsp_exact_function *g)
{
    struct jsp_exact_pair p = { .function = g ? g : f };
    if (f)
        p.first = compare_cost(b->first, &f->cost);
    if (g)
        p.second = compare_cost(b->second, &g->cost);
    p.in_first = f && !jsp_exact_is_empty(&f->cost);
    p.in_second = g && !jsp_exact_is_empty(&g->cost);
    if (p.in_first || p.in_second)
        b->pairs[b->n++] = p;
}

static void compare_match(struct compare_build *b, bool *done, bool by_line)
{
    for (uint32_t i = 0; i < b->first->n_functions; i++) {
        const struct jsp_exact_function *f = &b->first->functions[i];
        uint32_t at = done[i] ? 0 : compare_find(b, f, by_line);
        if (!at)
            continue;
        b->taken[at - 1] = done[i] = true;
        compare_pair(b, f, &b->second->functions[at - 1]);
    }
}

static int compare_all(struct compare_build *b, bool *done)
{
    for (uint32_t i = 0; i < b->second->n_functions; i++) {
        uint32_t hash = compare_hash(&b->of_second, &b->second->functions[i]);
        int err = jsp_hash_add(&b->of_second, hash, i);
        if (err)
            return err;
    }
    compare_match(b, done, true);
    compare_match(b, done, false);
    for (uint32_t i = 0; i < b->first->n_functions; i++)
        if (!done[i])
            compare_pair(b, &b->first->functions[i], NULL);
    for (uint32_t i = 0; i < b->second->n_functions; i++)
        if (!b->taken[i])
            compare_pair(b, NULL, &b->second->functions[i]);
    return 0;
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
    size_t all = (size_t)first->n_functions + second->n_functions + 1;
    struct compare_build b = { .first = first, .second = second };
    bool *done = calloc(all, sizeof *done);
    b.taken = calloc(all, sizeof *b.taken);
    b.pairs = calloc(all, sizeof *b.pairs);
    int err = done && b.taken && b.pairs ? jsp_hash_init(&b.of_second, second->n_functions)
                                         : -ENOMEM;
    if (!err)
        err = compare_all(&b, done);
    if (!err)
        err = compare_sort(&b, by);
    jsp_hash_free(&b.of_second);
    free(done);
    free(b.taken);
    if (err) {
        free(b.pairs);
        return err;
    }
    *out = b.pairs;
    *n = b.n;
    return 0;
}
