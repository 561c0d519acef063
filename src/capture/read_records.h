/* capture/read_records.h - the records of one block of jsprof/stacks, one by one.
 *
 * Nothing is looked up here: numbers of nodes are those of the file, checked to be of
 * nodes that the block may refer to. For the read*.c files only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_READ_RECORDS_H
#define JSP_CAPTURE_READ_RECORDS_H

#include "nodes.h"
#include "read.h"

struct read_head {
    uint64_t epoch, count;
    uint32_t first;
};

struct read_record {
    uint32_t n_nodes; /* number of nodes that follow, below `node`; 0: a sample */
    uint32_t node;
    int32_t pid;
    int16_t cpu;
    int64_t time;
    struct jsp_read_packed sample; /* all fields but node and ref */
};

/* Read the head of a block. Return false if it is malformed. */
bool jsp_read_records_head(const uint8_t **at, const uint8_t *end, struct read_head *out);

/* Begin with the records of a block, after its head. `first` is the number of its first
 * node. */
void jsp_read_records_start(struct jsp_read_records *r, const uint8_t *at,
                            const uint8_t *end, uint32_t first);

/* Read the next record; the caller has checked that there is one. Return false if it is
 * malformed. */
bool jsp_read_records_next(struct jsp_read_records *r, struct read_record *out);

/* Read one of n_nodes nodes. All must be read before the next record. */
bool jsp_read_records_node(struct jsp_read_records *r, struct jsp_node *out);

#endif
