/* capture/nodes.h - stacks that share their callers: each node a frame and its caller.
 *
 * A stack is one number, that of its leaf. Equal stacks have equal numbers, so both who
 * writes jsprof/stacks and who reads it compare numbers instead of frames. The table
 * grows as needed; who must stay bounded looks at `n` before adding. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_NODES_H
#define JSP_CAPTURE_NODES_H

#include <stdint.h>

struct jsp_node {
    uint64_t addr;
    uint32_t parent;    /* its caller; 0: it is an outermost frame */
    uint32_t line, row; /* as in jsprof/samples and jsprof/pcs; 0: not known */
    uint32_t depth;     /* frames up to and with this one */
};

struct jsp_nodes {
    struct jsp_node *at; /* owned; [0] is nobody's frame, the root's caller */
    uint32_t *slots;     /* owned; by hash; 0 is free */
    uint32_t n;          /* with [0]; the number of the next node */
    uint32_t room, mask; /* of `at`; slots - 1 */
    uint64_t seed;       /* random, so that no file can make every node collide */

    /* Always:  n <= room, slots = 2 * room; a parent's number is below its child's */
};

int jsp_nodes_init(struct jsp_nodes *t); /* -ENOMEM */
void jsp_nodes_free(struct jsp_nodes *t);
void jsp_nodes_clear(struct jsp_nodes *t); /* as after init; keeps its memory */

/* Room for `more` nodes, so that adding them can not fail. -ENOMEM. */
int jsp_nodes_reserve(struct jsp_nodes *t, uint32_t more);

/* The node that is like this one (depth apart); 0: there is none. */
uint32_t jsp_nodes_find(const struct jsp_nodes *t, const struct jsp_node *node);

/* Its number; new if none is like it. There must be room. */
uint32_t jsp_nodes_add(struct jsp_nodes *t, const struct jsp_node *node);

#endif
