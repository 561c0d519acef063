/* export/stacks.h - the stacks of a profile as one tree of frames.
 *
 * SPDX-License-Identifier: MIT
 *
 * Most formats have a table of frames and a table of stacks in which each one is a
 * frame and its caller's stack. Frames are told apart by everything that is known of
 * them: one function stands there once for each line and kind it was seen with. The
 * parent of a node stands before it. One thread.
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
    uint32_t *leaf; /* for each stack of the profile its node; 0: it does not count */

    /* What counts of the profile. */
    uint64_t samples, weight, value;

    struct jsp_hash by_frame, by_node;
    uint32_t frames_room, nodes_room;
};

/* Whether the lines of frames are kept, or frames differ by function and kind alone. */
enum jsp_stacks_detail { JSP_STACKS_LINES, JSP_STACKS_FUNCTIONS };

int jsp_stacks_build(struct jsp_stacks *s, struct jsp_profile *p,
                     const struct jsp_select *select,
                     enum jsp_stacks_detail detail); /* -ENODATA: none count; -ENOMEM */
void jsp_stacks_free(struct jsp_stacks *s);

/* What ended at a node in one thread, all of its stacks together. */
struct jsp_stacks_count {
    uint32_t thread, node;
    uint64_t samples, weight, value;
};

/* All that counts, by thread and then by node: an array to free(), NULL: no memory. */
struct jsp_stacks_count *jsp_stacks_counts(const struct jsp_stacks *s,
                                           const struct jsp_profile *p, uint32_t *n);

/* The frames of a node, leaf first; returns how many. */
uint32_t jsp_stacks_frames(const struct jsp_stacks *s, uint32_t node,
                           uint32_t out[JSP_PROFILE_DEPTH]);

#endif
