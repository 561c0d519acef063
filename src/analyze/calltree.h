/* analyze/calltree.h - stacks as one tree: each node a frame and its caller's node.
 *
 * SPDX-License-Identifier: MIT
 *
 * The report's tree, the exported tables of stacks and the page are all made from this one.
 * A node's parent has the smaller number, so sums go up the tree in one pass from the last
 * node to the first. Stacks of several profiles may be added; their functions then need
 * numbers in common. One thread.
 */
#ifndef JSP_ANALYZE_CALLTREE_H
#define JSP_ANALYZE_CALLTREE_H

#include "analyze/select.h"

/* What tells frames apart; the rest of a frame is 0. */
enum jsp_calltree_detail {
    JSP_CALLTREE_LINES,     /* all that is known of them */
    JSP_CALLTREE_KINDS,     /* function, kind and origin */
    JSP_CALLTREE_PLACES,    /* function, line and file */
    JSP_CALLTREE_FUNCTIONS, /* function: a node's frame is its number, and frames[] is empty */
};

struct jsp_calltree_node {
    uint32_t parent, frame; /* node 0 is the root and has neither */
};

struct jsp_calltree {
    struct jsp_profile_frame *frames;
    struct jsp_calltree_node *nodes;
    uint32_t n_frames, n_nodes;
    uint32_t *leaf; /* jsp_calltree_of: the nodes of the profile's stacks, 0: not counted */

    /* What counts of the profiles. */
    uint64_t samples, weight, value;

    struct jsp_hash by_frame, by_node;
    uint32_t frames_room, nodes_room;
};

/* Where a stack is in the tree: the node where its walk ends, and the line of its leaf. */
struct jsp_calltree_place {
    uint32_t node; /* 0: it does not count */
    uint32_t line, file;
};

struct jsp_calltree_source {
    struct jsp_profile *profile;
    const struct jsp_select *select;
    enum jsp_calltree_detail detail;
    bool is_bottom_up; /* the leaf is below the root, its callers are below it */
    bool is_folded;    /* direct recursion is one frame */

    /* Change the frame's function to a number of all profiles; NULL: there is one profile.
     * 0 or -ENOMEM. */
    int (*function)(void *context, struct jsp_profile_frame *frame);
    void *context;

    /* One of these for each stack of the profile, zeroed; NULL: not wanted. */
    struct jsp_calltree_place *places;
    uint32_t *leaf;
};

/* A tree that is only a root; then all stacks of each source. -ENOMEM. In any case
 * jsp_calltree_free frees it. */
int jsp_calltree_init(struct jsp_calltree *t);
int jsp_calltree_add(struct jsp_calltree *t, const struct jsp_calltree_source *source);
void jsp_calltree_free(struct jsp_calltree *t);

/* The child of a node with this frame; it may be new. -ENOMEM. */
int jsp_calltree_child(struct jsp_calltree *t, struct jsp_calltree_node node, uint32_t *out);

/* The number of a frame; it may be new. -ENOMEM. */
int jsp_calltree_frame(struct jsp_calltree *t, const struct jsp_profile_frame *frame,
                       uint32_t *out);

/* The tree of one profile, with `leaf`. -ENODATA: nothing counts; -ENOMEM; it is then empty. */
int jsp_calltree_of(struct jsp_calltree *t, struct jsp_profile *p,
                    const struct jsp_select *select, enum jsp_calltree_detail detail);

/* What ended at a node in one thread, all of its stacks together. */
struct jsp_calltree_count {
    uint32_t thread, node;
    uint64_t samples, weight, value;
};

/* All that counts, by thread and then by node: an array to free(), NULL: no memory. */
struct jsp_calltree_count *jsp_calltree_counts(const struct jsp_calltree *t,
                                               const struct jsp_profile *p, uint32_t *n);

/* The frames of a node, leaf first; returns how many. */
uint32_t jsp_calltree_frames(const struct jsp_calltree *t, uint32_t node,
                             uint32_t out[JSP_PROFILE_DEPTH]);

#endif
