/* session/fold.h - the samples of one segment of a continuous recording, folded: equal stacks of a
 * thread become one sample, with the sum of their weights.
 *
 * A row is a thread, a stack (a node of the compact form's table), a state and labels. Memory is
 * bounded by the number of rows, and by that of nodes, whose table begins anew before a segment if
 * it is half full. A sample whose stack fits neither is refused, and counted by the output. Like
 * the output, the table belongs to the drain, or to the thread that holds the session.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FOLD_H
#define JSP_SESSION_FOLD_H

#include "capture/pack.h"

enum {
    JSP_FOLD_ROWS = 1 << 12,  /* distinct stacks of a segment */
    JSP_FOLD_NODES = 1 << 14, /* frames of all stacks that the table knows, see capture/nodes.h */
};

struct jsp_fold_row {
    uint64_t weight, cpu_ns, cut;
    struct jsp_read_state state; /* of its last sample */
    uint32_t node;
    int32_t tid;
    uint64_t labels;
    uint32_t tally; /* number of the thread's slot in the output's tallies */
};

struct jsp_fold {
    uint32_t n;
    uint64_t last_ns;                   /* time of the newest sample */
    uint16_t slots[2 * JSP_FOLD_ROWS];  /* by hash: 1 + row; 0: free */
    struct jsp_fold_row rows[JSP_FOLD_ROWS];
};

/* Return an empty fold, or NULL without memory. */
struct jsp_fold *jsp_fold_open(void);

/* Free it. NULL does nothing. */
void jsp_fold_close(struct jsp_fold *f);

/* Add a sample to its row; *is_new: there was none. Return 0, or -ENOSPC: all rows are in use. */
int jsp_fold_add(struct jsp_fold *f, const struct jsp_fold_row *sample, uint64_t time_ns,
                 bool *is_new);

/* Order the rows by thread and node: what differs little from the row before takes few bytes. */
void jsp_fold_sort(struct jsp_fold *f);

/* Drop the first n rows. */
void jsp_fold_drop(struct jsp_fold *f, uint32_t n);

#endif
