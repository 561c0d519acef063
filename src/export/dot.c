/* export/dot.c - see dot.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "dot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/tasks.h"
#include "export.h"
#include "shown_names.h"

#define DOT_NONE UINT32_MAX

struct dot_place { /* of a box */
    uint32_t in, out;  /* edges, those to itself too */
    uint32_t next;     /* the box that is drawn below it, in the same frame */
    uint64_t made;     /* tasks of that edge */
    uint32_t frame;    /* the first box of that frame */
    bool is_below;     /* it is not the first one */
};

struct dot {
    struct jsp_sink *out;
    const struct jsp_dot_box *boxes;
    struct dot_place *places; /* of the boxes; owned */
    struct jsp_dot_edge *edges;
    uint32_t n_boxes, n_edges;
};

/* -- The graph --------------------------------------------------------------------- */

static int dot_compare(const void *a, const void *b)
{
    const struct jsp_dot_edge *x = a, *y = b;
    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
           : x->to != y->to   ? (x->to > y->to) - (x->to < y->to)
                              : x->is_ready - y->is_ready;
}

/* Make equal edges one. */
static void dot_join(struct dot *d, uint32_t n)
{
    if (n)
        qsort(d->edges, n, sizeof *d->edges, dot_compare);
    for (uint32_t i = 0; i < n; i++) {
        struct jsp_dot_edge *last = d->n_edges ? &d->edges[d->n_edges - 1] : NULL;
        if (last && dot_compare(last, &d->edges[i]) == 0)
            last->tasks += d->edges[i].tasks;
        else
            d->edges[d->n_edges++] = d->edges[i];
    }
}

/* Put boxes in a row into one frame. A circle of them has no first one, and stays as it is. */
static void dot_collapse(struct dot *d)
{
    for (uint32_t i = 0; i < d->n_edges; i++) {
        d->places[d->edges[i].from].out++;
        d->places[d->edges[i].to].in++;
    }
    for (uint32_t i = 0; i < d->n_edges; i++) {
        const struct jsp_dot_edge *e = &d->edges[i];
        struct dot_place *from = &d->places[e->from], *to = &d->places[e->to];
        if (e->is_ready || from->out != 1 || to->in != 1)
            continue;
        from->next = e->to;
        from->made = e->tasks;
        to->is_below = true;
    }
    for (uint32_t i = 0; i < d->n_boxes; i++)
        for (uint32_t at = d->places[i].is_below ? DOT_NONE : i; at != DOT_NONE;
             at = d->places[at].next)
            d->places[at].frame = i;
    for (uint32_t i = 0; i < d->n_boxes; i++)
        if (d->places[i].frame == DOT_NONE) {
            d->places[i].frame = i;
            d->places[i].next = DOT_NONE;
            d->places[i].is_below = false;
        }
}

/* -- Its text ------------------------------------------------------------------------- */

/* Write a text between double quotes. Graphviz drops the backslash of an escape that it does not
 * know, as of a control character: what remains is visible and harmless. */
static void dot_text(struct jsp_sink *out, struct jsp_dot_text text)
{
    for (size_t from = 0, to = 0; to < text.len; from = to) {
        if (text.at[to] == '"' || text.at[to] == '\\') {
            jsp_sink_byte(out, '\\');
            to++;
        }
        while (to < text.len && text.at[to] != '"' && text.at[to] != '\\')
            to++;
        jsp_shown_plain_bytes(out, (struct jsp_read_text){ text.at + from, (uint32_t)(to - from) },
                              0);
    }
}

static void dot_name(const struct dot *d, uint32_t what)
{
    const struct jsp_dot_box *b = &d->boxes[what];
    char text[128];
    dot_text(d->out, b->kind);
    jsp_sink_text(d->out, b->kind.len && b->name.len ? " " : "");
    dot_text(d->out, b->name);
    if (!b->kind.len && !b->name.len)
        jsp_sink_text(d->out, "(without a name)");
    snprintf(text, sizeof text, "\\n%" PRIu64 " task%s, %" PRIu64 " run%s, %.3f ms", b->tasks,
             b->tasks == 1 ? "" : "s", b->runs, b->runs == 1 ? "" : "s", b->total / 1e6);
    jsp_sink_text(d->out, text);
}

/* Write a box, and those that are drawn below it. */
static void dot_box(const struct dot *d, uint32_t what)
{
    char text[64];
    snprintf(text, sizeof text, "t%" PRIu32 " [label=\"", what);
    jsp_sink_text(d->out, text);
    dot_name(d, what);
    for (; d->places[what].next != DOT_NONE; what = d->places[what].next) {
        snprintf(text, sizeof text, "\\n\u2193 %" PRIu64 "\\n", d->places[what].made);
        jsp_sink_text(d->out, text);
        dot_name(d, d->places[what].next);
    }
    jsp_sink_text(d->out, "\"]\n");
}

static void dot_edges(const struct dot *d)
{
    char text[96];
    for (uint32_t i = 0; i < d->n_edges; i++) {
        const struct jsp_dot_edge *e = &d->edges[i];
        if (d->places[e->from].next == e->to)
            continue;
        snprintf(text, sizeof text, "t%" PRIu32 " -> t%" PRIu32 " [%slabel=\"%" PRIu64 "\"]\n",
                 d->places[e->from].frame, d->places[e->to].frame,
                 e->is_ready ? "style=dashed " : "", e->tasks);
        jsp_sink_text(d->out, text);
    }
}

int jsp_dot_write(struct jsp_sink *out, const struct jsp_dot_graph *graph)
{
    struct dot d = { .out = out, .boxes = graph->boxes, .edges = graph->edges,
                     .n_boxes = graph->n_boxes };
    d.places = calloc((size_t)d.n_boxes + 1, sizeof *d.places);
    if (!d.places)
        return -ENOMEM;
    for (uint32_t i = 0; i < d.n_boxes; i++)
        d.places[i].next = d.places[i].frame = DOT_NONE;
    dot_join(&d, graph->n_edges);
    dot_collapse(&d);
    jsp_sink_text(out, "digraph causes {\nrankdir=LR\nnode [shape=box]\n");
    for (uint32_t i = 0; i < d.n_boxes; i++)
        if (d.boxes[i].is_shown && !d.places[i].is_below)
            dot_box(&d, i);
    dot_edges(&d);
    jsp_sink_text(out, "}\n");
    free(d.places);
    return 0;
}

/* -- All tasks of a capture ------------------------------------------------------------- */

int jsp_export_dot(struct jsp_export *e)
{
    struct jsp_tasks t;
    int err = jsp_tasks_read(&t, e->profile);
    if (err < 0)
        return err;
    struct jsp_task_figures *figures = jsp_tasks_figures(&t);
    struct jsp_dot_box *boxes = calloc((size_t)t.n_whats + 1, sizeof *boxes);
    struct jsp_dot_edge *edges = malloc(((size_t)t.n_tasks + t.n_runs + 1) * sizeof *edges);
    struct jsp_dot_graph graph = { boxes, edges, t.n_whats, 0 };
    err = !figures || !boxes || !edges ? -ENOMEM : t.n_tasks ? 0 : -ENODATA;
    for (uint32_t i = 0; err == 0 && i < t.n_whats; i++)
        boxes[i] = (struct jsp_dot_box){ { t.whats[i].kind.at, t.whats[i].kind.len },
                                         { t.whats[i].name.at, t.whats[i].name.len },
                                         figures[i].tasks, figures[i].runs, figures[i].total,
                                         false };
    for (uint32_t i = 0; err == 0 && i < t.n_tasks; i++) {
        const struct jsp_task *k = &t.tasks[i];
        boxes[k->what].is_shown = true;
        if (k->parent != JSP_TASK_NONE)
            edges[graph.n_edges++] =
                (struct jsp_dot_edge){ t.tasks[k->parent].what, k->what, 1, false };
    }
    for (uint32_t i = 0; err == 0 && i < t.n_runs; i++) {
        const struct jsp_task_run *r = &t.runs[i];
        if (r->task != JSP_TASK_NONE && r->by != JSP_TASK_NONE &&
            r->by != t.tasks[r->task].parent)
            edges[graph.n_edges++] = (struct jsp_dot_edge){ t.tasks[r->by].what,
                                                            t.tasks[r->task].what, 1, true };
    }
    if (err == 0)
        err = jsp_dot_write(e->out, &graph);
    free(figures);
    free(boxes);
    free(edges);
    jsp_tasks_free(&t);
    return err;
}
