/* capture/read_stacks.h - samples out of jsprof/stacks; for the read*.c files only.
 *
 * When a cursor meets the first chunk of the file, all of them are read once: nodes get
 * numbers that hold for the whole capture, equal ones the same, and each chunk's place
 * among them is kept. From then on samples are decoded where a cursor stands, any number
 * of times. Memory grows with the nodes in the file, not with samples, nor with what a
 * number in it claims. One thread reads a capture.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_READ_STACKS_H
#define JSP_CAPTURE_READ_STACKS_H

#include "capture/nodes.h"
#include "capture/read.h"

/* A chunk, which is one block. */
struct read_block {
    uint64_t offset;         /* of the chunk's frame */
    const uint8_t *at, *end; /* records that are good */
    const uint8_t *bad;      /* what is not good; NULL: all is */
    uint32_t run, first;     /* of its nodes: in which run, the first one's number */
};

/* Nodes of one epoch whose numbers follow each other: [first, first + n) in the file
 * are refs [base, base + n). A block that is lost leaves a gap between two runs. */
struct read_run {
    uint64_t epoch;
    uint32_t first, n, base;
    uint32_t epoch_run; /* the epoch's first run */
};

struct read_ref { /* a node as the file counts them */
    uint32_t node;   /* in nodes; 0: its callers are lost */
    uint32_t parent; /* another ref; 0: none */
    uint32_t row;
};

struct jsp_read_stacks {
    bool is_loaded, is_short; /* is_short: memory ran out, the rest is not here */
    uint64_t short_at;
    struct jsp_nodes nodes; /* rows left out: equal frames are equal nodes */
    struct read_ref *refs;  /* [0] is the root */
    struct read_block *blocks;
    struct read_run *runs;
    uint32_t n_refs, refs_room, n_blocks, blocks_room, n_runs, runs_room;
};

void jsp_read_stacks_free(struct jsp_read_stacks *s);

/* The frame is a file chunk: if it is of jsprof/stacks, its samples come next. */
void jsp_read_stacks_enter(struct jsp_read_cursor *c, const struct jsp_read_frame *f);

/* The next sample of the chunk that the cursor is in; false: it has left it. */
bool jsp_read_stacks_next(struct jsp_read_cursor *c, struct jsp_read_frame *out);

/* The next frame of the file as it stands there: read.c. */
bool jsp_read_raw(struct jsp_read_cursor *c, struct jsp_read_frame *out);

#endif
