/* capture/nodes.h - stacks that share their callers: each node is a frame and its caller.
 *
 * A stack is one number, that of its leaf. Equal stacks have equal numbers, so writers
 * and readers of jsprof/stacks compare numbers instead of frames. The table grows as
 * needed; a caller that must stay bounded checks `n` before adding. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_NODES_H
#define JSP_CAPTURE_NODES_H

#include <stdint.h>

struct jsp_node {
    uint64_t addr;
    uint32_t parent;    /* its caller; 0: an outermost frame */
    uint32_t line, row; /* as in jsprof/samples and jsprof/pcs; 0: unknown */
    uint32_t depth;     /* number of frames from the outermost to this one */
};

struct jsp_nodes {
    /* owned; [0] is no frame, but the caller of the outermost ones */
    struct jsp_node *at;
    /* owned; by hash; 0 is free. With base/hash.h, `jsprof convert --to compact` takes 8 %
     * more instructions, and a report of a compact capture 4 %. */
    uint32_t *slots;
    uint32_t n;          /* including [0]; the number of the next node */
    uint32_t room, mask; /* room of `at`; number of slots - 1 */
    uint64_t seed;       /* random, so that no file can make every node collide */

    /* Always:  n <= room, slots = 2 * room; a parent's number is below its child's */
};

/* Lay out a table with the root alone. Return 0 or -ENOMEM. */
int jsp_nodes_init(struct jsp_nodes *t);

/* Free the table. */
void jsp_nodes_free(struct jsp_nodes *t);

/* Drop all nodes but the root. The memory stays. */
void jsp_nodes_clear(struct jsp_nodes *t);

/* Make room for `more` nodes, so that adding them cannot fail. Return 0 or -ENOMEM. */
int jsp_nodes_reserve(struct jsp_nodes *t, uint32_t more);

/* Return the node equal to this one (depth is ignored), or 0. */
uint32_t jsp_nodes_find(const struct jsp_nodes *t, const struct jsp_node *node);

/* Return the number of this node, adding it if needed. There must be room. */
uint32_t jsp_nodes_add(struct jsp_nodes *t, const struct jsp_node *node);

#endif
