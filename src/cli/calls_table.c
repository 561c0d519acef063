/* calls_table.c - exact calls of one capture as a table.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile.h"
#include "cli/calls.h"

/* Which columns there is something for, and room. */
struct calls_layout {
    bool has_time, has_bytes, has_total_bytes, has_each, has_share, has_kind;
    int name; /* columns for it; 0: no limit */
};

/* Left out from the last on, as the terminal gets narrower. */
static struct calls_layout calls_layout(const struct cli_calls *c)
{
    int columns = c->capture.style.columns, left = columns - 14;
    uint64_t modes = c->calls.modes;
    struct calls_layout l = { .has_time = !modes || modes & JSP_EXACT_TIME };
    bool is_open = columns == 0, has_alloc = modes & JSP_EXACT_ALLOC;
    left -= l.has_time ? 20 : 0;
    l.has_each = l.has_time && (is_open || columns >= 60);
    left -= l.has_each ? 10 : 0;
    l.has_bytes = has_alloc && (is_open || columns >= 70);
    left -= l.has_bytes ? 12 : 0;
    l.has_share = l.has_time && (is_open || columns >= 80);
    left -= l.has_share ? 8 : 0;
    l.has_kind = is_open || columns >= 90;
    left -= l.has_kind ? 8 : 0;
    l.has_total_bytes = has_alloc && (is_open || columns >= 110);
    left -= l.has_total_bytes ? 12 : 0;
    l.name = is_open ? 0 : left > 6 ? left : 6;
    return l;
}

/* -- Figures ---------------------------------------------------------------- */

static double calls_share(const struct cli_calls *c, uint64_t ticks)
{
    uint64_t inside = c->calls.commit[JSP_WIRE_COMMIT_INSIDE];
    return inside ? (double)ticks / (double)inside : 0;
}

static void calls_ticks(const struct cli_calls *c, uint64_t ticks, bool is_there)
{
    char text[CLI_NUMBER];
    printf("%10s", is_there ? cli_exact_duration(text, jsp_exact_ns(&c->calls, ticks)) : "");
}

static void calls_figures(const struct cli_calls *c, const struct calls_layout *l,
                          const struct jsp_exact_cost *cost)
{
    const struct cli_style *s = &c->capture.style;
    char text[CLI_NUMBER];
    double share = calls_share(c, cost->self);
    printf("%12s", cli_count(text, cost->calls));
    if (l->has_time) {
        cli_colour(s, share >= 0.10 ? CLI_HOT : share >= 0.02 ? CLI_WARM : CLI_PLAIN);
        calls_ticks(c, cost->self, true);
        cli_colour(s, CLI_PLAIN);
        if (l->has_share)
            printf("%8s", cli_percent(text, share));
        calls_ticks(c, cost->total, true);
    }
    if (l->has_each)
        calls_ticks(c, jsp_exact_each(cost), cost->calls);
    if (l->has_bytes)
        printf("%12s", cost->self_bytes ? cli_bytes(text, cost->self_bytes) : "");
    if (l->has_total_bytes)
        printf("%12s", cost->total_bytes ? cli_bytes(text, cost->total_bytes) : "");
    fputs("  ", stdout);
}

static void calls_head(const struct cli_calls *c, const struct calls_layout *l)
{
    cli_colour(&c->capture.style, CLI_DIM);
    printf("%12s", "CALLS");
    if (l->has_time)
        printf("%10s%*s%10s", "SELF", l->has_share ? 8 : 0, "", "TOTAL");
    if (l->has_each)
        printf("%10s", "PER CALL");
    if (l->has_bytes)
        printf("%12s", "BYTES");
    if (l->has_total_bytes)
        printf("%12s", "IN TOTAL");
    printf("  %sFUNCTION\n", l->has_kind ? "KIND    " : "");
    cli_colour(&c->capture.style, CLI_PLAIN);
}

static void calls_row(const struct cli_calls *c, const struct calls_layout *l,
                      const struct jsp_exact_function *f)
{
    calls_figures(c, l, &f->cost);
    cli_colour(&c->capture.style, CLI_KIND);
    if (l->has_kind)
        printf("%-8s", jsp_kind_name(f->kind));
    cli_colour(&c->capture.style, CLI_PLAIN);
    cli_name(&c->capture.style, cli_span(f->shown), l->name);
    putchar('\n');
}

/* What belongs to no function: it has a time, and no calls. */
static void calls_extra(const struct cli_calls *c, const struct calls_layout *l,
                        uint64_t ticks, const char *what)
{
    if (!l->has_time)
        return;
    printf("%12s", "");
    calls_ticks(c, ticks, true);
    printf("%*s  %s", 10 + (l->has_share ? 8 : 0) + (l->has_each ? 10 : 0) +
               (l->has_bytes ? 12 : 0) + (l->has_total_bytes ? 12 : 0), "",
           l->has_kind ? "        " : "");
    cli_name(&c->capture.style, cli_span(what), l->name);
    putchar('\n');
}

/* -- Tables ----------------------------------------------------------------- */

static void calls_more(uint32_t all, uint32_t shown, const char *what)
{
    char n[CLI_NUMBER];
    bool is_one = all - shown == 1;
    if (shown < all)
        printf("%12s%s more %s%s (--limit 0 shows %s)\n", "", cli_count(n, all - shown), what,
               is_one ? "" : "s", is_one ? "it" : "them");
}

static uint32_t calls_most(uint32_t n, uint32_t limit)
{
    return limit && limit < n ? limit : n;
}

static void calls_functions(const struct cli_calls *c, const struct cli_calls_ask *ask)
{
    struct calls_layout l = calls_layout(c);
    uint32_t n = 0, *order = jsp_exact_order(&c->calls, ask->sort, ask->limit, &n);
    cli_incomplete(!order);
    uint32_t shown = order ? calls_most(n, ask->limit) : 0;
    calls_head(c, &l);
    for (uint32_t i = 0; i < shown; i++)
        calls_row(c, &l, &c->calls.functions[order[i]]);
    calls_more(n, shown, "function");
    calls_extra(c, &l, c->calls.commit[JSP_WIRE_COMMIT_OWN],
                "[own cost of counting, taken out above]");
    calls_extra(c, &l, c->calls.commit[JSP_WIRE_COMMIT_GC],
                "[garbage collection, part of the rows above]");
    free(order);
}

static const char *calls_caller(const struct cli_calls *c, const struct jsp_exact_edge *e)
{
    bool is_rest = c->calls.functions[e->caller].id == JSP_WIRE_CALLS_OTHER &&
                   c->calls.functions[e->callee].id == JSP_WIRE_CALLS_OTHER;
    return is_rest ? "[edges beyond the table]" : c->calls.functions[e->caller].shown;
}

static void calls_edges(const struct cli_calls *c, const struct cli_calls_ask *ask)
{
    const struct cli_style *s = &c->capture.style;
    struct calls_layout l = calls_layout(c);
    uint32_t n = 0, *order = jsp_exact_order_edges(&c->calls, ask->sort, ask->limit, &n);
    cli_incomplete(!order);
    uint32_t shown = order ? calls_most(n, ask->limit) : 0;
    int room = l.name ? (s->columns - 14 - (l.has_time ? 20 : 0) - 4) / 2 : 0;
    cli_colour(s, CLI_DIM);
    printf("%12s%s  CALLER %s CALLEE\n", "CALLS", l.has_time ? "     TOTAL  PER CALL" : "",
           s->is_utf8 ? "→" : "->");
    cli_colour(s, CLI_PLAIN);
    for (uint32_t i = 0; i < shown; i++) {
        const struct jsp_exact_edge *e = &c->calls.edges[order[i]];
        char text[CLI_NUMBER];
        printf("%12s", cli_count(text, e->cost.calls));
        if (l.has_time) {
            calls_ticks(c, e->cost.total, true);
            calls_ticks(c, jsp_exact_each(&e->cost), e->cost.calls);
        }
        fputs("  ", stdout);
        cli_name(s, cli_span(calls_caller(c, e)), room);
        fputs(s->is_utf8 ? " → " : " -> ", stdout);
        cli_name(s, cli_span(c->calls.functions[e->callee].shown), room);
        putchar('\n');
    }
    calls_more(n, shown, "edge");
    free(order);
}

static void calls_heading(const struct cli_calls *c)
{
    const struct cli_style *s = &c->capture.style;
    const char *dot = s->is_utf8 ? " · " : ", ";
    char n[CLI_NUMBER], time[CLI_NUMBER], modes[64];
    cli_colour(s, CLI_BOLD);
    cli_name(s, (struct cli_span){ c->command.len ? c->command.at : "?",
                                   c->command.len ? c->command.len : 1 }, s->columns);
    cli_colour(s, CLI_PLAIN);
    printf("\n%s calls", cli_count(n, c->calls.commit[JSP_WIRE_COMMIT_CALLS]));
    if (c->calls.modes & JSP_EXACT_TIME)
        printf(" in %s",
               cli_exact_duration(time, jsp_exact_ns(&c->calls,
                                                 c->calls.commit[JSP_WIRE_COMMIT_INSIDE])));
    if (c->calls.modes & JSP_EXACT_ALLOC)
        printf("%s%s allocated", dot,
               cli_bytes(n, c->calls.commit[JSP_WIRE_COMMIT_ALLOC]));
    uint64_t threads = c->calls.commit[JSP_WIRE_COMMIT_THREADS];
    if (threads > 1)
        printf("%s%s threads", dot, cli_count(n, threads));
    cli_calls_modes(modes, c->calls.modes);
    printf("%scounted: %s\n\n", dot, modes);
}

void cli_calls_table(const struct cli_calls *c, const struct cli_calls_ask *ask)
{
    calls_heading(c);
    if (ask->has_edges)
        calls_edges(c, ask);
    else
        calls_functions(c, ask);
    cli_calls_notes(c);
}
