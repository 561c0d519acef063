/* capture/read_stacks.h - a reader of jsprof/stacks; for the read*.c files only.
 *
 * When a cursor reaches the first chunk of the file, all chunks are read once: nodes get
 * numbers that are valid in the whole capture, equal nodes the same number, and the place
 * of each chunk is kept. After that, samples are decoded at a cursor's position, any
 * number of times. Memory grows with the nodes in the file, not with samples, nor with
 * the values of numbers in it. One thread reads a capture.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_READ_STACKS_H
#define JSP_CAPTURE_READ_STACKS_H

#include "nodes.h"
#include "read.h"

/* A chunk, which is one block. */
struct read_block {
    uint64_t offset;         /* of the chunk's frame */
    const uint8_t *at, *end; /* the good records */
    const uint8_t *bad;      /* the first bad record; NULL: none */
    uint32_t run, first;     /* of its nodes: index of the run, number of the first one */
};

/* Nodes of one epoch with consecutive numbers: [first, first + n) in the file are refs
 * [base, base + n). A lost block leaves a gap between two runs. */
struct read_run {
    uint64_t epoch;
    uint32_t first, n, base;
    uint32_t epoch_run; /* the epoch's first run */
};

struct read_ref { /* a node as the file numbers it */
    uint32_t node;   /* in nodes; 0: its callers are lost */
    uint32_t parent; /* another ref; 0: none */
    uint32_t row;
};

struct jsp_read_stacks {
    bool is_loaded, is_short; /* is_short: memory ran out, later chunks are missing */
    uint64_t short_at;
    struct jsp_nodes nodes; /* without rows, so that equal frames are equal nodes */
    struct read_ref *refs;  /* [0] is the root */
    struct read_block *blocks;
    struct read_run *runs;
    uint32_t n_refs, refs_room, n_blocks, blocks_room, n_runs, runs_room;
};

/* Free the stacks. */
void jsp_read_stacks_free(struct jsp_read_stacks *s);

/* Read the next frame as it is stored in the file; in read.c. */
bool jsp_read_raw(struct jsp_read_cursor *c, struct jsp_read_frame *out);

#endif
