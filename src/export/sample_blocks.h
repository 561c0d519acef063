/* export/sample_blocks.h - blocks of jsprof/samples, jsprof/pcs, jsprof/states,
 * jsprof/running and jsprof/labels, which hold what SAMPLE frames cannot.
 *
 * Samples are added in the order of their frames. A full block is handed on at once, the
 * rest by jsp_sample_blocks_flush. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_SAMPLE_BLOCKS_H
#define JSP_EXPORT_SAMPLE_BLOCKS_H

#include "analyze/bytecode.h"
#include "analyze/samples.h"
#include "capture/embedded.h"

enum {
    JSP_SAMPLE_BLOCK_HEAD = JSP_EMBEDDED_BLOCK,
    JSP_SAMPLE_BLOCK_ROOM = JSP_WIRE_MAX_CHUNK - JSP_SAMPLE_BLOCK_HEAD,
};

/* Take one whole chunk of an embedded file. */
typedef void jsp_sample_blocks_chunk(void *context, const char *path, const void *data,
                                     size_t n);

struct jsp_sample_block {
    const char *path;
    uint64_t first, next; /* numbers of its first sample, and of the next one */
    uint32_t count, used;
    uint8_t bytes[JSP_SAMPLE_BLOCK_HEAD + JSP_SAMPLE_BLOCK_ROOM];
};

struct jsp_sample_blocks {
    jsp_sample_blocks_chunk *chunk;
    void *context;
    struct jsp_sample_block weights, pcs, states, running, labels;
    uint64_t task;  /* of the last sample in the block of jsprof/running */
    uint64_t label; /* the same of jsprof/labels */
};

/* Lay out empty blocks, whose chunks are passed to `chunk`. */
void jsp_sample_blocks_init(struct jsp_sample_blocks *s, jsp_sample_blocks_chunk *chunk,
                            void *context);

/* Add the weight and the lines of the sample that becomes SAMPLE frame number `ordinal`.
 * Return false if they do not fit into any chunk. */
bool jsp_sample_blocks_weight(struct jsp_sample_blocks *s, const struct jsp_profile *p,
                              const struct jsp_sample *sample, uint64_t ordinal);

/* Add the sample's rows, leaf first; n may be 0. */
void jsp_sample_blocks_rows(struct jsp_sample_blocks *s, const uint32_t *rows, uint32_t n,
                            uint64_t ordinal);

/* Add the sample's state, which may be unknown. */
void jsp_sample_blocks_state(struct jsp_sample_blocks *s, const struct jsp_read_state *state,
                             uint64_t ordinal);

/* Add the number of the sample's task; 0: none. */
void jsp_sample_blocks_task(struct jsp_sample_blocks *s, uint64_t task, uint64_t ordinal);

/* Add the number of the sample's labels; 0: none. */
void jsp_sample_blocks_labels(struct jsp_sample_blocks *s, uint64_t labels, uint64_t ordinal);

/* Numbers of labels and tasks, by which those of one capture go up. */
struct jsp_sample_numbers {
    uint64_t labels, tasks;
};

/* Put the definitions of a chunk of jsprof/labels into chunks of their own, with other numbers.
 * Return the largest number of labels, or 0. Without memory it puts nothing, and sets *failed. */
uint64_t jsp_sample_blocks_sets(const struct jsp_read_chunk *chunk,
                                const struct jsp_sample_numbers *add,
                                jsp_sample_blocks_chunk *put, void *context, bool *failed);

/* Put the names of system calls from a chunk of jsprof/states into chunks of their own. */
void jsp_sample_blocks_calls(const struct jsp_read_chunk *chunk, jsp_sample_blocks_chunk *put,
                             void *context);

/* Pass on the blocks that are not empty. */
void jsp_sample_blocks_flush(struct jsp_sample_blocks *s);

/* Read the rows of a sample, from wherever the capture has them, into `out`, which has
 * room for JSP_PROFILE_DEPTH. Return how many there are. */
uint32_t jsp_sample_blocks_rows_of(const struct jsp_profile *p, struct jsp_bytecode_pcs *pcs,
                                   const struct jsp_sample *sample, uint32_t *out);

#endif
