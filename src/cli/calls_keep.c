/* cli/calls_keep.c - which functions `jsprof calls` shows: --only, --file and --min.
 *
 * What is not chosen is emptied, as if it had never been called, so that every form leaves
 * it out in the same way. The sums of the capture stay what they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter.h"
#include "calls.h"
#include "command.h"

enum { KEEP_TEXT = 1024 };

static int keep_regex(regex_t *out, const char *option, const char *pattern)
{
    char why[128];
    int err = regcomp(out, pattern, REG_EXTENDED | REG_NOSUB);
    if (!err)
        return CLI_OK;
    if (err == REG_ESPACE)
        return cli_fail("calls", "%s", strerror(ENOMEM));
    regerror(err, out, why, sizeof why);
    return cli_usage("calls", "--%s: %s", option, why);
}

int cli_calls_keep_open(struct cli_calls_keep *k, const char *only, const char *file,
                        const char *min)
{
    memset(k, 0, sizeof *k);
    char *end = NULL;
    if (min) {
        k->min = strtod(min, &end) / 100;
        if (end == min || *end || !(k->min >= 0 && k->min <= 1))
            return cli_usage("calls", "--min wants a percentage from 0 to 100, not \"%s\"", min);
    }
    int status = only ? keep_regex(&k->only, "only", only) : CLI_OK;
    k->has_only = only && !status;
    if (!status && file)
        status = keep_regex(&k->file, "file", file);
    k->has_file = file && !status;
    if (status)
        cli_calls_keep_close(k);
    return status;
}

void cli_calls_keep_close(struct cli_calls_keep *k)
{
    if (k->has_only)
        regfree(&k->only);
    if (k->has_file)
        regfree(&k->file);
    k->has_only = k->has_file = false;
}

/* 1, 0 or -ENOMEM. */
static int keep_matches(const regex_t *pattern, struct jsp_read_text text)
{
    char few[KEEP_TEXT], *copy = text.len < sizeof few ? few : malloc((size_t)text.len + 1);
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

/* Return the share of total in all time, or the share of calls where no time was counted. */
static bool keep_share(const struct cli_calls_keep *k, uint64_t inside, uint64_t calls,
                       const struct jsp_exact_cost *cost)
{
    uint64_t all = inside ? inside : calls;
    return (double)(inside ? cost->total : cost->calls) >= k->min * (double)all;
}

static bool keep_share_of(const struct cli_calls_keep *k, const struct jsp_exact *c,
                          const struct jsp_exact_cost *cost)
{
    return keep_share(k, c->commit[JSP_WIRE_COMMIT_INSIDE], c->commit[JSP_WIRE_COMMIT_CALLS],
                      cost);
}

static const struct jsp_exact_cost keep_nothing;

int cli_calls_keep(const struct cli_calls_keep *k, struct jsp_exact *c)
{
    if (!k->has_only && !k->has_file && k->min <= 0)
        return 0;
    bool *named = calloc((size_t)c->n_functions + 1, sizeof *named);
    int err = named ? 0 : -ENOMEM;
    for (uint32_t i = 0; !err && i < c->n_functions; i++) {
        struct jsp_exact_function *f = &c->functions[i];
        int is = k->has_only ? keep_matches(&k->only, f->name) : 1;
        if (is == 1 && k->has_file)
            is = keep_matches(&k->file, f->file);
        named[i] = is == 1;
        if (!named[i] || !keep_share_of(k, c, &f->cost))
            f->cost = keep_nothing;
        err = is < 0 ? is : 0;
    }
    for (uint32_t i = 0; !err && i < c->n_edges; i++) {
        struct jsp_exact_edge *e = &c->edges[i];
        if ((!named[e->caller] && !named[e->callee]) || !keep_share_of(k, c, &e->cost))
            e->cost = keep_nothing;
    }
    free(named);
    return err;
}

/* Its costs are in ns. */
static bool keep_pair(const struct cli_calls_keep *k, const struct cli_calls *c,
                      const struct jsp_exact_cost *cost)
{
    const uint64_t *commit = c->calls.commit;
    return keep_share(k, jsp_exact_ns(&c->calls, commit[JSP_WIRE_COMMIT_INSIDE]),
                      commit[JSP_WIRE_COMMIT_CALLS], cost);
}

int cli_calls_pairs(struct jsp_exact_pair **out, uint32_t *n, const struct cli_calls *first,
                    const struct cli_calls *second, const struct cli_calls_ask *ask)
{
    uint32_t all = 0, kept = 0;
    int err = jsp_exact_compare(out, &all, &first->calls, &second->calls, ask->sort);
    for (uint32_t i = 0; !err && i < all; i++)
        if (keep_pair(&ask->keep, first, &(*out)[i].first) ||
            keep_pair(&ask->keep, second, &(*out)[i].second))
            (*out)[kept++] = (*out)[i];
    *n = kept;
    return err;
}
