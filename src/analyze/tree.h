/* analyze/tree.h - a profile as a call tree, from the roots or from the leaves.
 *
 * Top-down, a node is a function called by the node above it. Bottom-up, a first-level
 * node is a function's self, and its callers are below it. Node 0 is the whole and has no
 * function. Children are in order of their totals. With lines, each line of a function is
 * a node of its own. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_TREE_H
#define JSP_ANALYZE_TREE_H

#include "functions.h"

struct jsp_tree_node {
    uint32_t function, parent;
    uint32_t line, file; /* as in struct jsp_profile_frame; 0 without lines */
    uint32_t first_child, n_children; /* positions in order[] */
    uint32_t n_samples;
    uint64_t total, self;
};

struct jsp_tree {
    struct jsp_tree_node *nodes;
    uint32_t *order; /* nodes; the children of each node are adjacent */
    uint32_t n;
};

struct jsp_tree_options {
    struct jsp_select select;
    bool is_bottom_up;
    bool has_lines;
    bool is_recursive; /* a function that calls itself has one node for each level */
};

/* Build the tree of the selected stacks. Return 0 or -ENOMEM. */
int jsp_tree_build(struct jsp_tree *out, struct jsp_profile *p,
                   const struct jsp_tree_options *options);

/* Free the tree. */
void jsp_tree_free(struct jsp_tree *t);

#endif
