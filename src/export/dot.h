/* export/dot.h - who scheduled whom, as a graph for Graphviz.
 *
 * A box is a kind and name of tasks, with their figures in the whole capture. An arrow leads from
 * a maker to what it made, with the number of tasks that were made so. Boxes in a row, where each
 * is made by the one before alone and makes the next alone, are drawn as one box. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_DOT_H
#define JSP_EXPORT_DOT_H

#include "analyze/tasks.h"
#include "sink.h"

struct jsp_dot_edge {
    uint32_t from, to; /* in whats[] */
    uint64_t tasks;
};

/* Write the graph: the boxes of whats[] that have a flag, and the edges between them, which are
 * sorted and joined in place. Return 0 or -ENOMEM. */
int jsp_dot_write(struct jsp_sink *out, const struct jsp_tasks *t, const bool *is_shown,
                  struct jsp_dot_edge *edges, uint32_t n);

#endif
