/* capture/pack.h - the compact form of samples: blocks of jsprof/stacks.
 *
 * Every frame of a stack is written once, as a node below its caller; a sample is then
 * its leaf's number, its time and its weight, a few bytes. docs/capture.md describes the
 * bytes.
 *
 * Memory is bounded: when the table of nodes is full, the next block begins a new one. A
 * block is complete at any moment, so a flush may come between any two samples, and the
 * flushed blocks of a killed program are readable. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_PACK_H
#define JSP_CAPTURE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodes.h"
#include "read.h"
#include "varint.h"
#include "wire.h"

enum {
    JSP_PACK_NODES = 1 << 17, /* in a host, before a new table begins: 4 MiB */
    JSP_PACK_MANY = 1 << 20,  /* in a tool */
    JSP_PACK_HEAD = 1 + 3 * JSP_VARINT_MAX,
    JSP_PACK_BLOCK = 1 << 15, /* bytes of records; with its head a block fits one chunk */
};

struct jsp_pack_thread {
    int32_t pid, tid;
    uint64_t time; /* of its last sample in the block */
};

struct jsp_pack {
    struct jsp_nodes nodes;
    uint32_t limit; /* of nodes: JSP_PACK_NODES, or as the owner sets; 32 bytes each */
    uint32_t epoch;     /* number of tables before this one */
    /* Of the current block: */
    uint32_t first;     /* number of its first node */
    uint32_t count;     /* samples */
    uint32_t used;      /* bytes of records */
    uint32_t node;      /* the last node that was written */
    uint32_t id;        /* the last tagged address */
    uint64_t addr;      /* the last untagged address */
    uint64_t time;      /* of the last sample */
    int16_t cpu;
    uint32_t thread, n_threads; /* of the last sample; slots given so far */
    struct jsp_pack_thread threads[JSP_WIRE_STACKS_THREADS];
    uint8_t bytes[JSP_PACK_HEAD + JSP_PACK_BLOCK];
};

struct jsp_pack_sample {
    int64_t time;
    int32_t pid, tid;
    int16_t cpu;                 /* -1: unknown */
    uint32_t n;                  /* 1..JSP_WIRE_MAX_ADDRS */
    const uint64_t *addrs;       /* leaf first */
    const uint32_t *lines, *rows; /* one for each address; NULL: all unknown */
    bool known;                  /* weight and cpu_ns are known */
    uint64_t weight, cpu_ns, cut;
    struct jsp_read_state state;
    uint64_t task, labels;       /* 0: none */
};

/* Lay out an empty block. Return 0 or -ENOMEM. */
int jsp_pack_init(struct jsp_pack *p);

/* Free the block and its table. */
void jsp_pack_free(struct jsp_pack *p);

/* Add a sample to the block. Return 0, -ENOBUFS (write the block first, then call
 * again) or -ENOMEM. On failure the sample is not in the block, though some of its
 * nodes may be. */
int jsp_pack_put(struct jsp_pack *p, const struct jsp_pack_sample *sample);

/* Do the first half of put, for a caller that keeps the stacks of many samples: find the stack
 * of the sample, or add it. Errors as jsp_pack_put, and -ENOSPC: the table is full. */
int jsp_pack_stack(struct jsp_pack *p, const struct jsp_pack_sample *sample, uint32_t *node);

/* Do the second half of put: add a sample with a stack of this table. Errors as
 * jsp_pack_put. */
int jsp_pack_at(struct jsp_pack *p, const struct jsp_pack_sample *sample, uint32_t node);

/* Return the block as it is now, the whole data of a chunk; 0 bytes: it is empty. *bytes
 * is borrowed until the next call. */
size_t jsp_pack_block(struct jsp_pack *p, const uint8_t **bytes);

/* Begin the next block, because this one is in the file. */
void jsp_pack_next(struct jsp_pack *p);

/* Begin a new table, because this block, or one before it, will never be in the file. */
void jsp_pack_forget(struct jsp_pack *p);

#endif
