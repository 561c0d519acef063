/* page/tree.h - the stacks of all captures as one tree, as the page gets it.
 *
 * SPDX-License-Identifier: MIT
 *
 * A node is a frame called by the frame above it; frames differ by function and kind.
 * A tree that is too large for a page loses its smallest branches: what they had goes
 * to a frame "[smaller branches]" of the function that called them, and the page says
 * how small. Nodes that stay are numbered as a walk from the root meets them.
 * For src/page only.
 */
#ifndef JSP_PAGE_TREE_H
#define JSP_PAGE_TREE_H

#include "page/page.h"
#include "page/bytes.h"

struct jsp_page_function {
    const char *name, *module; /* of the first capture that has it */
    uint32_t kind;
};

struct jsp_page_frame {
    uint32_t function, kind, origin;
};

struct jsp_page_node {
    uint32_t parent, frame;
    uint32_t samples;     /* of it and all below it */
    uint32_t first, next; /* child and sibling; 0: none */
    uint32_t number;
    bool is_kept;
};

struct jsp_page_tree {
    struct jsp_page_function *functions;
    struct jsp_page_frame *frames;
    struct jsp_page_node *nodes; /* node 0 is the root; a parent stands before its child */
    uint32_t n_functions, n_frames, n_nodes;
    uint32_t n_numbered; /* nodes that the page gets, with the root */
    uint32_t empty;      /* captures of which nothing counts, by bit */
    uint32_t least;      /* samples of the smallest branch that is kept; 0: all are */
    uint32_t *leaf[JSP_HTML_MOST]; /* by capture and stack: its node; 0: it does not count */

    uint32_t functions_room, frames_room, nodes_room;
    struct jsp_hash by_function, by_frame, by_child;
    bool is_diff; /* functions are the same as jsprof diff takes them for the same */
};

/* -ENOMEM; jsp_page_tree_free in any case. */
int jsp_page_tree_build(struct jsp_page_tree *t, const struct jsp_html *h);
void jsp_page_tree_free(struct jsp_page_tree *t);

/* The nodes in the order of their numbers: first the calls from frame to frame as
 * {caller + 1 or 0, callee} pairs, then for each node which of its caller's calls it is,
 * and behind one without children how far up the next one's parent is. */
int jsp_page_tree_encode(const struct jsp_page_tree *t, struct jsp_page_bytes *out);

#endif
