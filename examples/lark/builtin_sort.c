/* builtin_sort.c - builtins that call back: sort(array, before) and map(array, f).
 *
 * Here the interpreter calls C, which calls the interpreter: the case that shows
 * whether a profiler keeps the order of a mixed stack.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builtin.h"
#include "heap.h"

#include <string.h>

/* One sort in progress; both arrays are roots, in args[-1] and args[0]. */
struct sort {
    struct lark *l;
    const struct lark_value *before; /* the callback; NULL: ascending order */
    struct lark_value *from;
    struct lark_value *to;
};

static bool sort_call_room(struct lark *l, uint32_t n)
{
    if ((size_t)(l->end - l->top) > (size_t)n + 1)
        return true;
    return lark_raise(l, "too many calls within calls");
}

/* Call f(args...) above all other values; the result is at l->top. */
static bool sort_call(struct lark *l, struct lark_value f, const struct lark_value *args,
                      uint32_t n)
{
    struct lark_value *callee = l->top;
    if (!sort_call_room(l, n))
        return false;
    callee[0] = f;
    memcpy(callee + 1, args, n * sizeof(struct lark_value));
    l->top += n + 1;
    bool ok = lark_call(l, callee, n);
    l->top = callee;
    return ok;
}

static bool sort_default(struct lark *l, const struct lark_value *a,
                         const struct lark_value *b, bool *before)
{
    bool numbers = lark_is_number(a) && lark_is_number(b);
    if (!numbers && (a->type != LARK_STRING || b->type != LARK_STRING))
        return lark_raise(l, "sort needs a callback to compare %s and %s",
                          lark_type_name(a), lark_type_name(b));
    *before = lark_compare(a, b) == -1;
    return true;
}

static bool sort_is_before(struct sort *s, const struct lark_value *a,
                           const struct lark_value *b, bool *before)
{
    if (!s->before)
        return sort_default(s->l, a, b, before);
    struct lark_value args[2] = { *a, *b };
    uint32_t line = s->l->line;
    bool ok = sort_call(s->l, *s->before, args, 2);
    *before = ok && lark_is_true(s->l->top);
    s->l->line = line;
    return ok;
}

/* Merge [low, middle) and [middle, high) of `from` into one run of `to`. */
static bool sort_merge(struct sort *s, size_t low, size_t middle, size_t high)
{
    size_t a = low, b = middle;
    for (size_t i = low; i < high; i++) {
        bool take_b = a == middle;
        if (!take_b && b < high && !sort_is_before(s, &s->from[b], &s->from[a], &take_b))
            return false;
        s->to[i] = take_b ? s->from[b++] : s->from[a++];
    }
    return true;
}

static bool sort_runs(struct sort *s, size_t n)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n;
            size_t high = middle + width < n ? middle + width : n;
            if (!sort_merge(s, low, middle, high))
                return false;
        }
        struct lark_value *other = s->from;
        s->from = s->to;
        s->to = other;
    }
    return true;
}

/* Sort stably. Sort a copy, because the callback may change the array meanwhile: the
 * result has the items from the beginning. */
static bool sort_sort(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_ARRAY))
        return false;
    size_t n = call->args[0].as.array->n;
    struct lark_array *work = lark_heap_array(l, 2 * n);
    call->args[-1] = lark_array_value(work);
    memcpy(work->items, call->args[0].as.array->items, n * sizeof(struct lark_value));
    struct sort s = {
        l, call->n > 1 ? &call->args[1] : NULL, work->items, work->items + n,
    };
    if (!sort_runs(&s, n))
        return false;
    struct lark_array *array = call->args[0].as.array;
    array->n = 0;
    for (size_t i = 0; i < n; i++)
        lark_heap_append(l, array, s.from[i]);
    call->result = call->args[0];
    return true;
}

static bool sort_map(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_ARRAY))
        return false;
    struct lark_array *out = lark_heap_array(l, 0);
    call->args[-1] = call->result = lark_array_value(out);
    const struct lark_array *in = call->args[0].as.array;
    uint32_t line = l->line;
    for (uint32_t i = 0; i < in->n; i++) {
        struct lark_value item = in->items[i];
        if (!sort_call(l, call->args[1], &item, 1))
            return false;
        l->line = line;
        lark_heap_append(l, out, *l->top);
    }
    return true;
}

static const struct lark_builtin sort_builtins[] = {
    { "sort", 1, 2, sort_sort },
    { "map", 2, 2, sort_map },
};

const struct lark_builtin_list lark_builtins_sort = {
    sort_builtins, sizeof(sort_builtins) / sizeof(sort_builtins[0]),
};
