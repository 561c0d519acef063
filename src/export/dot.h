/* export/dot.h - who scheduled whom, as a graph for Graphviz.
 *
 * A box is a kind and name of tasks, with their figures in the whole capture. An arrow leads from
 * a maker to what it made, with the number of tasks that were made so; a dashed one from what made
 * tasks ready, where their makers did not, with the number of runs. Boxes in a row, where each is
 * made by the one before alone and makes the next alone, are drawn as one box. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_DOT_H
#define JSP_EXPORT_DOT_H

#include <stdbool.h>

#include "sink.h"

struct jsp_dot_text {
    const char *at;
    size_t len;
};

struct jsp_dot_box { /* the tasks of a kind and name */
    struct jsp_dot_text kind, name;
    uint64_t tasks, runs;
    double total; /* ns of the runs */
    bool is_shown;
};

struct jsp_dot_edge {
    uint32_t from, to; /* boxes */
    uint64_t tasks; /* or runs */
    bool is_ready;  /* `from` did not make them */
};

/* The edges, between boxes that are shown, are sorted and joined in place. */
struct jsp_dot_graph {
    const struct jsp_dot_box *boxes;
    struct jsp_dot_edge *edges;
    uint32_t n_boxes, n_edges;
};

/* Write the graph. Return 0 or -ENOMEM. */
int jsp_dot_write(struct jsp_sink *out, const struct jsp_dot_graph *graph);

#endif
