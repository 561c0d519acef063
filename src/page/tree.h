/* page/tree.h - the stacks of all captures as one tree, as the page gets them.
 *
 * SPDX-License-Identifier: MIT
 *
 * A node is a frame called by the frame above it; frames differ by function and kind. A
 * tree that is too large for a page loses its smallest branches: their samples go to a
 * frame "[smaller branches]" of the function that called them, and the page shows how
 * small they were. Kept nodes are numbered in the order of a walk from the root. For
 * src/page only.
 */
#ifndef JSP_PAGE_TREE_H
#define JSP_PAGE_TREE_H

#include "page/page.h"
#include "page/bytes.h"

struct jsp_page_function {
    const char *name, *module; /* of the first capture with this function */
    uint32_t kind;
};

struct jsp_page_frame {
    uint32_t function, kind, origin;
};

struct jsp_page_node {
    uint32_t parent, frame;
    uint32_t samples;     /* including those of all nodes below */
    uint32_t first, next; /* child and sibling; 0: none */
    uint32_t number;
    bool is_kept;
};

struct jsp_page_tree {
    struct jsp_page_function *functions;
    struct jsp_page_frame *frames;
    /* node 0 is the root; a parent comes before its children */
    struct jsp_page_node *nodes;
    uint32_t n_functions, n_frames, n_nodes;
    uint32_t n_numbered; /* nodes that the page gets, including the root */
    uint32_t empty;      /* bits of the captures without selected samples */
    uint32_t least;      /* samples of the smallest kept branch; 0: all are kept */
    uint32_t *leaf[JSP_HTML_MOST]; /* by capture and stack: its node; 0: not selected */

    uint32_t functions_room, frames_room, nodes_room;
    struct jsp_hash by_function, by_frame, by_child;
    bool is_diff; /* functions are matched as in jsprof diff */
};

/* Build the tree. Return 0 or -ENOMEM. Call jsp_page_tree_free in any case. */
int jsp_page_tree_build(struct jsp_page_tree *t, const struct jsp_html *h);
void jsp_page_tree_free(struct jsp_page_tree *t);

/* Write the nodes in the order of their numbers: first the calls from frame to frame as
 * {caller + 1 or 0, callee} pairs, then for each node the index among its caller's calls,
 * and after a node without children the number of levels up to the parent of the next
 * node. */
int jsp_page_tree_encode(const struct jsp_page_tree *t, struct jsp_page_bytes *out);

#endif
