/* capture/pack.h - samples in their compact form: blocks of jsprof/stacks.
 *
 * Every frame of a stack is written once, as a node below its caller; a sample is then
 * its leaf's number, its time and its weight, a few bytes. docs/capture.md has the bytes.
 *
 * Memory is bounded: a table of nodes that is full is forgotten, and the next block
 * begins another one. A block is complete at any moment, so a flush may come between any
 * two samples, and what a killed program had flushed is readable. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CAPTURE_PACK_H
#define JSP_CAPTURE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodes.h"
#include "varint.h"
#include "wire.h"

enum {
    JSP_PACK_NODES = 1 << 17, /* in a host, before the table begins anew: 4 MiB */
    JSP_PACK_MANY = 1 << 20,  /* in a tool */
    JSP_PACK_HEAD = 1 + 3 * JSP_VARINT_MAX,
    JSP_PACK_BLOCK = 1 << 15, /* bytes of records; with its head it fits one chunk */
};

struct jsp_pack_thread {
    int32_t pid, tid;
    uint64_t time; /* of its last sample in the block */
};

struct jsp_pack {
    struct jsp_nodes nodes;
    uint32_t limit;     /* of nodes: JSP_PACK_NODES, or what its owner sets; in bytes 32
                         * times as many */
    uint32_t epoch;     /* tables before this one */
    /* Of the block: */
    uint32_t first;     /* number of its first node */
    uint32_t count;     /* samples */
    uint32_t used;      /* bytes of records */
    uint32_t node;      /* the last one told of */
    uint32_t id;        /* the last tagged address */
    uint64_t addr;      /* the last other one */
    uint64_t time;      /* of the last sample */
    int16_t cpu;
    uint32_t thread, n_threads; /* of the last sample; slots given, ever */
    struct jsp_pack_thread threads[JSP_WIRE_STACKS_THREADS];
    uint8_t bytes[JSP_PACK_HEAD + JSP_PACK_BLOCK];
};

struct jsp_pack_sample {
    int64_t time;
    int32_t pid, tid;
    int16_t cpu;                 /* -1: not known */
    uint32_t n;                  /* 1..JSP_WIRE_MAX_ADDRS */
    const uint64_t *addrs;       /* leaf first */
    const uint32_t *lines, *rows; /* of each; NULL: none is known */
    bool known;                  /* weight and cpu_ns are */
    uint64_t weight, cpu_ns, cut;
};

int jsp_pack_init(struct jsp_pack *p); /* -ENOMEM */
void jsp_pack_free(struct jsp_pack *p);

/* 0; -ENOBUFS: the block must be taken first, then ask again; -ENOMEM. The sample of a
 * failed call is not in the block, though some of its nodes may be. */
int jsp_pack_put(struct jsp_pack *p, const struct jsp_pack_sample *sample);

/* What the block is so far, a whole chunk's data; 0 bytes: nothing. Borrowed until the
 * next call. */
size_t jsp_pack_block(struct jsp_pack *p, const uint8_t **bytes);

/* It stands in the file: begin the next. */
void jsp_pack_next(struct jsp_pack *p);

/* It never will, or what was taken before will not: nothing is known to the file. */
void jsp_pack_forget(struct jsp_pack *p);

#endif
