/* export/stacks.h - the stacks of a profile as one tree of frames.
 *
 * SPDX-License-Identifier: MIT
 *
 * Most formats have a table of frames and a table of stacks in which each one is a frame
 * and its caller's stack. Frames differ by all of their properties: a function has one
 * frame for each line and kind with which it was seen. The parent of a node comes before
 * it. One thread.
 */
#ifndef JSP_EXPORT_STACKS_H
#define JSP_EXPORT_STACKS_H

#include "analyze/select.h"

struct jsp_stacks_node {
    uint32_t parent, frame; /* node 0 is the root and has neither */
};

struct jsp_stacks {
    struct jsp_profile_frame *frames;
    struct jsp_stacks_node *nodes;
    uint32_t n_frames, n_nodes;
    uint32_t *leaf; /* the node of each stack of the profile; 0: not selected */

    /* Sums of the selected stacks. */
    uint64_t samples, weight, value;

    struct jsp_hash by_frame, by_node;
    uint32_t frames_room, nodes_room;
};

/* With LINES, frames differ by line, too; otherwise only by function and kind. */
enum jsp_stacks_detail { JSP_STACKS_LINES, JSP_STACKS_FUNCTIONS };

int jsp_stacks_build(struct jsp_stacks *s, struct jsp_profile *p,
                     const struct jsp_select *select,
                     /* 0, -ENODATA if nothing is selected, or -ENOMEM */
                     enum jsp_stacks_detail detail);
void jsp_stacks_free(struct jsp_stacks *s);

/* The samples of one thread that ended at a node. */
struct jsp_stacks_count {
    uint32_t thread, node;
    uint64_t samples, weight, value;
};

/* Return the counts of all selected stacks, by thread and then by node, in an array that
 * the caller frees; NULL without memory. */
struct jsp_stacks_count *jsp_stacks_counts(const struct jsp_stacks *s,
                                           const struct jsp_profile *p, uint32_t *n);

/* Store the frames of a node, leaf first, and return how many. */
uint32_t jsp_stacks_frames(const struct jsp_stacks *s, uint32_t node,
                           uint32_t out[JSP_PROFILE_DEPTH]);

#endif
