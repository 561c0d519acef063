/* calls_csv.c - exact calls as comma-separated values.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/profile.h"
#include "cli/calls.h"
#include "cli/csv.h"

static uint32_t csv_most(uint32_t n, const struct cli_calls_ask *ask)
{
    return ask->limit && ask->limit < n ? ask->limit : n;
}

static void csv_cost(const struct cli_calls *c, const struct jsp_exact_cost *cost)
{
    printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
           cost->calls, jsp_exact_ns(&c->calls, cost->self),
           jsp_exact_ns(&c->calls, cost->total),
           jsp_exact_ns(&c->calls, jsp_exact_each(cost)), cost->self_bytes,
           cost->total_bytes);
}

static void csv_function(const struct jsp_exact_function *f)
{
    cli_csv((struct cli_span){ f->name.at, f->name.len });
    putchar(',');
    cli_csv((struct cli_span){ f->file.at, f->file.len });
    printf(",%" PRIu32 ",%s", f->line, jsp_kind_name(f->kind));
}

static void csv_extra(const struct cli_calls *c, const char *name, enum jsp_wire_commit field)
{
    struct jsp_exact_cost cost = { .self = c->calls.commit[field] };
    printf("\"%s\",\"\",0,synth", name);
    csv_cost(c, &cost);
    putchar('\n');
}

static void csv_functions(const struct cli_calls *c, const struct cli_calls_ask *ask)
{
    uint32_t n = 0, *order = jsp_exact_order(&c->calls, ask->sort, ask->limit, &n);
    cli_incomplete(!order);
    puts("function,file,line,kind,calls,self_ns,total_ns,per_call_ns,self_bytes,total_bytes");
    for (uint32_t i = 0; order && i < csv_most(n, ask); i++) {
        const struct jsp_exact_function *f = &c->calls.functions[order[i]];
        csv_function(f);
        csv_cost(c, &f->cost);
        putchar('\n');
    }
    csv_extra(c, "[own cost of counting]", JSP_WIRE_COMMIT_OWN);
    csv_extra(c, "[garbage collection]", JSP_WIRE_COMMIT_GC);
    free(order);
}

static void csv_edges(const struct cli_calls *c, const struct cli_calls_ask *ask)
{
    uint32_t n = 0, *order = jsp_exact_order_edges(&c->calls, ask->sort, ask->limit, &n);
    cli_incomplete(!order);
    puts("caller,callee,calls,total_ns,per_call_ns");
    for (uint32_t i = 0; order && i < csv_most(n, ask); i++) {
        const struct jsp_exact_edge *e = &c->calls.edges[order[i]];
        cli_csv(cli_span(c->calls.functions[e->caller].shown));
        putchar(',');
        cli_csv(cli_span(c->calls.functions[e->callee].shown));
        printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", e->cost.calls,
               jsp_exact_ns(&c->calls, e->cost.total),
               jsp_exact_ns(&c->calls, jsp_exact_each(&e->cost)));
    }
    free(order);
}

void cli_calls_csv(const struct cli_calls *c, const struct cli_calls_ask *ask)
{
    if (ask->has_edges)
        csv_edges(c, ask);
    else
        csv_functions(c, ask);
}

void cli_calls_compare_csv(const struct cli_calls *first, const struct cli_calls *second,
                           const struct cli_calls_ask *ask)
{
    struct jsp_exact_pair *pairs = NULL;
    uint32_t n = 0;
    if (cli_incomplete(cli_calls_pairs(&pairs, &n, first, second, ask) < 0))
        return;
    puts("function,file,line,kind,calls_a,calls_b,self_ns_a,self_ns_b,total_ns_a,total_ns_b,"
         "self_bytes_a,self_bytes_b");
    for (uint32_t i = 0; i < csv_most(n, ask); i++) {
        const struct jsp_exact_cost *a = &pairs[i].first, *b = &pairs[i].second;
        csv_function(pairs[i].function);
        printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
               ",%" PRIu64 ",%" PRIu64 "\n",
               a->calls, b->calls, a->self, b->self, a->total, b->total, a->self_bytes,
               b->self_bytes);
    }
    free(pairs);
}
