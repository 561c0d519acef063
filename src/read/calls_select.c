/* read/calls_select.c - which exact calls are shown, in which order, and how they differ from those
 * of another capture.
 *
 * What is not chosen is emptied, as if it had never been called. The sums of the capture stay what
 * they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calls.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>

enum { CALLS_TEXT = 1024 };

/* -- Choice --------------------------------------------------------------------- */

struct calls_choice {
    regex_t only, file;
    bool has_only, has_file;
    double min;
};

static int calls_regex(regex_t *out, bool *is_there, const char *option, const char *pattern,
                       jsprof_read_error *e)
{
    char why[128];
    int err = pattern ? regcomp(out, pattern, REG_EXTENDED | REG_NOSUB) : 0;
    *is_there = pattern && !err;
    if (!err)
        return 0;
    if (err == REG_ESPACE)
        return jsp_reader_errno(e, -ENOMEM, NULL);
    regerror(err, out, why, sizeof why);
    return jsp_reader_fail(e, (struct jsp_reader_fault){ .code = -EINVAL, .option = option },
                           "%s: %s", option, why);
}

static int calls_sort(enum jsp_exact_sort *out, const char *sort, jsprof_read_error *e)
{
    static const char *const sorts[] = { "self", "total", "calls", "each", "bytes", "name", NULL };
    int by = sort ? jsp_reader_word(e, "sort", sort, sorts) : 0;
    *out = (enum jsp_exact_sort)by;
    return by < 0 ? by : 0;
}

/* 1, 0 or -ENOMEM. */
static int calls_matches(const regex_t *pattern, struct jsp_read_text text)
{
    char few[CALLS_TEXT], *copy = text.len < sizeof few ? few : malloc((size_t)text.len + 1);
    if (!copy)
        return -ENOMEM;
    if (text.len)
        memcpy(copy, text.at, text.len);
    copy[text.len] = 0;
    int matches = jsp_filter_matches(pattern, copy);
    if (copy != few)
        free(copy);
    return matches;
}

/* Compare the share of total in all time, or the share of calls where no time was counted. */
static bool calls_has_share(double min, uint64_t inside, uint64_t calls,
                            const struct jsp_exact_cost *cost)
{
    uint64_t all = inside ? inside : calls;
    return (double)(inside ? cost->total : cost->calls) >= min * (double)all;
}

static bool calls_is_large(double min, const struct jsp_exact *c, const struct jsp_exact_cost *cost)
{
    return calls_has_share(min, c->commit[JSP_WIRE_COMMIT_INSIDE],
                           c->commit[JSP_WIRE_COMMIT_CALLS], cost);
}

static int calls_empty(const struct calls_choice *k, struct jsp_exact *c)
{
    static const struct jsp_exact_cost nothing;
    bool *named = calloc((size_t)c->n_functions + 1, sizeof *named);
    int err = named ? 0 : -ENOMEM;
    for (uint32_t i = 0; !err && i < c->n_functions; i++) {
        const struct jsp_exact_function *f = &c->functions[i];
        int is = k->has_only ? calls_matches(&k->only, f->name) : 1;
        if (is == 1 && k->has_file)
            is = calls_matches(&k->file, f->file);
        named[i] = is == 1;
        err = is < 0 ? is : 0;
    }
    for (uint32_t i = 0; !err && i < c->n_functions; i++)
        if (!named[i] || !calls_is_large(k->min, c, &c->functions[i].cost))
            c->functions[i].cost = nothing;
    for (uint32_t i = 0; !err && i < c->n_edges; i++) {
        struct jsp_exact_edge *e = &c->edges[i];
        if ((!named[e->caller] && !named[e->callee]) || !calls_is_large(k->min, c, &e->cost))
            e->cost = nothing;
    }
    free(named);
    return err;
}

static void calls_forget(struct jsp_reader_order *o)
{
    free(o->at);
    *o = (struct jsp_reader_order){ .n = 0 };
}

int jsprof_read_calls_select(jsprof_read_calls *c, const jsprof_read_calls_filter *filter,
                             jsprof_read_error *error)
{
    jsprof_read_calls_filter f;
    struct calls_choice k = { .min = 0 };
    enum jsp_exact_sort sort;
    jsp_reader_take(&f, sizeof f, filter);
    k.min = f.min;
    int err = calls_sort(&sort, f.sort, error);
    if (!err)
        err = calls_regex(&k.only, &k.has_only, "only", f.only, error);
    if (!err)
        err = calls_regex(&k.file, &k.has_file, "file", f.file, error);
    if (!err && (k.has_only || k.has_file || k.min > 0))
        err = jsp_reader_errno(error, calls_empty(&k, &c->of), NULL);
    if (k.has_only)
        regfree(&k.only);
    if (k.has_file)
        regfree(&k.file);
    if (err)
        return err;
    c->sort = sort;
    calls_forget(&c->functions);
    calls_forget(&c->edges);
    return 0;
}

/* -- Order ------------------------------------------------------------------------ */

struct calls_numbers { /* as the user asked for them */
    uint64_t first;
    uint32_t *out;
    uint64_t n;
};

static int64_t calls_give(jsprof_read_calls *c, struct jsp_reader_order *o,
                          const struct calls_numbers *to)
{
    bool is_far = to->n > UINT32_MAX || to->first > UINT32_MAX;
    uint64_t wanted = !to->n ? 1 : is_far ? UINT32_MAX : to->first + to->n;
    bool is_of_edges = o == &c->edges;
    if (!o->at || (o->n < o->all && wanted > o->n)) {
        /* Sort twice as many as before, so that a loop over all of them sorts seldom. */
        uint64_t most = wanted > 2 * (uint64_t)o->n ? wanted : 2 * (uint64_t)o->n;
        calls_forget(o);
        most = most < UINT32_MAX ? most : 0;
        o->at = is_of_edges ? jsp_exact_order_edges(&c->of, c->sort, (uint32_t)most, &o->all)
                            : jsp_exact_order(&c->of, c->sort, (uint32_t)most, &o->all);
        if (!o->at)
            return -ENOMEM;
        o->n = most && most < o->all ? (uint32_t)most : o->all;
    }
    int64_t rows;
    if (jsp_reader_range(o->all, to->first, to->n, to->out, &rows))
        memcpy(to->out, o->at + to->first, (size_t)rows * sizeof *to->out);
    return rows;
}

int64_t jsprof_read_called_order(jsprof_read_calls *c, uint64_t first, uint32_t *out, uint64_t n)
{
    return calls_give(c, &c->functions, &(struct calls_numbers){ first, out, n });
}

int64_t jsprof_read_edge_order(jsprof_read_calls *c, uint64_t first, uint32_t *out, uint64_t n)
{
    return calls_give(c, &c->edges, &(struct calls_numbers){ first, out, n });
}

/* -- Two captures -------------------------------------------------------------------- */

struct jsprof_read_calls_comparison {
    jsprof_reader *reader; /* of the second */
    struct jsp_exact_pair *pairs; /* owned */
    uint32_t n;
};

/* Its costs are in ns. */
static bool calls_pair_is_large(double min, const struct jsp_exact *c,
                                const struct jsp_exact_cost *cost)
{
    return calls_has_share(min, jsp_exact_ns(c, c->commit[JSP_WIRE_COMMIT_INSIDE]),
                           c->commit[JSP_WIRE_COMMIT_CALLS], cost);
}

int jsprof_read_calls_compare(jsprof_read_calls_comparison **out, const jsprof_read_calls *before,
                              const jsprof_read_calls *after, const char *sort, double min,
                              jsprof_read_error *error)
{
    enum jsp_exact_sort by;
    uint32_t all = 0;
    int err = calls_sort(&by, sort, error);
    if (err)
        return err;
    jsprof_read_calls_comparison *c = calloc(1, sizeof *c);
    err = c ? jsp_exact_compare(&c->pairs, &all, &before->of, &after->of, by) : -ENOMEM;
    if (err) {
        free(c);
        return jsp_reader_errno(error, err, NULL);
    }
    c->reader = after->reader;
    for (uint32_t i = 0; i < all; i++)
        if (calls_pair_is_large(min, &before->of, &c->pairs[i].first) ||
            calls_pair_is_large(min, &after->of, &c->pairs[i].second))
            c->pairs[c->n++] = c->pairs[i];
    *out = c;
    return 0;
}

int64_t jsprof_read_call_changes(const jsprof_read_calls_comparison *c, uint64_t first,
                                 jsprof_read_call_change *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(c->n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_exact_pair *from = &c->pairs[first + i];
        const struct jsp_exact_function *f = from->function;
        const struct jsp_exact_cost *a = &from->first, *b = &from->second;
        const jsprof_read_call_change row = {
            .name = jsp_reader_text(c->reader, f->name),
            .file = jsp_reader_text(c->reader, f->file), .kind = jsp_kind_name(f->kind),
            .shown = f->shown, .line = f->line, .is_there = { from->in_first, from->in_second },
            .calls = { a->calls, b->calls }, .self_ns = { a->self, b->self },
            .total_ns = { a->total, b->total }, .self_bytes = { a->self_bytes, b->self_bytes },
            .total_bytes = { a->total_bytes, b->total_bytes },
        };
        if (!row.name || !row.file)
            return -ENOMEM;
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

void jsprof_read_calls_compare_close(jsprof_read_calls_comparison *c)
{
    if (!c)
        return;
    free(c->pairs);
    free(c);
}
