/* page/calls.c - the exact calls of a page, as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "meta.h"

#include <errno.h>
#include <stdlib.h>

enum { CALLS_MOST = 4000 };

int jsp_page_calls_build(struct jsp_page_calls *c, const struct jsp_html *h)
{
    int err = 0;
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; err == 0 && i < h->n; i++) {
        const struct jsp_profile *p = h->captures[i].profile;
        err = jsp_exact_read(&c->of[i], p->capture, NULL);
        if (err == 0)
            err = jsp_exact_show(&c->of[i], p->naming);
    }
    return err;
}

void jsp_page_calls_free(struct jsp_page_calls *c)
{
    for (int i = 0; i < JSP_HTML_MOST; i++)
        jsp_exact_free(&c->of[i]);
}

/* The functions or edges in order, and how many the page gets. */
struct calls_order {
    uint32_t *at, n, shown; /* at: owned */
};

static struct calls_order calls_shown(uint32_t *at, uint32_t n)
{
    return (struct calls_order){ at, n, n < CALLS_MOST ? n : CALLS_MOST };
}

/* Each function is written once; `places` has its position on the page + 1. */
struct calls_written {
    const struct jsp_exact *e;
    uint32_t *places, n;
};

static void calls_function(struct calls_written *t, uint32_t which, struct jsp_json *j)
{
    const struct jsp_exact_function *f = &t->e->functions[which];
    if (t->places[which])
        return;
    t->places[which] = ++t->n;
    jsp_json_open(j, '[');
    jsp_json_text(j, f->shown);
    jsp_json_u64(j, f->kind);
    jsp_json_u64(j, f->cost.calls);
    jsp_json_u64(j, jsp_exact_ns(t->e, f->cost.self));
    jsp_json_u64(j, jsp_exact_ns(t->e, f->cost.total));
    jsp_json_u64(j, f->cost.self_bytes);
    jsp_json_u64(j, f->cost.total_bytes);
    jsp_json_close(j, ']');
}

static void calls_tables(struct calls_written *t, struct calls_order functions,
                         struct calls_order edges, struct jsp_json *j)
{
    jsp_json_key_open(j, "functions", '[');
    for (uint32_t i = 0; i < functions.shown; i++)
        calls_function(t, functions.at[i], j);
    for (uint32_t i = 0; i < edges.shown; i++) {
        calls_function(t, t->e->edges[edges.at[i]].caller, j);
        calls_function(t, t->e->edges[edges.at[i]].callee, j);
    }
    jsp_json_close(j, ']');
    jsp_json_key_open(j, "edges", '[');
    for (uint32_t i = 0; i < edges.shown; i++) {
        const struct jsp_exact_edge *edge = &t->e->edges[edges.at[i]];
        jsp_json_open(j, '[');
        jsp_json_u64(j, t->places[edge->caller] - 1);
        jsp_json_u64(j, t->places[edge->callee] - 1);
        jsp_json_u64(j, edge->cost.calls);
        jsp_json_u64(j, jsp_exact_ns(t->e, edge->cost.total));
        jsp_json_close(j, ']');
    }
    jsp_json_close(j, ']');
    jsp_json_key_u64(j, "left", functions.n - functions.shown);
    jsp_json_key_u64(j, "edgesLeft", edges.n - edges.shown);
}

static void calls_limits(const struct jsp_exact *e, struct jsp_json *j)
{
    static const struct {
        enum jsp_wire_commit field;
        const char *what;
    } limits[] = {
        { JSP_WIRE_COMMIT_WAITING, "threads that did not run since the last change" },
        { JSP_WIRE_COMMIT_FUNCTIONS_LOST, "calls of functions beyond the table" },
        { JSP_WIRE_COMMIT_EDGES_LOST, "calls over edges beyond the table" },
        { JSP_WIRE_COMMIT_DEPTH_LOST, "calls too deep to be timed" },
        { JSP_WIRE_COMMIT_UNDERFLOWS, "leaves without an enter" },
        { JSP_WIRE_COMMIT_FOREIGN, "events of another thread, not counted" },
        { JSP_WIRE_COMMIT_CLOCK_BACK, "times that the clock went back" },
    };
    jsp_json_key_open(j, "limits", '[');
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (e->commit[limits[i].field]) {
            jsp_json_u64(j, e->commit[limits[i].field]);
            jsp_json_text(j, limits[i].what);
        }
    jsp_json_close(j, ']');
}

static int calls_one(const struct jsp_exact *e, struct jsp_json *j)
{
    bool has_time = e->modes & JSP_EXACT_TIME;
    uint32_t n = 0, n_edges = 0;
    struct calls_written written = { .e = e };
    written.places = calloc((size_t)e->n_functions + 1, sizeof *written.places);
    uint32_t *order = jsp_exact_order(e, has_time ? JSP_EXACT_BY_SELF : JSP_EXACT_BY_CALLS,
                                      0, &n);
    uint32_t *edges = jsp_exact_order_edges(
        e, has_time ? JSP_EXACT_BY_TOTAL : JSP_EXACT_BY_CALLS, 0, &n_edges);
    bool is_fine = written.places && order && edges;
    jsp_json_open(j, '{');
    jsp_json_key_u64(j, "modes", e->modes);
    jsp_json_key_u64(j, "all", e->commit[JSP_WIRE_COMMIT_CALLS]);
    jsp_json_key_u64(j, "own", jsp_exact_ns(e, e->commit[JSP_WIRE_COMMIT_OWN]));
    jsp_json_key_u64(j, "gc", jsp_exact_ns(e, e->commit[JSP_WIRE_COMMIT_GC]));
    calls_limits(e, j);
    if (is_fine)
        calls_tables(&written, calls_shown(order, n), calls_shown(edges, n_edges), j);
    jsp_json_close(j, '}');
    free(written.places);
    free(order);
    free(edges);
    return is_fine ? 0 : -ENOMEM;
}

int jsp_page_calls_put(const struct jsp_page_calls *c, const struct jsp_html *h,
                       struct jsp_json *j)
{
    int err = 0;
    jsp_json_key_open(j, "calls", '[');
    for (uint32_t i = 0; err == 0 && i < h->n; i++) {
        if (c->of[i].is_there)
            err = calls_one(&c->of[i], j);
        else
            jsp_json_null(j);
    }
    jsp_json_close(j, ']');
    return err;
}
