/* page/tree.h - the stacks of all captures as one tree, as the page gets them.
 *
 * A node is a frame called by the frame above it; frames differ by function and kind. A
 * tree with too many nodes or bytes for a page loses its smallest branches: their samples go
 * to a frame "[smaller branches]" of the function that called them, and the page shows how
 * small they were. Kept nodes are numbered in the order of a walk from the root. For
 * src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_TREE_H
#define JSP_PAGE_TREE_H

#include "analyze/calltree.h"
#include "bytes.h"
#include "page.h"

struct jsp_page_function {
    const char *name, *module; /* of the first capture with this function */
    uint32_t kind;
};

struct jsp_page_node { /* what the page adds to a node of the call tree */
    uint32_t samples;     /* including those of all nodes below */
    uint32_t first, next; /* child and sibling; 0: none */
    uint32_t number;
    bool is_kept;
};

struct jsp_page_tree {
    struct jsp_page_function *functions;
    struct jsp_calltree calls;   /* of all captures; its frames have numbers of functions[] */
    struct jsp_page_node *nodes; /* by node of `calls` */
    uint32_t n_functions, n_nodes;
    uint32_t n_numbered; /* nodes that the page gets, including the root */
    uint32_t empty;      /* bits of the captures without selected samples */
    uint32_t least;      /* samples of the smallest kept branch; 0: all are kept */
    struct jsp_calltree_place *places[JSP_HTML_MOST]; /* by capture and stack */

    uint32_t functions_room, nodes_room;
    struct jsp_hash by_function;
    bool is_diff; /* functions are matched as in jsprof diff */
};

/* Build the tree. Return 0 or -ENOMEM. Call jsp_page_tree_free in any case. */
int jsp_page_tree_build(struct jsp_page_tree *t, const struct jsp_html *h);

/* Free the tree. */
void jsp_page_tree_free(struct jsp_page_tree *t);

/* Write the nodes in the order of their numbers: first the number of calls from frame to frame and
 * the calls as {caller + 1 or 0, callee} pairs, then for each node the index among its caller's
 * calls, and after a node without children the number of levels up to the parent of the next node.
 * If it is shorter, write 0 calls, and a node's frame in place of the index. */
int jsp_page_tree_encode(const struct jsp_page_tree *t, struct jsp_page_bytes *out);

#endif
