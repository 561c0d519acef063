/* analyze/calltree.h - all stacks as one tree. A node is a frame below its caller's node.
 *
 * The report's tree, the exported tables of stacks and the page all use this tree. A node's
 * number is greater than its parent's, so one pass from the last node to the first sums up
 * the tree. It may contain stacks of several profiles; all profiles then need the same
 * numbers for their functions. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_CALLTREE_H
#define JSP_ANALYZE_CALLTREE_H

#include "jsprof.h"
#include "select.h"

/* The fields by which frames differ; the tree sets the other fields to 0. */
enum jsp_calltree_detail {
    JSP_CALLTREE_LINES,     /* all fields */
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
    uint32_t *leaf; /* owned, by jsp_calltree_of: the node of each stack; 0: not selected */

    /* sums over the selected stacks of all profiles */
    uint64_t samples, weight, value;

    struct jsp_hash by_frame, by_node;
    uint32_t frames_room, nodes_room;
};

/* Where a stack is in the tree: the node where its walk ends, the line of its leaf, and that of
 * its innermost function of the VM. */
struct jsp_calltree_place {
    uint32_t node; /* 0: the stack is not selected */
    uint32_t line, file;
    uint32_t vm_line, vm_file;
};

/* Return true for a frame of the VM's own functions, interpreted or compiled. */
static inline bool jsp_calltree_is_vm(const struct jsp_profile_frame *f)
{
    return f->kind == JSPROF_KIND_VM || f->kind == JSPROF_KIND_JIT;
}

struct jsp_calltree_source {
    struct jsp_profile *profile;
    const struct jsp_select *select;
    enum jsp_calltree_detail detail;
    bool is_bottom_up; /* a child is the caller of its parent, not its callee */
    bool is_folded;    /* direct recursion is one frame */

    /* Change the frame's function to the number that all profiles use. Return 0 or -ENOMEM.
     * NULL: there is one profile. */
    int (*function)(void *context, struct jsp_profile_frame *frame);
    void *context;

    /* Either is an array of zeros with one element for each stack, which add fills, or
     * NULL. */
    struct jsp_calltree_place *places;
    uint32_t *leaf;
};

/* Make a tree that is only a root. Return 0 or -ENOMEM. The caller calls jsp_calltree_free
 * also after an error. */
int jsp_calltree_init(struct jsp_calltree *t);

/* Add all stacks of a source. Return 0 or -ENOMEM. The caller calls jsp_calltree_free also
 * after an error. */
int jsp_calltree_add(struct jsp_calltree *t, const struct jsp_calltree_source *source);

/* Free the tree. */
void jsp_calltree_free(struct jsp_calltree *t);

/* Find the child of node.parent with node.frame, or add it. Return 0 or -ENOMEM. */
int jsp_calltree_child(struct jsp_calltree *t, struct jsp_calltree_node node, uint32_t *out);

/* Find the number of a frame, or add the frame. Return 0 or -ENOMEM. */
int jsp_calltree_frame(struct jsp_calltree *t, const struct jsp_profile_frame *frame,
                       uint32_t *out);

/* Make the tree of one profile, with `leaf`. Return 0, -ENOMEM, or -ENODATA if no stack is
 * selected; after an error there is nothing to free. */
int jsp_calltree_of(struct jsp_calltree *t, struct jsp_profile *p,
                    const struct jsp_select *select, enum jsp_calltree_detail detail);

/* The sum of one thread's stacks whose walk ends at this node. */
struct jsp_calltree_count {
    uint32_t thread, node;
    uint32_t state; /* in the profile's states[] */
    uint32_t labels; /* in its labels.sets[] */
    uint64_t samples, weight, value;
};

/* Return an array of *n counts, by thread and then by node, or NULL without memory. The caller
 * frees it. Stacks in different states and with different labels are added up, and both are
 * 0. */
struct jsp_calltree_count *jsp_calltree_counts(const struct jsp_calltree *t,
                                               const struct jsp_profile *p, uint32_t *n);

/* Return such an array in which stacks in different states and with different labels stay
 * apart. */
struct jsp_calltree_count *jsp_calltree_counts_of_states(const struct jsp_calltree *t,
                                                         const struct jsp_profile *p,
                                                         uint32_t *n);

/* Store the frames from a node up to the root, leaf first. Return their number. */
uint32_t jsp_calltree_frames(const struct jsp_calltree *t, uint32_t node,
                             uint32_t out[JSP_PROFILE_DEPTH]);

#endif
